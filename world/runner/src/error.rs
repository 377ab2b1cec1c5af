//! What can keep a run from beginning or going on.

use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum RunnerError {
    #[error(
        "the loop does not start, because a limit that cannot be read is not no limit:\n  {}",
        unread.join("\n  ")
    )]
    Configuration { unread: Vec<String> },
    #[error(transparent)]
    Store(#[from] store::Error),
    #[error(transparent)]
    Queue(#[from] pipeline::queue::QueueError),
    #[error("cannot start the agent `{program}`: {source}. Is it installed? `command -v {program}` says where")]
    Start { program: String, source: io::Error },
    #[error(
        "there is no agent `{name}`; known are {known}. \
         `[agents.{name}] command = [\"program\", \"{{prompt}}\"]` in the configuration of a trusted project makes one"
    )]
    NoAgent { name: String, known: String },
    #[error("cannot write {}: {source}. `ls -ld` its folder shows who may", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error(
        "a loop runs in {folder} already ({}); end that one first (`taut loop stop`), or use `--workers` for more than one agent",
        who(*pid, run.as_deref())
    )]
    Busy { folder: String, pid: Option<u32>, run: Option<String> },
    #[error(
        "{} cannot be locked, and without that two loops could run in one work tree: {source}. \
         `ls -ld` its folder shows who may write there, `df` whether it is full",
        path.display()
    )]
    Lock { path: PathBuf, source: io::Error },
    #[error("there is no loop in {folder} that could be resumed: {why}")]
    NothingToResume { folder: String, why: String },
    #[error("`{prefix}` is the beginning of more than one run: {}", candidates.join(", "))]
    ManyRuns { prefix: String, candidates: Vec<String> },
    #[error("git {what} failed: {said}")]
    Git { what: String, said: String },
    #[error("signals cannot be received: {0}")]
    Signals(io::Error),
    #[error("the terminal cannot be handed over: {0}")]
    Terminal(io::Error),
}

fn who(pid: Option<u32>, run: Option<&str>) -> String {
    match (pid, run) {
        (Some(pid), Some(run)) => format!("process {pid}, run {run}"),
        (Some(pid), None) => format!("process {pid}"),
        (None, _) => "it has just begun".to_string(),
    }
}
