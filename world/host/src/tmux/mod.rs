//! tmux: reading and writing the servers in which agents sit. Every server is
//! asked through its own socket, and never for long.

mod pane_input;
mod pane_style;
mod server;
mod setup;

pub use pane_input::{CapturedPane, runs_in};
pub use pane_style::{PaneLine, PaneStyle, ServerPanes, StyleChange, WindowStatus};
pub use server::{TmuxError, TmuxServer};
pub use setup::{Pieces, snippet};

/// Socket and number of a pane as sessions know it, `/tmp/tmux-1000/default %3`.
pub fn address(pane: &str) -> Option<(&str, &str)> {
    let (socket, number) = pane.rsplit_once(' ')?;
    // It comes from an environment and goes into commands: nothing but a number may stand there.
    let digits = number.strip_prefix('%').unwrap_or_default();
    let plain = !digits.is_empty() && digits.chars().all(|letter| letter.is_ascii_digit());
    (plain && !socket.is_empty()).then_some((socket, number))
}

/// The socket in a value of `$TMUX`: socket, process and session, by commas.
pub fn socket_of(tmux: &str) -> Option<&str> {
    let (rest, _session) = tmux.rsplit_once(',')?;
    let (socket, _process) = rest.rsplit_once(',')?;
    Some(socket).filter(|socket| !socket.is_empty())
}

/// Whether the pane is still there; `None` when it cannot be told.
pub fn pane_lives(pane: &str) -> Option<bool> {
    let (socket, number) = address(pane)?;
    match TmuxServer::at(socket).pane_ids() {
        Ok(ids) => Some(ids.iter().any(|id| id == number)),
        Err(TmuxError::Gone { .. }) => Some(false),
        Err(_) => None,
    }
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

    #[test]
    fn a_server_that_does_not_answer_cannot_be_told() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("tmux");
        let _deaf = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        assert_eq!(pane_lives(&format!("{} %1", socket.display())), None);
    }

    #[test]
    fn the_socket_is_found_in_the_variable_whatever_its_name() {
        assert_eq!(socket_of("/tmp/tmux-0/default,123,0"), Some("/tmp/tmux-0/default"));
        assert_eq!(socket_of("/tmp/a,b/s,1,2"), Some("/tmp/a,b/s"));
        assert_eq!(socket_of(""), None);
        assert_eq!(address("/tmp/with space/s %12"), Some(("/tmp/with space/s", "%12")));
        for odd in ["/tmp/s", " %1", "/tmp/s %", "/tmp/s %1;", "/tmp/s %1a", "/tmp/s 1"] {
            assert_eq!(address(odd), None, "{odd}");
        }
    }

    /// A stopped server accepts nobody, and each look at it leaves one more in its queue.
    // Elsewhere a full queue refuses, which nobody waits for either.
    #[cfg(target_os = "linux")]
    #[test]
    fn f2_a_server_whose_queue_is_full_is_silent_and_holds_nobody_up() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("tmux");
        let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        rustix::net::listen(&listener, 0).unwrap();
        let mut waiting = Vec::new();
        let full = loop {
            match sys::socket::connect(&socket) {
                Ok(one) => waiting.push(one),
                Err(error) => break error,
            }
        };
        assert_eq!(full.kind(), std::io::ErrorKind::WouldBlock);
        let (sender, answers) = std::sync::mpsc::channel();
        std::thread::spawn(move || sender.send(TmuxServer::at(socket).pane_ids()));
        let answer = answers.recv_timeout(std::time::Duration::from_secs(10)).expect("nobody waits for ever");
        assert!(matches!(answer, Err(TmuxError::Silent { .. })), "{answer:?}");
    }
}
