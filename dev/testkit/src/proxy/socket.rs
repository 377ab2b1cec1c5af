//! A socket of either kind, which several threads use at once.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

pub(super) enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Socket {
    pub fn read_within(&self, limit: Duration) -> io::Result<()> {
        match self {
            Self::Tcp(socket) => socket.set_read_timeout(Some(limit)),
            Self::Unix(socket) => socket.set_read_timeout(Some(limit)),
        }
    }

    pub fn write_within(&self, limit: Duration) -> io::Result<()> {
        match self {
            Self::Tcp(socket) => socket.set_write_timeout(Some(limit)),
            Self::Unix(socket) => socket.set_write_timeout(Some(limit)),
        }
    }

    pub fn write_all(&self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Tcp(socket) => { socket }.write_all(bytes),
            Self::Unix(socket) => { socket }.write_all(bytes),
        }
    }

    /// Nothing more is said; what is answered is still read.
    pub fn say_goodbye(&self) {
        self.shut(Shutdown::Write);
    }

    /// Ends both directions for every thread that uses it; over TCP the other end sees a reset once the last of them lets
    /// go of it.
    pub fn reset(&self) {
        if let Self::Tcp(socket) = self {
            linger_not(socket);
        }
        // A reset is what closing does, and a shutdown says goodbye first: so only reading is ended where that is enough to
        // wake who reads.
        self.shut(if matches!(self, Self::Tcp(_)) { Shutdown::Read } else { Shutdown::Both });
    }

    pub fn end(&self) {
        self.shut(Shutdown::Both);
    }

    fn shut(&self, how: Shutdown) {
        // One that is over already is what was wanted.
        let _ = match self {
            Self::Tcp(socket) => socket.shutdown(how),
            Self::Unix(socket) => socket.shutdown(how),
        };
    }
}

impl Read for &Socket {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Socket::Tcp(socket) => { socket }.read(into),
            Socket::Unix(socket) => { socket }.read(into),
        }
    }
}

/// Closing it resets the connection.
fn linger_not(socket: &TcpStream) {
    let at_once = libc::linger { l_onoff: 1, l_linger: 0 };
    let size = libc::socklen_t::try_from(size_of::<libc::linger>()).unwrap_or_default();
    // SAFETY: an open socket, and a structure of the size that is told. Where it fails, it is closed the usual way.
    unsafe {
        libc::setsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_LINGER, (&raw const at_once).cast(), size);
    }
}
