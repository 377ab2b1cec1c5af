//! The commits that a run made, as its summary lists them.

use crate::work_state::git;
use model::run::Run;
use std::path::Path;

/// A commit, by what people call it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunCommit {
    pub hash: String,
    pub subject: String,
}

/// The newest first, and no more than these. What was committed after the run ended is not its own.
pub fn run_commits(run: &Run, most: usize) -> Vec<RunCommit> {
    let Some(base) = &run.base else { return Vec::new() };
    let range = format!("{base}..HEAD");
    let most = format!("--max-count={most}");
    // A second later: git counts in whole ones.
    let until = run.finished_at.map(|at| format!("--until={}", at.0.div_euclid(1000) + 1));
    let mut args = vec!["log", "--no-color", "--format=%h%x00%s", &most];
    args.extend(until.as_deref());
    args.extend(["--end-of-options", &range, "--"]);
    let text = git(Path::new(&run.folder), &args).unwrap_or_default();
    let commit = |line: &str| {
        let (hash, subject) = line.split_once('\0')?;
        Some(RunCommit { hash: hash.to_string(), subject: subject.to_string() })
    };
    text.lines().filter_map(commit).collect()
}
