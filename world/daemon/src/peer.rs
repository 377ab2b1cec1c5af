//! One connection: what it has sent so far, what it has still to be sent, and how long it may take.

use crate::frame::{Head, Header, Wrong};
use crate::protocol::WireResponse;
use crate::server::PeerLimits;
use fast_client::wire::HEADER_BYTES;
use std::io::{ErrorKind, Read, Write};
use std::mem;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::time::Instant;

pub(crate) struct Peer {
    stream: UnixStream,
    inbox: Vec<u8>,
    outbox: Vec<u8>,
    /// When the present state began: silence, a frame on its way in, or an answer on its way out.
    since: Instant,
    state: State,
    /// It waits to hear of changes beyond this count.
    watching: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    /// It sends no more, or must not, but may still be owed an answer.
    Ending,
    Closed,
}

/// A whole frame with its header, as it was sent.
pub(crate) struct Frame {
    pub header: Header,
    bytes: Vec<u8>,
}

/// So much is read of one peer before the others have their turn.
const READ_BYTES: usize = 512 << 10;

impl Frame {
    pub fn body(&self) -> &[u8] {
        self.bytes.get(HEADER_BYTES..).unwrap_or_default()
    }
}

impl Peer {
    pub fn new(stream: UnixStream) -> Self {
        Self {
            stream,
            inbox: Vec::new(),
            outbox: Vec::new(),
            since: Instant::now(),
            state: State::Open,
            watching: None,
        }
    }

    pub fn fd(&self) -> RawFd {
        self.stream.as_raw_fd()
    }

    /// The process that connected, where the system tells.
    pub fn process(&self) -> Option<u32> {
        sys::socket::peer_process(&self.stream)
    }

    /// What to poll for. A peer that is owed an answer or has a frame waiting is not read further.
    pub fn events(&self) -> libc::c_short {
        if !self.outbox.is_empty() {
            libc::POLLOUT
        } else if self.state == State::Open && !self.has_frame() {
            libc::POLLIN
        } else {
            0
        }
    }

    /// Reads what is there.
    pub fn fill(&mut self, scratch: &mut [u8]) {
        let mut taken = 0;
        while self.state == State::Open && taken < READ_BYTES && !self.has_frame() {
            match self.stream.read(scratch) {
                Ok(0) => self.state = State::Ending,
                Ok(count) => {
                    if self.inbox.is_empty() {
                        self.since = Instant::now();
                    }
                    self.reserve(count);
                    self.inbox.extend_from_slice(scratch.get(..count).unwrap_or_default());
                    taken += count;
                }
                Err(cause) if cause.kind() == ErrorKind::WouldBlock => return,
                Err(cause) if cause.kind() == ErrorKind::Interrupted => {}
                Err(_) => self.state = State::Closed,
            }
        }
    }

    /// A whole frame, if there is one.
    pub fn take_frame(&mut self) -> Result<Option<Frame>, Wrong> {
        if self.inbox.is_empty() || !self.outbox.is_empty() {
            return Ok(None);
        }
        let header = match Head::read(&self.inbox) {
            Head::Partial => return Ok(None),
            Head::Wrong(wrong) => return Err(wrong),
            Head::Known(header) => header,
        };
        let whole = HEADER_BYTES + header.len;
        if self.inbox.len() < whole {
            return Ok(None);
        }
        let rest = self.inbox.split_off(whole);
        let bytes = mem::replace(&mut self.inbox, rest);
        self.since = Instant::now();
        Ok(Some(Frame { header, bytes }))
    }

    pub fn send(&mut self, frame: Vec<u8>) {
        if self.outbox.is_empty() {
            self.outbox = frame;
        } else {
            self.outbox.extend_from_slice(&frame);
        }
        self.since = Instant::now();
        self.flush();
    }

    pub fn watch(&mut self, seen: u64) {
        self.watching = Some(seen);
    }

    /// Tells a watcher, once; it asks again when it has looked.
    pub fn tell(&mut self, changes: u64) {
        if self.watching.is_some_and(|seen| seen != changes) {
            self.watching = None;
            self.send(WireResponse::Changed(changes).write());
        }
    }

    /// Writes as much as the peer takes.
    pub fn flush(&mut self) {
        while !self.outbox.is_empty() && self.state != State::Closed {
            match self.stream.write(&self.outbox) {
                Ok(count) if count == self.outbox.len() => self.outbox = Vec::new(),
                Ok(count) => drop(self.outbox.drain(..count)),
                Err(cause) if cause.kind() == ErrorKind::WouldBlock => return,
                Err(cause) if cause.kind() == ErrorKind::Interrupted => {}
                Err(_) => self.state = State::Closed,
            }
        }
    }

    /// Takes nothing more from the peer; it goes when it has what it is owed.
    pub fn end(&mut self) {
        self.inbox = Vec::new();
        if self.state == State::Open {
            self.state = State::Ending;
        }
    }

    pub fn close(&mut self) {
        self.state = State::Closed;
    }

    /// Whether nothing is left to be done for it, or it has taken too long.
    pub fn is_over(&self, limits: &PeerLimits) -> bool {
        match self.state {
            State::Closed => true,
            State::Ending if self.outbox.is_empty() && !self.has_frame() => true,
            _ if self.is_silent() => self.since.elapsed() > limits.silence,
            _ => self.since.elapsed() > limits.frame,
        }
    }

    /// Whether nobody is there any more to take what it was sent.
    pub fn is_gone(&self) -> bool {
        self.state == State::Closed
    }

    /// Neither a frame on its way in nor an answer on its way out.
    pub fn is_silent(&self) -> bool {
        self.inbox.is_empty() && self.outbox.is_empty()
    }

    pub fn since(&self) -> Instant {
        self.since
    }

    pub fn has_frame(&self) -> bool {
        matches!(Head::read(&self.inbox), Head::Known(header) if self.inbox.len() >= HEADER_BYTES + header.len)
            || matches!(Head::read(&self.inbox), Head::Wrong(_))
    }

    /// Bytes that this peer makes us hold, or will once its frame is whole.
    pub fn held_bytes(&self) -> usize {
        let announced = match Head::read(&self.inbox) {
            Head::Known(header) => HEADER_BYTES + header.len,
            Head::Partial | Head::Wrong(_) => 0,
        };
        announced.max(self.inbox.len()) + self.outbox.len()
    }

    /// Asks for the memory of a frame at once rather than by doubling.
    fn reserve(&mut self, count: usize) {
        let wanted = self.held_bytes().saturating_sub(self.inbox.len());
        self.inbox.reserve_exact(count.max(wanted));
    }
}
