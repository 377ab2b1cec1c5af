//! Several workers on one queue: each a loop of its own in a worktree and
//! branch of its own. Nothing is merged; the summary says which branch holds what.

use crate::{RunnerError, work_state};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::channel;
use std::time::Duration;
use sys::signals;

/// What is started.
#[derive(Debug, Clone)]
pub struct WorkerFleet {
    pub folder: PathBuf,
    pub state: PathBuf,
    pub workers: usize,
    /// The program and arguments of one worker's loop.
    pub program: PathBuf,
    pub args: Vec<String>,
}

/// What a worker left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branch {
    pub name: String,
    pub folder: PathBuf,
    pub commits: Vec<String>,
    pub exit: Option<i32>,
}

/// Runs all of them to their end; signals reach each.
pub fn workers(fleet: &WorkerFleet) -> Result<Vec<Branch>, RunnerError> {
    let Some(base) = work_state::head(&fleet.folder) else {
        let said = "workers need a git repository with a commit to branch from".to_string();
        return Err(RunnerError::Git { what: "rev-parse HEAD".to_string(), said });
    };
    let stamp: String = host::clock::now().rfc3339().chars().filter(char::is_ascii_digit).take(14).collect();
    let mut started = Vec::new();
    for number in 1..=fleet.workers {
        let name = format!("taut/{stamp}-{number}");
        let folder = fleet.state.join("worktrees").join(format!("{stamp}-{number}"));
        worktree(&fleet.folder, &folder, &name)?;
        let mut command = Command::new(&fleet.program);
        command.args(&fleet.args).args(["--config-from", &fleet.folder.to_string_lossy(), "--branch", &name]);
        command.current_dir(&folder).stdin(std::process::Stdio::null());
        // A group of its own, so that one Ctrl+C is told once.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = command
            .spawn()
            .map_err(|source| RunnerError::Start { program: fleet.program.display().to_string(), source })?;
        started.push((name, folder, child));
    }
    let (sender, receiver) = channel();
    let listening = signals::listen(&[libc::SIGINT, libc::SIGTERM, libc::SIGHUP], move |number| {
        let _ = sender.send(number);
    });
    listening.map_err(RunnerError::Signals)?;
    let mut exits: Vec<Option<std::process::ExitStatus>> = vec![None; started.len()];
    while exits.iter().any(Option::is_none) {
        if let Ok(signal) = receiver.recv_timeout(Duration::from_millis(100)) {
            for ((_, _, child), _) in started.iter().zip(&exits).filter(|(_, exit)| exit.is_none()) {
                // The child is ours and not reaped, so the number is its own.
                sys::process::signal(child.id(), signal);
            }
        }
        for ((_, _, child), exit) in started.iter_mut().zip(&mut exits).filter(|(_, exit)| exit.is_none()) {
            *exit = child.try_wait().ok().flatten();
        }
    }
    let branches = started.into_iter().zip(exits).map(|((name, folder, _), exit)| Branch {
        commits: commits(&folder, &base),
        exit: exit.and_then(|status| status.code()),
        name,
        folder,
    });
    Ok(branches.collect())
}

fn worktree(project: &Path, folder: &Path, branch: &str) -> Result<(), RunnerError> {
    let out =
        Command::new("git").arg("-C").arg(project).args(["worktree", "add", "-q", "-b", branch]).arg(folder).output();
    match out {
        Ok(out) if out.status.success() => Ok(()),
        Ok(out) => {
            let said = String::from_utf8_lossy(&out.stderr).trim().to_string();
            Err(RunnerError::Git { what: "worktree add".to_string(), said })
        }
        Err(source) => Err(RunnerError::Start { program: "git".to_string(), source }),
    }
}

fn commits(folder: &Path, base: &str) -> Vec<String> {
    let log = work_state::git(folder, &["log", "--format=%h %s", &format!("{base}..HEAD")]).unwrap_or_default();
    log.lines().map(String::from).collect()
}
