//! Runs a command line once, with a limit on its time and on what it may print.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// A command line and what it is given.
#[derive(Debug, Clone)]
pub struct CommandLine {
    pub program: PathBuf,
    pub args: Vec<OsString>,
    /// Put into the environment of this process.
    pub set: Vec<(OsString, OsString)>,
    /// Taken out of it.
    pub unset: Vec<OsString>,
    pub cwd: PathBuf,
    pub stdin: String,
    pub limit: Duration,
}

/// How it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramEnd {
    /// `None` when a signal ended it.
    pub exit: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

#[derive(Debug, thiserror::Error)]
pub enum CommandLineError {
    #[error("{} could not be started: {source}", program.display())]
    Start { program: PathBuf, source: io::Error },
    #[error("{} did not end within {limit:?}", program.display())]
    TimedOut { program: PathBuf, limit: Duration },
    #[error("{} was started, but its end could not be waited for: {source}", program.display())]
    Wait { program: PathBuf, source: io::Error },
}

/// What is kept of each stream.
const KEPT: u64 = 64 * 1024;

impl CommandLine {
    pub fn run(&self) -> Result<ProgramEnd, CommandLineError> {
        let until = Instant::now() + self.limit;
        let mut child = self.spawn(until)?;
        let stdin = child.stdin.take();
        let text = self.stdin.clone();
        // Threads, so that neither a full pipe nor one that is never closed is
        // waited for longer than the limit; they end with the process group.
        std::thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(text.as_bytes())));
        let stdout = collect(child.stdout.take());
        let stderr = collect(child.stderr.take());
        let status = self.wait(&mut child, until)?;
        let rest = || until.saturating_duration_since(Instant::now()).max(Duration::from_millis(200));
        let stdout = stdout.recv_timeout(rest()).unwrap_or_default();
        let stderr = stderr.recv_timeout(rest()).unwrap_or_default();
        Ok(ProgramEnd { exit: status.code(), stdout, stderr })
    }

    fn spawn(&self, until: Instant) -> Result<Child, CommandLineError> {
        let mut command = Command::new(&self.program);
        command.args(&self.args).current_dir(&self.cwd);
        for name in &self.unset {
            command.env_remove(name);
        }
        command.envs(self.set.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        loop {
            match command.spawn() {
                Ok(child) => return Ok(child),
                // Someone still writes it: a program that is being installed.
                Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy && Instant::now() < until => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                Err(source) => return Err(CommandLineError::Start { program: self.program.clone(), source }),
            }
        }
    }

    fn wait(&self, child: &mut Child, until: Instant) -> Result<ExitStatus, CommandLineError> {
        loop {
            match child.try_wait() {
                Ok(Some(status)) => return Ok(status),
                Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(5)),
                Ok(None) => {
                    end_group(child);
                    return Err(CommandLineError::TimedOut { program: self.program.clone(), limit: self.limit });
                }
                Err(source) => {
                    end_group(child);
                    return Err(CommandLineError::Wait { program: self.program.clone(), source });
                }
            }
        }
    }
}

fn collect(stream: Option<impl Read + Send + 'static>) -> std::sync::mpsc::Receiver<String> {
    let (send, receive) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            // What came before an error is still worth showing.
            let _ = stream.by_ref().take(KEPT).read_to_end(&mut bytes);
            let _ = io::copy(&mut stream, &mut io::sink());
        }
        // Nobody listens any more when the limit is over.
        let _ = send.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receive
}

fn end_group(child: &mut Child) {
    // The group was made by us for this child, which has not been waited for yet.
    sys::process::signal_group(child.id(), libc::SIGKILL);
    // Reaps it; it is dead already.
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Duration) -> CommandLine {
        CommandLine {
            program: "/bin/sh".into(),
            args: vec!["-c".into(), script.into()],
            set: Vec::new(),
            unset: vec!["PATH".into()],
            cwd: "/".into(),
            stdin: "given".into(),
            limit,
        }
    }

    #[test]
    fn gives_what_was_printed_and_how_it_ended() {
        let ended = shell("read x; echo said $x; echo why >&2; exit 3", Duration::from_secs(20)).run().unwrap();
        assert_eq!(ended, ProgramEnd { exit: Some(3), stdout: "said given\n".into(), stderr: "why\n".into() });
    }

    #[test]
    fn a_line_that_does_not_end_is_ended() {
        let error = shell("/bin/sleep 600 & wait", Duration::from_millis(50)).run().unwrap_err();
        assert!(matches!(error, CommandLineError::TimedOut { .. }), "{error}");
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let line = CommandLine { program: "/nowhere/taut".into(), ..shell("", Duration::from_secs(1)) };
        assert!(line.run().unwrap_err().to_string().starts_with("/nowhere/taut could not be started"));
    }
}
