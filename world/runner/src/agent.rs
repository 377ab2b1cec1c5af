//! Starting the agent for one iteration, with what it is told by its environment.

use crate::RunnerError;
use crate::child::{Doing, Running};
use crate::git_command::MISLEADING;
use crate::job::Job;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::SyncSender;

/// Who the agent is.
pub(crate) struct Name<'a> {
    pub agent: &'a str,
    pub run: &'a str,
}

pub(crate) fn start(
    job: &Job,
    prompt: &str,
    name: &Name<'_>,
    id: u64,
    tell: &SyncSender<Doing>,
) -> Result<Running, RunnerError> {
    let mut told = job.clone();
    told.prompt = prompt.to_string();
    let line = told.launch()?;
    let mut command = Command::new(&line.program);
    command.args(&line.args).current_dir(&job.folder);
    // A loop started from within an agent is not that agent, and one started from a hook of git's works on no commit.
    let inherited = variables().chain(["TAUT_SESSION_ID", "AGENT_ID", crate::PARENT]).chain(MISLEADING.iter().copied());
    for inherited in inherited {
        command.env_remove(inherited);
    }
    command.env("TAUT_AGENT_ID", name.agent).env("TAUT_RUN_ID", name.run).env("TAUT_SUPERVISED", "loop");
    if job.queue {
        command.env("RALPH_AGENT_ID", name.agent).env("RALPH_TASK_SCRIPT", task_script());
    }
    if let Some(worker) = &job.worker {
        command.env("TAUT_TASK", &worker.task);
    }
    Running::start(command, id, line.stdin, tell).map_err(|source| RunnerError::Start { program: line.program, source })
}

/// Whether the system would find the program there, as it looks for one: by its path, else on the search path.
pub(crate) fn is_found(program: &str, folder: &Path) -> bool {
    let runs = |path: PathBuf| {
        std::fs::metadata(folder.join(path)).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    };
    if program.contains('/') {
        return runs(PathBuf::from(program));
    }
    let search = std::env::var_os("PATH").unwrap_or_else(|| OsString::from("/bin:/usr/bin"));
    !program.is_empty() && std::env::split_paths(&search).any(|folder| runs(folder.join(program)))
}

/// The variables by which agents' clients say who they are.
pub(crate) fn variables() -> impl Iterator<Item = &'static str> {
    let own = agents::ALL.0.iter().map(|dialect| &dialect.profile.variables);
    own.flat_map(|names| [names.inside, names.tool_session, names.session]).flatten().copied()
}

/// What a user's script runs to act on tasks.
fn task_script() -> String {
    let own = std::env::current_exe().map(|path| path.to_string_lossy().into_owned());
    format!("{} task", own.unwrap_or_else(|_| "taut".to_string()))
}
