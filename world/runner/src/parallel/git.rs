//! Git, as loops beside each other call it: no filter or driver of the repository is run, and no call takes for ever.

use super::bounded::{self, BoundedEnd, Cancel, Pipe};
use crate::RunnerError;
use crate::git_command::{LIST_PROGRAMS, ProgramsOff, git_command};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The longest a call may take: a checkout of a large tree on a slow disk.
const LONGEST: Duration = Duration::from_secs(600);

#[derive(Debug, Clone)]
pub(crate) struct Git {
    pub folder: PathBuf,
    /// Filters and drivers that the repository itself names, switched off.
    off: ProgramsOff,
    nobody: bool,
    /// What the log of a branch says of its moves.
    noted: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct GitOutput {
    pub ok: bool,
    pub out: String,
    pub error: String,
}

impl Git {
    /// For one work tree. What its repository configures is looked up once.
    pub(crate) fn at(folder: &Path) -> Self {
        let mut git = Self { folder: folder.to_path_buf(), off: ProgramsOff::default(), nobody: false, noted: None };
        git.off = ProgramsOff::read(&git.text(&LIST_PROGRAMS).unwrap_or_default());
        git.nobody = git.text(&["var", "GIT_COMMITTER_IDENT"]).is_none();
        git
    }

    /// The same settings for another work tree of the same repository.
    pub(crate) fn of(&self, folder: &Path) -> Self {
        Self { folder: folder.to_path_buf(), ..self.clone() }
    }

    /// The same, with a word of its own in the log of whatever branch it moves.
    pub(crate) fn noting(&self, word: &str) -> Self {
        Self { noted: Some(word.to_string()), ..self.clone() }
    }

    /// Filters that are switched off, and so must not see files again.
    pub(crate) fn switched_off(&self) -> &[String] {
        &self.off.filters
    }

    pub(crate) fn run(&self, args: &[&str]) -> Result<GitOutput, RunnerError> {
        run_to_end(self.command(args), &Cancel::default())
    }

    /// What it printed, where it went well.
    pub(crate) fn text(&self, args: &[&str]) -> Option<String> {
        self.run(args).ok().filter(|git| git.ok).map(|git| git.out.trim_end().to_string())
    }

    /// What it printed; else why not.
    pub(crate) fn must(&self, args: &[&str]) -> Result<String, RunnerError> {
        let git = self.run(args)?;
        if git.ok {
            return Ok(git.out.trim_end().to_string());
        }
        let said = if git.error.is_empty() { git.out } else { git.error };
        Err(RunnerError::Git { what: args.join(" "), said: said.trim().to_string() })
    }

    pub(crate) fn succeeds(&self, args: &[&str]) -> bool {
        self.run(args).is_ok_and(|git| git.ok)
    }

    /// The commit that a name stands for.
    pub(crate) fn commit(&self, name: &str) -> Option<String> {
        self.text(&["rev-parse", "--verify", "-q", "--end-of-options", &format!("{name}^{{commit}}")])
            .filter(|text| !text.is_empty())
    }

    pub(crate) fn is_ancestor(&self, one: &str, other: &str) -> bool {
        self.succeeds(&["merge-base", "--is-ancestor", one, other])
    }

    /// One line each, the newest first.
    pub(crate) fn log(&self, range: &str) -> Vec<String> {
        let log = self.text(&["log", "--no-decorate", "--no-show-signature", "--format=%h %s", "-n", "200", range]);
        log.unwrap_or_default().lines().map(String::from).collect()
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = git_command(&self.folder, []);
        self.off.apply(&mut command);
        command.args(args).current_dir(&self.folder);
        if let Some(word) = &self.noted {
            command.env("GIT_REFLOG_ACTION", word);
        }
        if self.nobody {
            for name in ["AUTHOR", "COMMITTER"] {
                command.env(format!("GIT_{name}_NAME"), "Taut").env(format!("GIT_{name}_EMAIL"), "taut@localhost");
            }
        }
        command
    }
}

/// One call of git, ended where it takes too long or somebody wants the end.
pub(super) fn run_to_end(command: Command, cancel: &Cancel) -> Result<GitOutput, RunnerError> {
    let mut git = GitOutput::default();
    let (mut out, mut error) = (Vec::new(), Vec::new());
    let end = bounded::run(command, LONGEST, cancel, |pipe, line| match pipe {
        Pipe::Out => out.extend_from_slice(line),
        Pipe::Error => error.extend_from_slice(line),
    });
    let end = end.map_err(|source| RunnerError::Start { program: "git".to_string(), source })?;
    git.ok = end == BoundedEnd::Code(Some(0));
    git.out = String::from_utf8_lossy(&out).into_owned();
    git.error = String::from_utf8_lossy(&error).trim().to_string();
    if end == BoundedEnd::TimedOut {
        git.error = format!("it took longer than {} s and was ended", LONGEST.as_secs());
    }
    Ok(git)
}
