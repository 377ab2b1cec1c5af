//! Commands of the project that the coordinator runs in a work tree: its setup, and the verification of a merge.

use super::bounded::{self, BoundedEnd, Cancel};
use crate::git_command::MISLEADING;
use crate::job::Job;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// So much of the end of what it said is kept.
const KEPT: usize = 4096;

/// A command line of the project, and where it runs.
#[derive(Debug, Clone)]
pub(super) struct Check {
    pub line: String,
    pub longest: Duration,
    pub env: Vec<(String, String)>,
}

/// How it went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Checked {
    Passed,
    /// In words, with the end of what it said.
    Failed(String),
    Cancelled,
}

impl Check {
    pub(super) fn new(job: &Job, line: &str) -> Self {
        let root = job.root.to_string_lossy().into_owned();
        let mut env: Vec<(String, String)> = job.assigned.clone().into_iter().collect();
        // Where the setup of a work tree finds what git ignores.
        env.push(("TAUT_MAIN_DIR".to_string(), root));
        Self {
            line: line.to_string(),
            longest: Duration::from_millis(job.settings.verify_ms.max(0).cast_unsigned()),
            env,
        }
    }

    pub(super) fn run(&self, folder: &Path, cancel: &Cancel, mut hear: impl FnMut(&[u8])) -> Checked {
        let mut command = Command::new("sh");
        command.args(["-c", &self.line]).current_dir(folder).envs(self.env.iter().cloned());
        for name in MISLEADING {
            command.env_remove(name);
        }
        for name in ["FRESHER_PROJECT_DIR", "TAUT_PROJECT_DIR"] {
            command.env(name, folder);
        }
        let mut said = Vec::new();
        let end = bounded::run(command, self.longest, cancel, |_, line| {
            hear(line);
            said.extend_from_slice(line);
            if said.len() > 4 * KEPT {
                said.drain(..said.len() - KEPT);
            }
        });
        let how = match end {
            Ok(BoundedEnd::Code(Some(0))) => return Checked::Passed,
            Ok(BoundedEnd::Cancelled) => return Checked::Cancelled,
            Ok(BoundedEnd::Code(Some(code))) => format!("ended with {code}"),
            Ok(BoundedEnd::Code(None)) => "was ended by a signal".to_string(),
            Ok(BoundedEnd::TimedOut) => format!("took longer than {} s and was ended", self.longest.as_secs()),
            Err(error) => format!("could not be started: {error}"),
        };
        Checked::Failed(format!("`{}` {how}{}", self.line, ending(&said)))
    }
}

/// The end of it, without secrets and without what a terminal would act on.
fn ending(said: &[u8]) -> String {
    let text = String::from_utf8_lossy(said.get(said.len().saturating_sub(KEPT)..).unwrap_or(said)).into_owned();
    let text = engine::redact::text_without_secrets(&model::text::lines(&text, KEPT));
    if text.trim().is_empty() { String::new() } else { format!(":\n{}", text.trim_end()) }
}
