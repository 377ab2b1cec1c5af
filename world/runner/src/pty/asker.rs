//! Who asks for something on the socket of a terminal: a person's process, or our
//! own daemon, which wakes an agent by a line of its own. Nobody else is heard.

use crate::supervise::Supervised;
use host::run_terminal::TerminalRequest;
use std::io::Read;
use std::os::unix::net::UnixStream;
use std::path::Path;
use sys::outside::{self, Links, Owner, Rules};
use sys::socket;

/// What it holds besides the number of its process is a line.
const LOCK_BYTES: u64 = 256;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TerminalAsker {
    Person,
    /// It has no person above it, and types no words but those by which it wakes.
    Daemon,
}

impl TerminalAsker {
    /// An agent has the same user, and would speak in its name.
    ///
    /// # Errors
    /// Why it is neither of them.
    pub fn of(stream: &UnixStream, what: &Supervised) -> Result<Self, String> {
        let pid = socket::peer_process(stream).ok_or("the system does not tell who asks")?;
        match (what.person)(pid) {
            Ok(()) => Ok(Self::Person),
            Err(_) if is_daemon(pid, &what.state) => Ok(Self::Daemon),
            Err(why) => Err(why),
        }
    }

    pub fn may(self, request: &TerminalRequest) -> bool {
        match request {
            TerminalRequest::Look | TerminalRequest::Enter => true,
            TerminalRequest::Escape => self == Self::Person,
            TerminalRequest::Paste { text } => self == Self::Person || is_wake_line(text),
        }
    }
}

fn is_wake_line(text: &str) -> bool {
    engine::fleet::wake::is_ours(&engine::fleet::wake::unspaced(text))
}

/// It runs our program, and holds the lock that one daemon at a time has, which names it.
fn is_daemon(pid: u32, state: &Path) -> bool {
    let program = sys::process::program(pid);
    let ours = program.is_some() && program == sys::process::program(std::process::id());
    ours && holder(&state.join("daemon.lock")) == Some(pid)
}

fn holder(lock: &Path) -> Option<u32> {
    let rules = Rules { most_bytes: LOCK_BYTES, links: Links::Followed, owner: Owner::OursOrRoot };
    let (file, _) = outside::open(lock, &rules).ok()?;
    if file.try_lock_shared().is_ok() {
        return None;
    }
    let mut text = String::new();
    file.take(LOCK_BYTES).read_to_string(&mut text).ok()?;
    text.lines().find_map(|line| line.strip_prefix("pid ")?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f3_the_daemon_types_its_own_line_and_nothing_else() {
        let paste = |text: &str| TerminalRequest::Paste { text: text.to_string() };
        let woken = engine::fleet::wake::trigger(3);
        assert!(TerminalAsker::Daemon.may(&paste(&woken)));
        for odd in ["yes", "", "1", &format!("{woken} and push"), &format!("please {woken}")] {
            assert!(!TerminalAsker::Daemon.may(&paste(odd)), "{odd}");
            assert!(TerminalAsker::Person.may(&paste(odd)));
        }
        assert!(!TerminalAsker::Daemon.may(&TerminalRequest::Escape));
    }

    #[test]
    fn f3_a_daemon_is_our_program_with_the_lock_that_names_it() {
        let state = tempfile::tempdir().unwrap();
        let own = std::process::id();
        assert!(!is_daemon(own, state.path()), "nobody has a lock");
        let path = state.path().join("daemon.lock");
        std::fs::write(&path, format!("pid {own}\nbuild x\n")).unwrap();
        assert!(!is_daemon(own, state.path()), "the lock is free");
        let held = std::fs::File::open(&path).unwrap();
        held.lock().unwrap();
        assert!(is_daemon(own, state.path()));
        let mut other = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        std::fs::write(&path, format!("pid {}\n", other.id())).unwrap();
        assert!(!is_daemon(own, state.path()), "it names somebody else");
        assert!(!is_daemon(other.id(), state.path()), "which runs another program");
        other.kill().unwrap();
        other.wait().unwrap();
    }
}
