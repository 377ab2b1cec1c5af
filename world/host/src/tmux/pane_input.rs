//! Hands for a pane: look at what it shows, paste a line into it, press Enter.
//! Escape only for a person who wants it stopped, and nothing while its owner reads back in copy mode.

use super::server::{TmuxError, TmuxServer};
use crate::probe;
use model::ClientProcess;
use model::fact::Life;

/// A pane at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapturedPane {
    /// The screen with its attributes.
    pub text: String,
    /// Column and row, from zero.
    pub cursor: (usize, usize),
    /// The process tmux started there.
    pub pid: u32,
    /// What is sent to it reaches the program in it, and no other pane.
    pub takes_keys: bool,
}

const FORMAT: &str =
    "#{cursor_x} #{cursor_y} #{pane_pid} #{pane_in_mode}#{pane_input_off}#{pane_synchronized}#{pane_dead}";
const UNHINDERED: &str = "0000";

impl TmuxServer {
    /// Screen and cursor belong together, so they are asked for in one call.
    pub fn glimpse(&self, pane: &str) -> Result<CapturedPane, TmuxError> {
        let answer =
            self.ask(&["display-message", "-p", "-t", pane, FORMAT, ";", "capture-pane", "-p", "-e", "-t", pane])?;
        parse(&answer).ok_or_else(|| TmuxError::Refused { said: format!("{pane} could not be read") })
    }

    /// As if a person pasted it: a program that knows bracketed pastes takes no letter of it for a key.
    pub fn paste(&self, pane: &str, text: &str) -> Result<(), TmuxError> {
        // A buffer of our own: the user's clipboard stays what it is.
        let buffer = format!("taut-{}-{}", std::process::id(), pane.trim_start_matches('%'));
        let args =
            ["load-buffer", "-b", &buffer, "-", ";", "paste-buffer", "-p", "-r", "-d", "-b", &buffer, "-t", pane];
        let done = self.call(&args, text.as_bytes().to_vec())?;
        if done.status.success() {
            return Ok(());
        }
        // A pane that vanished in between leaves the buffer behind.
        let _ = self.call(&["delete-buffer", "-b", &buffer], Vec::new());
        Err(TmuxError::Refused { said: done.stderr.trim().replace('\n', "; ") })
    }

    pub fn enter(&self, pane: &str) -> Result<(), TmuxError> {
        self.ask(&["send-keys", "-t", pane, "Enter"]).map(drop)
    }

    /// Stops what the client does. Only for a person who asked for it.
    pub fn escape(&self, pane: &str) -> Result<(), TmuxError> {
        self.ask(&["send-keys", "-t", pane, "Escape"]).map(drop)
    }
}

/// Whether it is this very client that runs in the pane and has its terminal.
/// One that cannot be told from another is not.
pub fn runs_in(client: ClientProcess, glimpse: &CapturedPane) -> bool {
    let same = client.started != 0 && probe::life(client.pid) == Some(Life::Alive { started: client.started });
    let below = || probe::ancestors(client.pid).any(|pid| pid == glimpse.pid);
    same && below() && probe::in_foreground(client.pid) && probe::has_the_terminal_of(client.pid, glimpse.pid)
}

fn parse(answer: &str) -> Option<CapturedPane> {
    let (head, text) = answer.split_once('\n')?;
    let fields: Vec<&str> = head.split(' ').collect();
    let &[x, y, pid, hindrances] = fields.as_slice() else { return None };
    Some(CapturedPane {
        text: text.to_owned(),
        cursor: (x.parse().ok()?, y.parse().ok()?),
        pid: pid.parse().ok()?,
        takes_keys: hindrances == UNHINDERED,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f3_a_pane_that_is_read_back_or_shared_takes_no_keys() {
        let free = parse("2 47 123 0000\none\ntwo\n").unwrap();
        assert_eq!((free.cursor, free.pid, free.takes_keys, free.text.as_str()), ((2, 47), 123, true, "one\ntwo\n"));
        for hindered in ["1000", "0100", "0010", "0001", "000"] {
            assert!(!parse(&format!("2 47 123 {hindered}\n")).unwrap().takes_keys);
        }
        assert_eq!(parse("\n"), None);
    }

    #[test]
    fn f3_a_client_of_another_pane_or_of_an_unknown_start_is_not_the_one() {
        let own = std::process::id();
        let Some(Life::Alive { started }) = probe::life(own) else { panic!("this process lives") };
        let glimpse = |pid| CapturedPane { text: String::new(), cursor: (0, 0), pid, takes_keys: true };
        assert!(!runs_in(ClientProcess { pid: own, started: 0 }, &glimpse(own)));
        assert!(!runs_in(ClientProcess { pid: own, started: started + 1 }, &glimpse(own)));
        assert!(!runs_in(ClientProcess { pid: own, started }, &glimpse(u32::MAX)));
    }
}
