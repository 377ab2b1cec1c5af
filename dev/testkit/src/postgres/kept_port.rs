//! A port of 127.0.0.1 that is a server's alone, also while the server is not there.

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Bound and not listened on: whoever asks for any free port is given another one, and the server may listen there.
pub(super) struct KeptPort {
    pub number: u16,
    _socket: OwnedFd,
}

impl KeptPort {
    pub fn free() -> io::Result<Self> {
        // SAFETY: plain numbers, and a descriptor that is owned from here on.
        let socket = unsafe {
            let socket = libc::socket(libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0);
            checked(socket)?;
            OwnedFd::from_raw_fd(socket)
        };
        let at = libc::sockaddr_in {
            sin_family: libc::AF_INET as libc::sa_family_t,
            sin_port: 0,
            sin_addr: libc::in_addr { s_addr: u32::from(Ipv4Addr::LOCALHOST).to_be() },
            sin_zero: [0; 8],
        };
        let (fd, reuse, mut bound) = (socket.as_raw_fd(), 1_i32, at);
        let mut size = size_of_as::<libc::sockaddr_in>();
        // SAFETY: an open socket, and structures of the sizes that are told.
        unsafe {
            let how = (&raw const reuse).cast();
            checked(libc::setsockopt(fd, libc::SOL_SOCKET, libc::SO_REUSEADDR, how, size_of_as::<i32>()))?;
            checked(libc::bind(fd, (&raw const at).cast(), size))?;
            checked(libc::getsockname(fd, (&raw mut bound).cast(), &raw mut size))?;
        }
        Ok(Self { number: u16::from_be(bound.sin_port), _socket: socket })
    }
}

fn checked(answer: libc::c_int) -> io::Result<()> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn size_of_as<T>() -> libc::socklen_t {
    libc::socklen_t::try_from(size_of::<T>()).unwrap_or_default()
}
