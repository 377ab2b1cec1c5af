//! The terminal that `taut run` gives to the agent it supervises, as others of
//! its user's processes reach it: a private socket on which it shows the screen
//! and takes what is typed. Asked once a connection, and never for long.

use crate::probe;
use crate::tmux::CapturedPane;
use model::{ClientProcess, Ms};
use serde_json::{Value, json};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use sys::{poll, socket};

/// Below the state folder, which nobody else can enter.
const FOLDER: &str = "supervised";
const PATIENCE: Duration = Duration::from_secs(2);
/// A screen with all its attributes, or a text, is smaller.
pub const MOST_BYTES: usize = 1 << 20;

/// What is asked of a supervisor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TerminalRequest {
    /// What the screen shows.
    Look,
    /// As if a person pasted it.
    Paste {
        text: String,
    },
    Enter,
    Escape,
}

impl TerminalRequest {
    fn to_json(&self) -> Value {
        match self {
            Self::Look => json!({"do": "look"}),
            Self::Paste { text } => json!({"do": "paste", "text": text}),
            Self::Enter => json!({"do": "enter"}),
            Self::Escape => json!({"do": "escape"}),
        }
    }

    /// `None` for what is none of them.
    pub fn read(line: &[u8]) -> Option<Self> {
        let value: Value = serde_json::from_slice(line).ok()?;
        Some(match value["do"].as_str()? {
            "look" => Self::Look,
            "paste" => Self::Paste { text: value["text"].as_str()?.to_string() },
            "enter" => Self::Enter,
            "escape" => Self::Escape,
            _ => return None,
        })
    }
}

/// The answer to one: what the screen shows, or nothing where something was typed.
pub fn answer(answered: Result<Option<&CapturedPane>, &str>) -> Vec<u8> {
    let value = match answered {
        Ok(None) => json!({"done": true}),
        Ok(Some(seen)) => json!({
            "done": true, "text": seen.text, "column": seen.cursor.0, "row": seen.cursor.1, "pid": seen.pid,
            "takes_keys": seen.takes_keys,
        }),
        Err(why) => json!({"refused": why}),
    };
    let mut line = value.to_string().into_bytes();
    line.push(b'\n');
    line
}

/// Where the supervisor of this process number listens.
pub fn path(state: &Path, supervisor: u32) -> PathBuf {
    state.join(FOLDER).join(format!("{supervisor}.sock"))
}

/// A living supervisor, and when its agent may have begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunSupervisor {
    pub process: ClientProcess,
    pub from: Ms,
}

/// So long before its socket is there a supervisor may have started its agent.
const BEFORE_SOCKET_MS: i64 = 10_000;
const MOST_SUPERVISORS: usize = 4_096;

/// Everybody whose socket lies there and who lives.
pub fn supervisors(state: &Path) -> Vec<RunSupervisor> {
    let own = sys::process::program(std::process::id());
    let living = |(pid, socket): (u32, PathBuf)| {
        let started = sys::process_stat::stat(pid).ok().flatten()?.started;
        // The number may be somebody else's by now.
        let name = |program: Option<PathBuf>| program.and_then(|path| path.file_name().map(ToOwned::to_owned));
        if name(sys::process::program(pid)) != name(own.clone()) {
            return None;
        }
        let made = std::fs::symlink_metadata(socket).ok()?.ctime().saturating_mul(1000);
        Some(RunSupervisor { process: ClientProcess { pid, started }, from: Ms(made).plus(-BEFORE_SOCKET_MS) })
    };
    sockets(state).filter_map(living).collect()
}

/// Takes away the sockets of those who were killed.
pub fn sweep(state: &Path) {
    for (pid, socket) in sockets(state) {
        if matches!(sys::process_stat::stat(pid), Ok(None)) {
            let _ = std::fs::remove_file(socket);
        }
    }
}

fn sockets(state: &Path) -> impl Iterator<Item = (u32, PathBuf)> {
    let entries = std::fs::read_dir(state.join(FOLDER)).into_iter().flatten().flatten().take(MOST_SUPERVISORS);
    entries.filter_map(|entry| {
        let number = entry.file_name().to_str()?.strip_suffix(".sock")?.parse().ok()?;
        Some((number, entry.path()))
    })
}

/// One line that ends with a newline, in bounds and in time.
pub fn read_line(stream: &mut UnixStream) -> io::Result<Vec<u8>> {
    let deadline = Instant::now() + PATIENCE;
    let mut line = Vec::new();
    let mut piece = [0_u8; 16 * 1024];
    while line.last() != Some(&b'\n') {
        poll::wait(stream.as_raw_fd(), libc::POLLIN, deadline)?;
        let read = match stream.read(&mut piece) {
            Ok(read) => read,
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => continue,
            Err(error) => return Err(error),
        };
        line.extend_from_slice(piece.get(..read).unwrap_or_default());
        if read == 0 || line.len() > MOST_BYTES {
            return Err(io::ErrorKind::InvalidData.into());
        }
    }
    Ok(line)
}

