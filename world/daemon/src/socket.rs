//! Local sockets that never block: connecting, waiting with a deadline, and who is at the other end.

use std::io;
use std::mem;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

/// Waits until one of `polls` is ready; zero means that the time is over.
pub(crate) fn poll(polls: &mut [libc::pollfd], limit: Duration) -> io::Result<usize> {
    // Rounded up, so that a wait for less than a millisecond does not spin.
    let millis = limit.as_micros().div_ceil(1000).min(60_000) as libc::c_int;
    // SAFETY: the slice is valid for its length, and the kernel writes only into its entries.
    let ready = unsafe { libc::poll(polls.as_mut_ptr(), polls.len() as libc::nfds_t, millis) };
    match usize::try_from(ready) {
        Ok(ready) => Ok(ready),
        Err(_) => match io::Error::last_os_error() {
            cause if cause.kind() == io::ErrorKind::Interrupted => Ok(0),
            cause => Err(cause),
        },
    }
}

/// Waits for one descriptor until `deadline`.
pub(crate) fn wait(fd: RawFd, events: libc::c_short, deadline: Instant) -> io::Result<()> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        if poll(&mut [libc::pollfd { fd, events, revents: 0 }], left)? > 0 {
            return Ok(());
        }
    }
}

/// Connects without ever waiting: a listener that does not accept is an error (`WouldBlock`), not a hang.
pub(crate) fn connect(path: &Path) -> io::Result<UnixStream> {
    // SAFETY: plain numbers; the result is checked before it is owned.
    let fd = unsafe { libc::socket(libc::AF_UNIX, libc::SOCK_STREAM, 0) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a fresh descriptor that nobody else owns.
    let stream = UnixStream::from(unsafe { OwnedFd::from_raw_fd(fd) });
    stream.set_nonblocking(true)?;
    // SAFETY: sets a flag on a descriptor we own. Between the two calls another thread could fork; the child of such
    // a race would hold a connection that ends with it.
    unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) };
    let (address, len) = address(path)?;
    // SAFETY: the address is initialised for `len` bytes and outlives the call.
    if unsafe { libc::connect(fd, (&raw const address).cast(), len) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(stream)
}

/// The user at the other end.
#[cfg(target_os = "linux")]
pub(crate) fn peer_user(stream: &UnixStream) -> io::Result<u32> {
    let mut credentials = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut len = mem::size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: the buffer is a `ucred` of exactly `len` bytes.
    let result = unsafe {
        let credentials = (&raw mut credentials).cast();
        libc::getsockopt(stream.as_raw_fd(), libc::SOL_SOCKET, libc::SO_PEERCRED, credentials, &raw mut len)
    };
    if result == 0 { Ok(credentials.uid) } else { Err(io::Error::last_os_error()) }
}

/// The user at the other end.
#[cfg(not(target_os = "linux"))]
pub(crate) fn peer_user(stream: &UnixStream) -> io::Result<u32> {
    let (mut uid, mut gid) = (0, 0);
    // SAFETY: two numbers of the right type for the call to write.
    let result = unsafe { libc::getpeereid(stream.as_raw_fd(), &raw mut uid, &raw mut gid) };
    if result == 0 { Ok(uid) } else { Err(io::Error::last_os_error()) }
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
