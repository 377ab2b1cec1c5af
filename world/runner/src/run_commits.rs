//! The commits that a run made, as its summary lists them.

use crate::parallel::landing_word;
use crate::work_state::git;
use model::run::Run;
use std::path::Path;

/// A commit, by what people call it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunCommit {
    pub hash: String,
    pub subject: String,
}

/// So many landings of one run are looked up.
const MOST_LANDINGS: usize = 1000;

/// The newest first, and no more than these. What was committed after the run ended is not its own.
pub fn run_commits(run: &Run, most: usize) -> Vec<RunCommit> {
    let Some(base) = &run.base else { return Vec::new() };
    // A second later: git counts in whole ones.
    let until = run.finished_at.map(|at| format!("--until={}", at.0.div_euclid(1000) + 1));
    listed(run, &format!("{base}..HEAD"), until.as_deref(), most)
}

/// What a run with several workers brought onto its branch, or beside it: the log of the branch knows. What others committed
/// meanwhile is theirs.
pub fn landed_commits(run: &Run, most: usize) -> Vec<RunCommit> {
    let aside = format!("refs/heads/taut/{}/_merged", run.short());
    let own = run.branch.as_ref().map(|own| format!("refs/heads/{own}"));
    let word = landing_word(run.short());
    let mut commits: Vec<RunCommit> = Vec::new();
    for branch in std::iter::once(aside).chain(own) {
        let moves = git(Path::new(&run.folder), &["log", "-g", "--no-color", "--format=%gs", &branch, "--"]);
        let moves = moves.unwrap_or_default();
        let landings = moves.lines().filter_map(|line| line.strip_prefix(&word)?.split_whitespace().next());
        for range in landings.map(|range| range.trim_end_matches(':')).take(MOST_LANDINGS) {
            for commit in listed(run, range, None, most) {
                if commits.len() < most && !commits.contains(&commit) {
                    commits.push(commit);
                }
            }
        }
    }
    commits
}

/// Those of these branches that are still there; all of them where git does not say.
pub fn standing_branches(folder: &Path, names: Vec<String>) -> Vec<String> {
    let full: Vec<String> = names.iter().map(|name| format!("refs/heads/{name}")).collect();
    let args: Vec<&str> =
        ["for-each-ref", "--format=%(refname)"].into_iter().chain(full.iter().map(String::as_str)).collect();
    match git(folder, &args) {
        Some(found) if !names.is_empty() => names
            .into_iter()
            .filter(|name| found.lines().any(|line| line.strip_prefix("refs/heads/") == Some(name)))
            .collect(),
        _ => names,
    }
}

fn listed(run: &Run, range: &str, until: Option<&str>, most: usize) -> Vec<RunCommit> {
    let most = format!("--max-count={most}");
    let mut args = vec!["log", "--no-color", "--format=%h%x00%s", &most];
    args.extend(until);
    args.extend(["--end-of-options", range, "--"]);
    let text = git(Path::new(&run.folder), &args).unwrap_or_default();
    let commit = |line: &str| {
        let (hash, subject) = line.split_once('\0')?;
        Some(RunCommit { hash: hash.to_string(), subject: subject.to_string() })
    };
    text.lines().filter_map(commit).collect()
}
