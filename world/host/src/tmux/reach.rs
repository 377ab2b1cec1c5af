//! Whether anybody listens at a local socket, without ever waiting for them.

use std::io;
use std::mem;
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::Path;

/// Connects at once or not at all. A stopped listener accepts nobody: when its
/// queue is full, this is an error (`WouldBlock`) where the usual call hangs.
pub(super) fn connect(path: &Path) -> io::Result<UnixStream> {
    // SAFETY: plain numbers; the result is checked before it is owned.
    let fd = unsafe { libc::socket(libc::AF_UNIX, libc::SOCK_STREAM, 0) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a fresh descriptor that nobody else owns.
    let stream = UnixStream::from(unsafe { OwnedFd::from_raw_fd(fd) });
    stream.set_nonblocking(true)?;
    // SAFETY: sets a flag on a descriptor we own. A child forked between the calls would hold a connection that ends
    // with it.
    unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) };
    let (address, len) = address(path)?;
    // SAFETY: the address is initialised for `len` bytes and outlives the call.
    if unsafe { libc::connect(fd, (&raw const address).cast(), len) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(stream)
}

fn address(path: &Path) -> io::Result<(libc::sockaddr_un, libc::socklen_t)> {
    // SAFETY: all zeroes is a lawful address.
    let mut address: libc::sockaddr_un = unsafe { mem::zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    let bytes = path.as_os_str().as_bytes();
    if bytes.len() >= address.sun_path.len() || bytes.contains(&0) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path does not fit into a socket address"));
    }
    for (slot, byte) in address.sun_path.iter_mut().zip(bytes) {
        *slot = *byte as libc::c_char;
    }
    let len = mem::offset_of!(libc::sockaddr_un, sun_path) + bytes.len() + 1;
    Ok((address, len as libc::socklen_t))
}

// Elsewhere a full queue refuses, which nobody waits for either.
#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::connect;
    use crate::tmux::{TmuxError, TmuxServer};
    use std::io::ErrorKind;
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixListener;
    use std::sync::mpsc;
    use std::time::Duration;

    /// A stopped server accepts nobody, and each look at it leaves one more in its queue.
    #[test]
    fn f2_a_server_whose_queue_is_full_is_silent_and_holds_nobody_up() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("tmux");
        let listener = UnixListener::bind(&socket).unwrap();
        // SAFETY: a descriptor that the listener owns, and a plain number.
        assert_eq!(unsafe { libc::listen(listener.as_raw_fd(), 0) }, 0);
        let mut waiting = Vec::new();
        let full = loop {
            match connect(&socket) {
                Ok(one) => waiting.push(one),
                Err(error) => break error,
            }
        };
        assert_eq!(full.kind(), ErrorKind::WouldBlock);
        let (sender, answers) = mpsc::channel();
        std::thread::spawn(move || sender.send(TmuxServer::at(socket).pane_ids()));
        let answer = answers.recv_timeout(Duration::from_secs(10)).expect("nobody waits for ever");
        assert!(matches!(answer, Err(TmuxError::Silent { .. })), "{answer:?}");
    }
}
