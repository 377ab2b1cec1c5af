//! The bytes between here and a server: a socket of either kind that reads no more than a flight may bring and writes no
//! more than a flight takes, because the other end may be anybody and sends what it likes.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};

/// What one flight may bring back. The largest that is asked for is a list of tasks, and those are asked for in pages.
const MOST_BYTES: u64 = 128 << 20;
/// Of a connection that brought so much another is opened: what a server tells of itself, asked or not, is kept for as long as
/// the connection is.
const WORN_BYTES: u64 = 512 << 20;

/// What is written to be let in, by a certificate perhaps.
const MOST_BEFORE: u64 = 256 << 10;
/// What is written with a flight besides its statements. Little, because the library asks for each type that it does not
/// know, and for those within it: a server that makes them up without end would have it ask till its stack is full.
const BESIDES: usize = 4 << 10;
/// The same for each text: its messages, and what TLS puts around them.
const AROUND: usize = 256;

/// How much may still be read, and written. Shared by a connection and its socket.
#[derive(Debug, Clone)]
pub(crate) struct Allowance(Arc<Left>);

#[derive(Debug)]
struct Left {
    read: AtomicU64,
    written: AtomicU64,
    /// In all flights before this one.
    read_before: AtomicU64,
}

impl Allowance {
    /// For what is said before the first flight.
    pub fn new() -> Self {
        let (read, written) = (AtomicU64::new(MOST_BYTES), AtomicU64::new(MOST_BEFORE));
        Self(Arc::new(Left { read, written, read_before: AtomicU64::new(0) }))
    }

    /// A flight of these texts begins.
    pub fn renew<'t>(&self, texts: impl Iterator<Item = &'t str>) {
        let bytes = BESIDES + texts.map(|text| text.len() + text.len() / 64 + AROUND).sum::<usize>();
        let was_read = MOST_BYTES.saturating_sub(self.0.read.swap(MOST_BYTES, Ordering::Relaxed));
        self.0.read_before.fetch_add(was_read, Ordering::Relaxed);
        self.0.written.store(u64::try_from(bytes).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Whether more came than was allowed.
    pub fn is_overread(&self) -> bool {
        self.0.read.load(Ordering::Relaxed) == 0
    }

    /// Whether all its flights together brought so much that another connection is to be opened.
    pub fn is_worn(&self) -> bool {
        self.0.read_before.load(Ordering::Relaxed) >= WORN_BYTES
    }

    /// Whether it had the library ask for more than a flight does.
    pub fn is_overwritten(&self) -> bool {
        self.0.written.load(Ordering::Relaxed) == 0
    }
}

fn take(from: &AtomicU64, bytes: usize) -> io::Result<()> {
    let left = from.load(Ordering::Relaxed);
    let taken = u64::try_from(bytes).unwrap_or(u64::MAX);
    from.store(left.saturating_sub(taken), Ordering::Relaxed);
    if taken >= left { Err(io::Error::other("more than a flight has went over the wire")) } else { Ok(()) }
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
            Poll::Ready(Ok(())) => {
                Poll::Ready(take(&self.allowance.0.read, into.filled().len().saturating_sub(before)))
            }
            other => other,
        }
    }
}

impl AsyncWrite for Wire {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = match &mut self.socket {
            Socket::Tcp(socket) => Pin::new(socket).poll_write(cx, bytes),
            Socket::Unix(socket) => Pin::new(socket).poll_write(cx, bytes),
        };
        match written {
            Poll::Ready(Ok(bytes)) => Poll::Ready(take(&self.allowance.0.written, bytes).map(|()| bytes)),
            other => other,
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
