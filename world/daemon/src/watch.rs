//! A watcher's connection: it hears of changes and reads them elsewhere.

use crate::client::{CallFailure, Client};
use crate::frame::Head;
use crate::protocol::{self, WireResponse};
use fast_client::wire::HEADER_BYTES;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};
use sys::poll;

/// An open connection that is told when something may have changed.
#[derive(Debug)]
pub struct Watch {
    stream: UnixStream,
    inbox: Vec<u8>,
    heard: WatchResult,
}

/// Whether the daemon said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchResult {
    Change,
    Nothing,
}

const CONNECT_LIMIT: Duration = Duration::from_millis(200);

impl Watch {
    /// # Errors
    /// When no daemon serves the folder, or none that can be reached.
    pub fn open(folder: &Path) -> Result<Self, CallFailure> {
        let stream = Client::new(folder, CONNECT_LIMIT).connect()?;
        let mut watch = Self { stream, inbox: Vec::new(), heard: WatchResult::Nothing };
        watch.ask(None).map_err(CallFailure::Broken)?;
        Ok(watch)
    }

    /// Waits until the daemon says that something changed, at most for `limit`.
    ///
    /// # Errors
    /// When the daemon went away, or says what is not understood: open another.
    pub fn wait(&mut self, limit: Duration) -> io::Result<WatchResult> {
        let deadline = Instant::now() + limit;
        self.heard = WatchResult::Nothing;
        while self.heard == WatchResult::Nothing {
            match poll::wait(self.stream.as_raw_fd(), libc::POLLIN, deadline) {
                Ok(()) => self.take()?,
                Err(cause) if cause.kind() == ErrorKind::TimedOut => break,
                Err(cause) => return Err(cause),
            }
        }
        Ok(self.heard)
    }

    fn take(&mut self) -> io::Result<()> {
        let mut scratch = [0; 256];
        match self.stream.read(&mut scratch) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(count) => self.inbox.extend_from_slice(scratch.get(..count).unwrap_or_default()),
            Err(cause) if matches!(cause.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => return Ok(()),
            Err(cause) => return Err(cause),
        }
        let wrong = || io::Error::from(ErrorKind::InvalidData);
        loop {
            let header = match Head::read(&self.inbox) {
                Head::Partial => return Ok(()),
                Head::Wrong(_) => return Err(wrong()),
                Head::Known(header) => header,
            };
            let whole = HEADER_BYTES + header.len;
            let Some(body) = self.inbox.get(HEADER_BYTES..whole) else { return Ok(()) };
            let Ok(WireResponse::Changed(count)) = WireResponse::read(header, body) else { return Err(wrong()) };
            self.inbox.drain(..whole);
            self.heard = WatchResult::Change;
            self.ask(Some(count))?;
        }
    }

    fn ask(&mut self, seen: Option<u64>) -> io::Result<()> {
        let frame = protocol::write_watch(seen).map_err(|_| io::Error::from(ErrorKind::InvalidInput))?;
        // A frame of a few bytes always fits into the socket of somebody who reads.
        self.stream.write_all(&frame)
    }
}
