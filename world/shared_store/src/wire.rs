//! The bytes between here and a server: a socket of either kind that reads no more than a flight may bring, because the
//! other end may be anybody and sends what it likes.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};

/// What one flight may bring back. The largest that is asked for is a list of tasks, and those are asked for in pages.
const MOST_BYTES: u64 = 128 << 20;

/// How much may still be read. Shared by a connection and its socket.
#[derive(Debug, Clone)]
pub(crate) struct Allowance(Arc<AtomicU64>);

impl Allowance {
    pub fn new() -> Self {
        Self(Arc::new(AtomicU64::new(MOST_BYTES)))
    }

    /// A new flight begins.
    pub fn renew(&self) {
        self.0.store(MOST_BYTES, Ordering::Relaxed);
    }

    /// Whether more came than was allowed.
    pub fn is_overdrawn(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }

    fn take(&self, bytes: usize) -> io::Result<()> {
        let left = self.0.load(Ordering::Relaxed);
        let taken = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.0.store(left.saturating_sub(taken), Ordering::Relaxed);
        if taken >= left { Err(io::Error::other("it sent more than is read of an answer")) } else { Ok(()) }
    }
}

#[derive(Debug)]
pub(crate) enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

#[derive(Debug)]
pub(crate) struct Wire {
    pub socket: Socket,
    pub allowance: Allowance,
}

impl AsyncRead for Wire {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        let read = match &mut self.socket {
            Socket::Tcp(socket) => Pin::new(socket).poll_read(cx, into),
            Socket::Unix(socket) => Pin::new(socket).poll_read(cx, into),
        };
        match read {
            Poll::Ready(Ok(())) => Poll::Ready(self.allowance.take(into.filled().len().saturating_sub(before))),
            other => other,
        }
    }
}

impl AsyncWrite for Wire {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match &mut self.socket {
            Socket::Tcp(socket) => Pin::new(socket).poll_write(cx, bytes),
            Socket::Unix(socket) => Pin::new(socket).poll_write(cx, bytes),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.socket {
            Socket::Tcp(socket) => Pin::new(socket).poll_flush(cx),
            Socket::Unix(socket) => Pin::new(socket).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.socket {
            Socket::Tcp(socket) => Pin::new(socket).poll_shutdown(cx),
            Socket::Unix(socket) => Pin::new(socket).poll_shutdown(cx),
        }
    }
}
