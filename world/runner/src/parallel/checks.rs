//! Commands of the project that the coordinator runs in a work tree: its setup, and the verification of a merge.

use super::bounded::{self, BoundedEnd, Cancel};
use super::coordinator::Coordinator;
use crate::hook;
use crate::prove::{self, OutputEnd, ProofEnd};
use engine::loops::{Hook, Loop, values};
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// A command line of the project, for another thread to run.
#[derive(Debug, Clone)]
pub(super) struct Check {
    line: String,
    longest: Duration,
    /// What its environment says; `None` takes a variable away.
    env: Vec<(OsString, Option<OsString>)>,
}

/// How it went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Checked {
    Passed,
    /// In words, with the end of what it said.
    Failed(String),
    Cancelled,
}

impl Coordinator<'_> {
    /// It is told what a worker's own verification is.
    pub(super) fn check(&self, line: &str) -> Check {
        let state = Loop::new(self.run.started_at, self.run.tally.clone());
        let given = values(Hook::PostIteration, &state, &self.job.terms, host::clock::now());
        let mut told = Command::new("sh");
        hook::tell(&mut told, self.job, given);
        // Where the setup of a work tree finds what git ignores.
        told.env("TAUT_MAIN_DIR", &self.job.root);
        let owned = |(name, value): (&std::ffi::OsStr, Option<&std::ffi::OsStr>)| {
            (name.to_os_string(), value.map(std::ffi::OsStr::to_os_string))
        };
        Check {
            line: line.to_string(),
            longest: Duration::from_millis(self.job.settings.verify_ms.max(1).cast_unsigned()),
            env: told.get_envs().map(owned).collect(),
        }
    }
}

impl Check {
    pub(super) fn run(&self, folder: &Path, cancel: &Cancel, mut hear: impl FnMut(&[u8])) -> Checked {
        let mut command = Command::new("sh");
        command.args(["-c", &self.line]).current_dir(folder);
        for (name, value) in &self.env {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.env("FRESHER_PROJECT_DIR", folder).env("TAUT_PROJECT_DIR", folder);
        let mut said = OutputEnd::default();
        let end = bounded::run(command, self.longest, cancel, |_, line| {
            said.take(line);
            if said.is_to_be_logged() {
                hear(line);
            }
        });
        let end = match end {
            Ok(BoundedEnd::Code(Some(0))) => return Checked::Passed,
            Ok(BoundedEnd::Cancelled) => return Checked::Cancelled,
            Ok(BoundedEnd::Code(Some(code))) => ProofEnd::Code(code),
            Ok(BoundedEnd::Code(None)) => ProofEnd::Signal,
            Ok(BoundedEnd::TimedOut) => ProofEnd::TimedOut { after: self.longest },
            Err(error) => ProofEnd::NotStarted(error.to_string()),
        };
        Checked::Failed(prove::failure(&self.line, end, &said))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l10_a_command_that_prints_without_end_fills_no_log_and_its_end_is_kept() {
        let noise = "head -c 12000000 /dev/zero | tr '\\0' x | fold -w 999; echo";
        let line = format!("{noise}; echo API_TOKEN=swordfishcheck77; exit 3");
        let check = Check { line, longest: Duration::from_secs(60), env: Vec::new() };
        let mut heard = 0;
        let Checked::Failed(words) = check.run(Path::new("/"), &Cancel::default(), |line| heard += line.len()) else {
            panic!("it failed")
        };
        assert!(heard < 9 << 20, "{heard}");
        assert!(words.ends_with("xxx\nAPI_TOKEN=[redacted]") && words.len() < 5_000, "{words}");
        assert!(
            words.starts_with(&format!("`{noise}; echo API_TOKEN=[redacted]; exit 3` failed with 3:\n")),
            "{words}"
        );
    }
}
