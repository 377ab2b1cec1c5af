//! The ordinary client: one connection, one call, one answer, and never longer than the caller allows.

use crate::folder::socket_path;
use crate::frame::{Head, Header};
use crate::protocol::{self, DaemonStatus, Misread, WireCommand, WireResponse, Wrong};
use crate::service::RpcFault;
use fast_client::wire::HEADER_BYTES;
use model::{Answer, Call};
use serde_json::Value;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use sys::{outside, poll, socket};

/// Where a daemon may be, and how long a call may take.
#[derive(Debug, Clone)]
pub struct Client {
    socket: PathBuf,
    limit: Duration,
}

/// Why a call was not answered. The caller of a hook does the work itself, whatever the reason.
#[derive(Debug, thiserror::Error)]
pub enum CallFailure {
    #[error("no daemon is running: start one with `taut daemon start`")]
    Absent,
    #[error(
        "cannot tell whether a daemon is running, because {path} cannot be reached: see `taut daemon status`, \
         or set TAUT_NO_DAEMON=1 to work without one"
    )]
    CannotTell { path: PathBuf, source: io::Error },
    #[error("the daemon did not answer within {} ms: see `taut daemon status`, or end it with `taut daemon stop`", limit.as_millis())]
    TimedOut { limit: Duration },
    #[error("the daemon could not serve the call: {reason}; the same command with TAUT_NO_DAEMON=1 does without it")]
    Refused { reason: String },
    #[error("the daemon ended before it answered: start it again with `taut daemon start`")]
    Broken(#[source] io::Error),
    #[error("user {user} listens at {path}, not you: set TAUT_HOME to a folder of your own")]
    Stranger { path: PathBuf, user: u32 },
    #[error("the daemon's answer cannot be read: replace it with `taut daemon start`")]
    Misread(#[from] Misread),
    #[error("the call is too large to be sent: set TAUT_NO_DAEMON=1 to work without the daemon")]
    TooLarge(#[source] Wrong),
}

impl CallFailure {
    /// True only when it is certain that nobody serves.
    #[must_use]
    pub fn is_absence(&self) -> bool {
        matches!(self, Self::Absent)
    }
}

impl Client {
    /// A client for the daemon of a state folder.
    #[must_use]
    pub fn new(folder: &Path, limit: Duration) -> Self {
        Self { socket: socket_path(folder), limit }
    }

    /// # Errors
    /// Whatever the reason, the daemon may still do the work later: do it in process under the same request id.
    pub fn hook(&self, call: &Call) -> Result<Answer, CallFailure> {
        match self.ask(&protocol::write_hook(call).map_err(CallFailure::TooLarge)?)? {
            WireResponse::Hook(answer) => Ok(answer),
            other => Err(unexpected(other)),
        }
    }

    /// # Errors
    /// The outer error when the call did not get through, the inner one when the method refused it.
    pub fn rpc(&self, method: &str, params: &Value) -> Result<Result<Value, RpcFault>, CallFailure> {
        match self.ask(&protocol::write_rpc(method, params).map_err(CallFailure::TooLarge)?)? {
            WireResponse::Rpc(result) => Ok(result),
            other => Err(unexpected(other)),
        }
    }

    /// # Errors
    /// When there is no daemon or none that answers.
    pub fn status(&self) -> Result<DaemonStatus, CallFailure> {
        self.control(WireCommand::Status)
    }

    /// Asks the daemon to finish what it has read and then end. It ends after the answer; `daemon::stop` waits for it.
    pub(crate) fn request_stop(&self) -> Result<DaemonStatus, CallFailure> {
        self.control(WireCommand::Stop)
    }

    fn control(&self, command: WireCommand) -> Result<DaemonStatus, CallFailure> {
        match self.ask(&protocol::write_control(command).map_err(CallFailure::TooLarge)?)? {
            WireResponse::Control(status) => Ok(status),
            other => Err(unexpected(other)),
        }
    }

    fn ask(&self, frame: &[u8]) -> Result<WireResponse, CallFailure> {
        let deadline = Instant::now() + self.limit;
        let mut stream = self.connect()?;
        let answer = exchange(&mut stream, frame, deadline);
        let (header, body) = answer.map_err(|cause| match cause {
            Exchange::Io(cause) if cause.kind() == ErrorKind::TimedOut => CallFailure::TimedOut { limit: self.limit },
            Exchange::Io(cause) => CallFailure::Broken(cause),
            Exchange::Wrong(wrong) => CallFailure::Misread(wrong.into()),
        })?;
        Ok(WireResponse::read(header, &body)?)
    }

    /// Only a missing socket and a refused connection prove that nobody serves.
    pub(crate) fn connect(&self) -> Result<UnixStream, CallFailure> {
        let stream = socket::connect(&self.socket).map_err(|source| match source.kind() {
            ErrorKind::NotFound | ErrorKind::ConnectionRefused => CallFailure::Absent,
            _ => CallFailure::CannotTell { path: self.socket.clone(), source },
        })?;
        match socket::peer_user(&stream) {
            Ok(found) if found == outside::user() => Ok(stream),
            Ok(found) => Err(CallFailure::Stranger { path: self.socket.clone(), user: found }),
            Err(source) => Err(CallFailure::CannotTell { path: self.socket.clone(), source }),
        }
    }
}

enum Exchange {
    Io(io::Error),
    Wrong(Wrong),
}

impl From<io::Error> for Exchange {
    fn from(cause: io::Error) -> Self {
        Self::Io(cause)
    }
}

fn exchange(stream: &mut UnixStream, frame: &[u8], deadline: Instant) -> Result<(Header, Vec<u8>), Exchange> {
    send(stream, frame, deadline)?;
    let mut head = [0; HEADER_BYTES];
    receive(stream, &mut head, deadline)?;
    match Head::read(&head) {
        Head::Known(header) => {
            let mut body = vec![0; header.len];
            receive(stream, &mut body, deadline)?;
            Ok((header, body))
        }
        Head::Wrong(wrong) => Err(Exchange::Wrong(wrong)),
        Head::Partial => Err(Exchange::Wrong(Wrong::Size)),
    }
}

/// A daemon that refuses may answer and close before it has read everything, so a broken pipe still leads to reading.
fn send(stream: &mut UnixStream, mut rest: &[u8], deadline: Instant) -> io::Result<()> {
    while !rest.is_empty() {
        match stream.write(rest) {
            Ok(count) => rest = &rest[count..],
            Err(cause) if cause.kind() == ErrorKind::WouldBlock => {
                poll::wait(stream.as_raw_fd(), libc::POLLOUT, deadline)?;
            }
            Err(cause) if cause.kind() == ErrorKind::Interrupted => {}
            Err(cause) if cause.kind() == ErrorKind::BrokenPipe => return Ok(()),
            Err(cause) => return Err(cause),
        }
    }
    Ok(())
}

fn receive(stream: &mut UnixStream, mut into: &mut [u8], deadline: Instant) -> io::Result<()> {
    while !into.is_empty() {
        poll::wait(stream.as_raw_fd(), libc::POLLIN, deadline)?;
        match stream.read(into) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(count) => into = &mut into[count..],
            Err(cause) if matches!(cause.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(cause) => return Err(cause),
        }
    }
    Ok(())
}

fn unexpected(response: WireResponse) -> CallFailure {
    match response {
        WireResponse::Cannot(reason) => CallFailure::Refused { reason },
        _ => CallFailure::Misread(Misread::Missing("expected kind of answer")),
    }
}
