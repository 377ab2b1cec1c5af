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
    #[error("nothing was started: `{program}`, the program of agent `{agent}`, is not there or cannot be executed")]
    NoProgram { agent: String, program: String, here: Vec<String> },
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
    #[error(
        "{} is a link that leads out of the project, and what is there is not told to an agent; \
         put a file in its place, or name a prompt of yours, wherever it is, with `--prompt <file>`",
        path.display()
    )]
    PromptOutside { path: PathBuf },
    #[error(
        "the folder of the logs, {}, leads out of a project that is not trusted, and nothing is written there; \
         `taut trust` says that the project may, TAUT_LOG_DIR names a folder",
        path.display()
    )]
    LogsOutside { path: PathBuf },
    #[error("there is no loop in {folder} that could be resumed: {why}")]
    NothingToResume { folder: String, why: String },
    #[error(
        "{} finished {} in {folder} to be merged, left by a loop with several workers that was killed: {}. \
         `taut loop resume {run}` merges them and goes on",
        tasks.len(),
        if tasks.len() == 1 { "branch waits" } else { "branches wait" },
        model::text::line(&tasks.join(", "), 200)
    )]
    BranchesWait { folder: String, tasks: Vec<String>, run: String },
    #[error(
        "a loop runs in {folder} ({}), and would work on in another tree than it knows; `taut loop stop` ends it",
        who(*pid, None)
    )]
    UndoWhileRunning { folder: String, pid: Option<u32> },
    #[error("{folder} is no work tree of git's, so nothing of it was kept")]
    NoWorkTree { folder: String },
    #[error("a rebase is under way in {folder}; end it first, with `git rebase --abort` or `--continue`")]
    UndoInRebase { folder: String },
    #[error("no iteration of a loop in {folder} can be undone: none was kept")]
    NothingToUndo { folder: String },
    #[error("the tree before iteration {number} was not kept, or is not there any more")]
    NoCheckpoint { number: u64 },
    #[error(
        "{} is there: a git works in this tree, or was killed in it, and nothing was touched; \
         when no git runs here any more, remove that file and give the command again",
        path.display()
    )]
    IndexLocked { path: PathBuf },
    #[error("{cause}\n{done}; all that was there is kept in {kept}: when the cause is gone, `{back}` goes back to it")]
    HalfUndone { cause: Box<RunnerError>, done: &'static str, kept: String, back: String },
    #[error("no checkpoint of this work tree is called `{id}`")]
    NoKeptTree { id: String },
    #[error("more than one checkpoint of this work tree begins with `{id}`; give more letters of it")]
    SeveralKeptTrees { id: String },
    #[error(
        "commits were made since, and are not taken off the branch:\n  {}\n\
         `taut undo {id} <path>…` brings single files or folders back and leaves the rest as it is",
        commits.join("\n  ")
    )]
    CommitsSince { commits: Vec<String>, id: String },
    #[error("nothing was undone in this work tree, so nothing can be taken back")]
    NoUndo,
    #[error(
        "commits were made that are not this run's, and are not taken off the branch:\n  {}\n\
         `git reset --keep {head}` goes back over them too",
        commits.join("\n  ")
    )]
    OthersCommits { commits: Vec<String>, head: String },
    #[error("the run left this work tree on {left}, and it is on {now}; `git switch {left}` first")]
    OtherBranch { left: String, now: String },
    #[error("files changed while you were asked, and nothing was done; give the command again")]
    ChangedMeanwhile,
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
