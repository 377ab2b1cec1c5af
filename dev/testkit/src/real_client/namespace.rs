//! A network with nothing in it but loopback, for one thread and what it starts.

use std::io;
use std::thread;

/// What the client could reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// Loopback of a network namespace of its own, and nothing else.
    OwnNamespace,
    /// The system does not allow that: the machine's own network, in which only the base URL points the client to us.
    PlainLoopback,
}

/// Runs `work` on a thread that has entered a new network namespace, or on this thread where that is not allowed.
///
/// A namespace belongs to a thread, so the test's other threads keep their network, while sockets opened and processes
/// started in `work` stay in the namespace after the thread has ended.
///
/// Entering one takes the right to administer the system. An unprivileged user has it under `unshare --user --map-root-user`,
/// which cannot be done from here: a process with several threads may not enter a user namespace.
pub(super) fn isolated<T, F>(work: F) -> T
where
    T: Send,
    F: FnOnce(Isolation) -> T + Send,
{
    let tried = thread::scope(|scope| {
        let inside = scope.spawn(move || match enter() {
            Ok(()) => Ok(work(Isolation::OwnNamespace)),
            Err(_) => Err(work),
        });
        match inside.join() {
            Ok(tried) => tried,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    });
    tried.unwrap_or_else(|work| work(Isolation::PlainLoopback))
}

#[cfg(target_os = "linux")]
fn enter() -> io::Result<()> {
    // SAFETY: unshare takes a plain number and concerns only the calling thread, which was made for this.
    if unsafe { libc::unshare(libc::CLONE_NEWNET) } != 0 {
        return Err(io::Error::last_os_error());
    }
    loopback_up()
}

#[cfg(not(target_os = "linux"))]
fn enter() -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// A new namespace has its loopback switched off.
#[cfg(target_os = "linux")]
fn loopback_up() -> io::Result<()> {
    use std::net::UdpSocket;
    use std::os::fd::AsRawFd;

    // Binding to the wildcard works with no interface up; the socket is only a handle for the ioctl.
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    // SAFETY: all zeroes is a valid ifreq: an empty name and no flags.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (target, byte) in request.ifr_name.iter_mut().zip(b"lo") {
        *target = byte.cast_signed();
    }
    let up = libc::IFF_UP | libc::IFF_RUNNING;
    request.ifr_ifru.ifru_flags = libc::c_short::try_from(up).map_err(io::Error::other)?;
    // SAFETY: the socket is open and the request outlives the call.
    if unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;
    use std::net::{TcpListener, TcpStream};

    use super::{Isolation, isolated};

    /// The interfaces the calling thread can see.
    fn interfaces() -> Vec<String> {
        let table = fs::read_to_string("/proc/thread-self/net/dev").unwrap();
        let names = table.lines().skip(2).filter_map(|line| line.split(':').next());
        names.map(|name| name.trim().to_owned()).collect()
    }

    #[test]
    fn a_namespace_has_a_working_loopback_and_nothing_else() {
        isolated(|isolation| {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            if isolation == Isolation::OwnNamespace {
                // Some kernels put dormant tunnel devices into every namespace; none of them leads anywhere.
                assert!(TcpStream::connect("192.0.2.1:80").is_err());
                assert!(interfaces().contains(&"lo".to_owned()));
            } else {
                crate::skipped("nobody is granted a network of their own here");
            }
        });
    }

    #[test]
    fn the_caller_keeps_its_own_network() {
        let before = interfaces();
        isolated(|_| ());
        assert_eq!(before, interfaces());
    }

    #[test]
    fn a_panic_inside_is_a_panic_outside() {
        let caught = std::panic::catch_unwind(|| isolated(|_| panic!("inside")));
        assert!(caught.is_err());
    }
}
