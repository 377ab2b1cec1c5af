//! Local sockets that never block, who is at the other end, and whether anybody still is.

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// Connects without ever waiting: a listener that does not accept is an error (`WouldBlock`), not a hang.
///
/// # Errors
/// Also where the path does not fit into an address.
pub fn connect(path: &Path) -> io::Result<UnixStream> {
    let too_long = |_| io::Error::new(io::ErrorKind::InvalidInput, "the path does not fit into a socket address");
    let address = SocketAddrUnix::new(path).map_err(too_long)?;
    let socket = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
    // Between the two calls another thread could fork; the child of such a race would hold a connection that ends with it.
    fcntl_setfd(&socket, FdFlags::CLOEXEC)?;
    let stream = UnixStream::from(socket);
    stream.set_nonblocking(true)?;
    rustix::net::connect(&stream, &address)?;
    Ok(stream)
}

/// Has the system ask now and then whether the other machine is still there, so that one that went silent is an error
/// within about `most` and not a wait for ever, whether something was sent to it or not.
///
/// # Errors
/// When the system refuses.
pub fn notice_silence(stream: impl AsFd, most: Duration) -> io::Result<()> {
    use rustix::net::sockopt;
    let stream = stream.as_fd();
    let third = (most / 3).max(Duration::from_secs(1));
    sockopt::set_socket_keepalive(stream, true)?;
    sockopt::set_tcp_keepidle(stream, third)?;
    sockopt::set_tcp_keepintvl(stream, third)?;
    sockopt::set_tcp_keepcnt(stream, 2)?;
    // Elsewhere what was sent and not acknowledged is given up by the system's own, longer measure.
    #[cfg(target_os = "linux")]
    sockopt::set_tcp_user_timeout(stream, u32::try_from(most.as_millis()).unwrap_or(u32::MAX))?;
    Ok(())
}

/// The user at the other end.
///
/// # Errors
/// When the system does not tell.
#[cfg(target_os = "linux")]
pub fn peer_user(stream: &UnixStream) -> io::Result<u32> {
    Ok(rustix::net::sockopt::socket_peercred(stream)?.uid.as_raw())
}

/// The user at the other end.
///
/// # Errors
/// When the system does not tell.
#[cfg(not(target_os = "linux"))]
pub fn peer_user(stream: &UnixStream) -> io::Result<u32> {
    let (mut uid, mut gid) = (0, 0);
    // SAFETY: two numbers of the right type for the call to write.
    let result = unsafe { libc::getpeereid(std::os::fd::AsRawFd::as_raw_fd(stream), &raw mut uid, &raw mut gid) };
    if result == 0 { Ok(uid) } else { Err(io::Error::last_os_error()) }
}

/// The process at the other end, as it was when it connected; `None` where the system does not tell.
#[cfg(target_os = "linux")]
pub fn peer_process(stream: &UnixStream) -> Option<u32> {
    let pid = rustix::net::sockopt::socket_peercred(stream).ok()?.pid;
    u32::try_from(pid.as_raw_nonzero().get()).ok()
}

/// The process at the other end, as it was when it connected; `None` where the system does not tell.
#[cfg(target_os = "macos")]
pub fn peer_process(stream: &UnixStream) -> Option<u32> {
    let mut pid: libc::pid_t = 0;
    let mut size = size_of::<libc::pid_t>() as libc::socklen_t;
    // SAFETY: a number of the right size for the call to write.
    let told = unsafe {
        libc::getsockopt(
            std::os::fd::AsRawFd::as_raw_fd(stream),
            libc::SOL_LOCAL,
            libc::LOCAL_PEERPID,
            (&raw mut pid).cast(),
            &raw mut size,
        )
    };
    if told == 0 { u32::try_from(pid).ok() } else { None }
}

/// The process at the other end, as it was when it connected; `None` where the system does not tell.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub fn peer_process(_stream: &UnixStream) -> Option<u32> {
    None
}

// Elsewhere a full queue refuses, which nobody waits for either.
#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    #[test]
    fn a_listener_whose_queue_is_full_holds_nobody_up_and_the_other_end_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        assert_eq!(connect(&path).unwrap_err().kind(), io::ErrorKind::NotFound);
        let listener = UnixListener::bind(&path).unwrap();
        rustix::net::listen(&listener, 0).unwrap();
        let first = connect(&path).unwrap();
        assert_eq!(peer_user(&first).unwrap(), crate::outside::user());
        let mut waiting = Vec::new();
        let full = loop {
            match connect(&path) {
                Ok(one) => waiting.push(one),
                Err(error) => break error,
            }
        };
        assert_eq!(full.kind(), io::ErrorKind::WouldBlock);
        let long = folder.path().join("x".repeat(200));
        assert_eq!(connect(&long).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }
}
