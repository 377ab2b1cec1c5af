//! A program that is run to its end, to what it may print, or to a deadline.

use super::NoDiff;
use std::io::{Read, Write};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::channel;
use std::time::Instant;

/// What git printed.
pub struct Told {
    pub out: Vec<u8>,
    /// There was more.
    pub cut: bool,
    pub status: ExitStatus,
    said: String,
}

impl Told {
    /// What it printed, where it did what was asked and that was all of it.
    pub fn whole(self, what: &str) -> Result<Vec<u8>, NoDiff> {
        if self.cut {
            return Err(NoDiff::Failed { said: format!("`git {what}` printed too much") });
        }
        self.cut_or_whole(what)
    }

    pub fn cut_or_whole(self, what: &str) -> Result<Vec<u8>, NoDiff> {
        if self.cut || self.status.success() {
            return Ok(self.out);
        }
        let said = if self.said.is_empty() { format!("`git {what}` failed") } else { self.said };
        Err(NoDiff::Failed { said })
    }
}

/// Runs it to its end, to what may be printed, or to the deadline: `None` then, and all it started is ended.
pub fn finish(mut command: Command, stdin: Option<&[u8]>, most: usize, deadline: Instant) -> Option<Told> {
    let input = if stdin.is_some() { Stdio::piped() } else { Stdio::null() };
    let mut child = command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().ok()?;
    let (pid, stdout, stderr, input) = (child.id(), child.stdout.take(), child.stderr.take(), child.stdin.take());
    let end = || sys::process::signal_group(pid, libc::SIGKILL);
    std::thread::scope(|scope| {
        if let (Some(mut input), Some(bytes)) = (input, stdin) {
            // It may end before it has read all: then nobody wants the rest.
            scope.spawn(move || input.write_all(bytes));
        }
        let said = scope.spawn(move || {
            let mut said = Vec::new();
            let mut from = stderr?;
            let _ = (&mut from).take(4096).read_to_end(&mut said);
            let _ = std::io::copy(&mut from, &mut std::io::sink());
            Some(said)
        });
        let (tell, told) = channel();
        scope.spawn(move || {
            let mut out = Vec::new();
            let read = stdout.map(|mut from| (&mut from).take(most as u64 + 1).read_to_end(&mut out));
            let _ = tell.send(read.and_then(Result::ok).map(|_| out));
        });
        let out = told.recv_timeout(deadline.saturating_duration_since(Instant::now())).unwrap_or_default();
        let cut = out.as_ref().is_some_and(|out| out.len() > most);
        if out.is_none() || cut {
            end();
        }
        let status = child.wait().ok();
        let said = said.join().ok().flatten().unwrap_or_default();
        let said = String::from_utf8_lossy(&said).lines().next_back().unwrap_or_default().chars().take(200).collect();
        let mut out = out?;
        out.truncate(most);
        Some(Told { out, cut, status: status?, said })
    })
}
