//! What a repository has to say of its queue: its name. Where it says none, the line is shown and offered.

use super::{AgreeArgs, tell, tell_diff};
use crate::error::CliError;
use crate::person;
use crate::printer::{Printer, text};
use crate::user_config;
use host::paths::PathVariables;
use std::path::{Path, PathBuf};
use toml_edit::value;

/// The repository that a command runs in, and what it calls its queue.
pub struct QueueRepository {
    pub folder: PathBuf,
    pub queue: Option<String>,
    /// What it says besides, which is ignored, each with why.
    pub ignored: Vec<String>,
}

impl QueueRepository {
    /// `None` outside of one.
    pub fn here() -> Result<Option<Self>, CliError> {
        let cwd = std::env::current_dir()?;
        let project = host::probe::project(&cwd, &PathVariables::from_process().home());
        if !project.git {
            return Ok(None);
        }
        let judge = crate::commands::judge_here(None)?;
        let found = judge.project_policy();
        let about = |said: &String| said.contains("`shared.");
        let ignored = found.diagnostics.iter().map(ToString::to_string).filter(about).collect();
        let queue = found.policy.sections.shared.project.clone();
        Ok(Some(Self { folder: PathBuf::from(project.work_tree), queue, ignored }))
    }

    fn file(&self) -> PathBuf {
        self.folder.join(".taut/config.toml")
    }

    /// Offers to write the name into a repository that says none.
    pub fn offer(&self, queue: &str, agree: AgreeArgs, printer: &Printer) -> Result<bool, CliError> {
        let line = format!("[shared] project = \"{queue}\"");
        // A link would lead the change to another place than is shown.
        let plain = |path: &Path| path.symlink_metadata().map_or(true, |meta| !meta.file_type().is_symlink());
        let is_plain = plain(&self.file()) && plain(&self.folder.join(".taut"));
        if agree.yes || agree.dry_run || !is_plain {
            printer.note(text!("hint: say in .taut/config.toml of the repository what its queue is called: {}", line));
            return Ok(false);
        }
        let change = user_config::plan_in(self.file(), |config| {
            user_config::values(config, "shared")?.insert("project", value(queue));
            Ok(())
        })?;
        tell(printer, "");
        tell(printer, "This repository does not say yet what its queue is called. Everybody who clones it then reads:");
        tell_diff(printer, &change.diff());
        if !person::agrees(&format!("Change {} as shown above?", change.file.display()))? {
            return Ok(false);
        }
        change.write()?;
        tell(printer, text!("written to {}; commit it", change.file.display()));
        Ok(true)
    }
}
