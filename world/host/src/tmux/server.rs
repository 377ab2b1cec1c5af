//! One tmux server, reached through its socket: one call, a time limit, and no
//! guess about what it does not say.

use crate::{environment, programs};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};
use sys::socket;

/// A server that is stopped or swapped out must not hold anybody up.
const LIMIT: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TmuxServer {
    socket: PathBuf,
}

#[derive(Debug, thiserror::Error)]
pub enum TmuxError {
    #[error("tmux is not installed, or not on the search path; install it, or use `taut top`")]
    Missing,
    #[error("no tmux server listens at {}; start one with `tmux -S {} new-session`", socket.display(), socket.display())]
    Gone { socket: PathBuf },
    #[error("the tmux server at {} cannot be reached; look at it with `ls -l {}`", socket.display(), socket.display())]
    CannotTell { socket: PathBuf, source: std::io::Error },
    #[error("the tmux server at {} did not answer within {} ms; try again when it does", socket.display(), LIMIT.as_millis())]
    Silent { socket: PathBuf },
    #[error("tmux refused: {said}; `tmux -V` has to be 3.2 or later")]
    Refused { said: String },
    #[error("tmux could not be run")]
    Broken(#[from] std::io::Error),
}

impl TmuxServer {
    pub fn at(socket: impl Into<PathBuf>) -> Self {
        Self { socket: socket.into() }
    }

    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// The numbers of all panes.
    pub fn pane_ids(&self) -> Result<Vec<String>, TmuxError> {
        let answer = self.ask(&["list-panes", "-a", "-F", "#{pane_id}"])?;
        Ok(answer.lines().map(str::to_owned).collect())
    }

    /// Every client's bar is drawn anew, and the programs in it run again, whenever that was last.
    pub fn refresh_bars(&self) -> Result<(), TmuxError> {
        let clients = self.ask(&["list-clients", "-F", "#{client_name}"])?;
        let lines: String = clients.lines().map(|client| format!("refresh-client -S -t {}\n", quote(client))).collect();
        if lines.is_empty() { Ok(()) } else { self.source(&lines).map(drop) }
    }

    /// Runs one command and gives what it printed.
    pub fn ask(&self, args: &[&str]) -> Result<String, TmuxError> {
        let done = self.call(args, Vec::new())?;
        if done.status.success() {
            return Ok(done.stdout);
        }
        Err(TmuxError::Refused { said: done.stderr.trim().replace('\n', "; ") })
    }

    /// Runs any number of lines in the syntax of `tmux.conf`, in one call however
    /// long they are. A line that fails, for its pane is gone, leaves the others alone.
    pub fn source(&self, lines: &str) -> Result<Sourced, TmuxError> {
        let done = self.call(&["source-file", "-"], lines.as_bytes().to_vec())?;
        let complaint = (!done.status.success()).then(|| done.stderr.trim().replace('\n', "; "));
        Ok(Sourced { stdout: done.stdout, complaint })
    }

    /// Values of options, in the order asked; `None` for one that is not set
    /// at that very place. One call for all of them.
    pub(super) fn values(&self, asked: &[String]) -> Result<Vec<Option<String>>, TmuxError> {
        if asked.is_empty() {
            return Ok(Vec::new());
        }
        let ask = |one: &String| format!("display-message -p '{FENCE}'\nshow-options -qv {one}\n");
        let answer = self.source(&asked.iter().map(ask).collect::<String>())?.stdout;
        let mut found: Vec<Option<String>> = Vec::new();
        for line in answer.lines() {
            match (line, found.last_mut()) {
                (FENCE, _) => found.push(None),
                (value, Some(last)) => *last = Some(value.to_owned()),
                (_, None) => {}
            }
        }
        // Fewer answers than questions would be answers to other questions.
        if found.len() == asked.len() {
            Ok(found)
        } else {
            Err(TmuxError::Refused { said: format!("{} of {} values were answered", found.len(), asked.len()) })
        }
    }

    pub(super) fn call(&self, args: &[&str], stdin: Vec<u8>) -> Result<TmuxOutput, TmuxError> {
        self.listens()?;
        let mut command = Command::new(programs::find_or_search("tmux").ok_or(TmuxError::Missing)?);
        // Which server and which pane is said by arguments; the caller's own place must not answer for it.
        command.arg("-u").arg("-S").arg(&self.socket).args(args);
        command.env_clear().envs(environment::of_program(programs::home()));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().map_err(|error| match error.kind() {
            ErrorKind::NotFound => TmuxError::Missing,
            _ => TmuxError::Broken(error),
        })?;
        finish(child, stdin, Instant::now() + LIMIT).ok_or_else(|| TmuxError::Silent { socket: self.socket.clone() })
    }

    /// A missing socket and a refused connection prove that nobody serves; nothing else does.
    fn listens(&self) -> Result<(), TmuxError> {
        match socket::connect(&self.socket) {
            Ok(_) => Ok(()),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                Err(TmuxError::Silent { socket: self.socket.clone() })
            }
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused) => {
                Err(TmuxError::Gone { socket: self.socket.clone() })
            }
            Err(source) => Err(TmuxError::CannotTell { socket: self.socket.clone(), source }),
        }
    }
}

/// What came of many lines.
#[derive(Debug)]
pub struct Sourced {
    pub stdout: String,
    /// What tmux said of the lines it could not follow.
    pub complaint: Option<String>,
}

pub(super) struct TmuxOutput {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

const FENCE: &str = "taut-next-value";

/// `None` when it had to be killed.
fn finish(mut child: Child, stdin: Vec<u8>, deadline: Instant) -> Option<TmuxOutput> {
    let told = child.stdin.take();
    thread::spawn(move || told.map(|mut pipe| pipe.write_all(&stdin)));
    let (stdout, stderr) = (reader(child.stdout.take()), reader(child.stderr.take()));
    let read = |from: &mpsc::Receiver<String>| from.recv_timeout(deadline.saturating_duration_since(Instant::now()));
    let heard = read(&stdout).ok().zip(read(&stderr).ok());
    let status = heard.is_some().then(|| wait(&mut child, deadline)).flatten();
    let done = heard.zip(status).map(|((stdout, stderr), status)| TmuxOutput { status, stdout, stderr });
    if done.is_none() {
        // Both fail only when it has just ended by itself.
        let _ = child.kill();
        let _ = child.wait();
    }
    done
}

fn reader(pipe: Option<impl Read + Send + 'static>) -> mpsc::Receiver<String> {
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        let mut text = Vec::new();
        let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut text));
        let _ = send.send(String::from_utf8_lossy(&text).into_owned());
    });
    receive
}

/// It has closed its outputs, so it is about to end.
fn wait(child: &mut Child, deadline: Instant) -> Option<ExitStatus> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(1)),
            _ => return None,
        }
    }
}

/// A word in the syntax of `tmux.conf` that stands for exactly this text.
pub(super) fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
