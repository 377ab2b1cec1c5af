//! Refs go with the runs they belong to. The background process changes no repository, so a loop does it when it begins.

use super::REFS;
use super::git::{CheckpointGit, UsedIndex};
use model::Ms;
use std::time::{Duration, SystemTime};

/// Younger ones may belong to somebody else's store, and stay; so long are runs remembered.
const REMEMBERED_MS: i64 = 90 * 86_400_000;
/// A private index that nobody has written for so long is what a killed run left.
const LEFT_BEHIND: Duration = Duration::from_secs(7 * 86_400);

/// Those of runs that nobody knows any more, and of old undos. What fails here is done the next time.
pub(super) fn drop_forgotten(git: &CheckpointGit, is_known: impl Fn(&str) -> bool, now: Ms) {
    clear_folder(git);
    let format = "--format=%(committerdate:unix) %(refname)";
    let Ok(text) = git.text(&["for-each-ref", format, &format!("{REFS}/")]) else { return };
    let forgotten = |line: &&str| {
        let Some((seconds, name)) = line.split_once(' ') else { return false };
        let old =
            seconds.parse::<i64>().is_ok_and(|seconds| now.since(Ms(seconds.saturating_mul(1000))) > REMEMBERED_MS);
        let run = name.strip_prefix(REFS).and_then(|rest| rest.trim_start_matches('/').split('/').next());
        old && run.is_some_and(|run| !is_known(run))
    };
    let lines = text.lines().filter(forgotten).filter_map(|line| line.split_once(' '));
    let gone: String = lines.map(|(_, name)| format!("delete {name}\n")).collect();
    if !gone.is_empty() {
        let _ = git.run(UsedIndex::Real, &["update-ref", "--stdin"], Some(gone.as_bytes()));
    }
}

/// What killed processes left of private indexes.
pub(crate) fn clear_folder(git: &CheckpointGit) {
    let entries = git.private().parent().and_then(|folder| std::fs::read_dir(folder).ok());
    for entry in entries.into_iter().flatten().flatten() {
        let written = entry.metadata().and_then(|meta| meta.modified());
        if written.is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age > LEFT_BEHIND)) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}
