//! tmux: whether a pane is still there. Asks the server of that very socket.

use std::io::ErrorKind;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};

/// A pane as sessions know it: socket and number, `/tmp/tmux-1000/default %3`.
/// `None` when it cannot be told.
pub fn pane_lives(pane: &str) -> Option<bool> {
    let (socket, number) = pane.rsplit_once(' ')?;
    match UnixStream::connect(socket) {
        Ok(_) => {}
        // Nobody listens: the server is gone, and every pane with it.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused) => return Some(false),
        Err(_) => return None,
    }
    let mut ask = Command::new("tmux");
    ask.args(["-S", socket, "list-panes", "-a", "-F", "#{pane_id}"]).stdin(Stdio::null()).stderr(Stdio::null());
    let answer = ask.output().ok().filter(|answer| answer.status.success())?;
    Some(String::from_utf8_lossy(&answer.stdout).lines().any(|line| line == number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_is_gone_has_no_panes_and_a_pane_without_a_server_cannot_be_told() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("tmux");
        assert_eq!(pane_lives(&format!("{} %1", socket.display())), Some(false));
        drop(std::os::unix::net::UnixListener::bind(&socket).unwrap());
        assert_eq!(pane_lives(&format!("{} %1", socket.display())), Some(false), "a socket nobody listens on");
        assert_eq!(pane_lives("%1"), None);
    }
}