/// All of it, in time.
pub fn write_all(stream: &mut UnixStream, mut bytes: &[u8]) -> io::Result<()> {
    let deadline = Instant::now() + PATIENCE;
    while !bytes.is_empty() {
        poll::wait(stream.as_raw_fd(), libc::POLLOUT, deadline)?;
        match stream.write(bytes) {
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The terminal of a client that somebody supervises.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunTerminal {
    socket: PathBuf,
}

impl RunTerminal {
    /// The supervisor is a process above the client: nobody else's socket is asked.
    pub fn of(state: &Path, client: ClientProcess) -> Option<Self> {
        if client.started == 0 || !sys::process_stat::lives(client.pid, client.started) {
            return None;
        }
        let mut sockets = probe::ancestors(client.pid).map(|pid| path(state, pid));
        let socket = sockets.find(|socket| std::fs::symlink_metadata(socket).is_ok())?;
        Some(Self { socket })
    }

    pub fn glimpse(&self) -> io::Result<CapturedPane> {
        let value = self.ask(&TerminalRequest::Look)?;
        let number = |name: &str| value[name].as_u64().and_then(|number| usize::try_from(number).ok());
        let seen = || {
            Some(CapturedPane {
                text: value["text"].as_str()?.to_string(),
                cursor: (number("column")?, number("row")?),
                pid: u32::try_from(value["pid"].as_u64()?).ok()?,
                takes_keys: value["takes_keys"].as_bool()?,
            })
        };
        seen().ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    pub fn paste(&self, text: &str) -> io::Result<()> {
        self.ask(&TerminalRequest::Paste { text: text.to_string() }).map(drop)
    }

    pub fn enter(&self) -> io::Result<()> {
        self.ask(&TerminalRequest::Enter).map(drop)
    }

    pub fn escape(&self) -> io::Result<()> {
        self.ask(&TerminalRequest::Escape).map(drop)
    }

    fn ask(&self, request: &TerminalRequest) -> io::Result<Value> {
        let mut stream = socket::connect(&self.socket)?;
        // Whoever has taken the place of the socket hears nothing.
        if socket::peer_user(&stream)? != sys::outside::user() {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let mut line = request.to_json().to_string().into_bytes();
        line.push(b'\n');
        write_all(&mut stream, &line)?;
        let value: Value = serde_json::from_slice(&read_line(&mut stream)?)?;
        match value["refused"].as_str() {
            Some(why) => Err(io::Error::other(why.to_string())),
            None => Ok(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f3_what_is_asked_of_a_supervisor_is_read_back_and_nothing_else_is() {
        let all = [
            TerminalRequest::Look,
            TerminalRequest::Paste { text: "two\nlines".into() },
            TerminalRequest::Enter,
            TerminalRequest::Escape,
        ];
        for request in all {
            assert_eq!(TerminalRequest::read(request.to_json().to_string().as_bytes()), Some(request));
        }
        for odd in ["", "{", "[]", r#"{"do":"run"}"#, r#"{"do":"paste"}"#, r#"{"do":7}"#] {
            assert_eq!(TerminalRequest::read(odd.as_bytes()), None, "{odd}");
        }
    }

    #[test]
    fn f1_living_supervisors_are_known_by_their_sockets_and_those_of_the_dead_are_swept() {
        let state = tempfile::tempdir().unwrap();
        std::fs::create_dir(state.path().join(FOLDER)).unwrap();
        let mut ended = std::process::Command::new("true").spawn().unwrap();
        ended.wait().unwrap();
        let own = std::process::id();
        for pid in [own, ended.id(), 1] {
            drop(std::os::unix::net::UnixListener::bind(path(state.path(), pid)).unwrap());
        }
        let found = supervisors(state.path());
        let pids: Vec<u32> = found.iter().map(|one| one.process.pid).collect();
        assert_eq!(pids, [own], "the first process runs no program of ours");
        assert!(
            found.iter().all(|one| one.from < crate::clock::now() && one.from > crate::clock::now().plus(-600_000))
        );
        sweep(state.path());
        let left = [own, ended.id(), 1].map(|pid| path(state.path(), pid).exists());
        assert_eq!(left, [true, false, true]);
    }

    #[test]
    fn f3_a_client_without_a_supervisor_above_it_has_no_such_terminal() {
        let state = tempfile::tempdir().unwrap();
        std::fs::create_dir(state.path().join(FOLDER)).unwrap();
        // Somebody's socket that is not above the client.
        drop(std::os::unix::net::UnixListener::bind(path(state.path(), u32::MAX)).unwrap());
        let own = std::process::id();
        let started = sys::process_stat::stat(own).unwrap().unwrap().started;
        assert_eq!(RunTerminal::of(state.path(), ClientProcess { pid: own, started }), None);
        drop(std::os::unix::net::UnixListener::bind(path(state.path(), own)).unwrap());
        assert!(RunTerminal::of(state.path(), ClientProcess { pid: own, started }).is_some());
        assert_eq!(RunTerminal::of(state.path(), ClientProcess { pid: own, started: started + 1 }), None);
        assert_eq!(RunTerminal::of(state.path(), ClientProcess { pid: own, started: 0 }), None);
    }
}
