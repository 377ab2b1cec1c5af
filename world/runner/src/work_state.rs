//! Looking at the work between two iterations: commits, files, plan and queue.

use crate::claimable;
use crate::git_command::git_command;
use crate::job::Job;
use crate::run_store::RunStore;
use engine::loops::{Open, Progress, WorkCount, WorkState, boxes};
use model::Ms;
use model::run::Run;
use model::task::Task;
use pipeline::queue::QueueError;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Stdio;
use store::{QueueLook, TaskFilter};
use sys::outside::{self, Rules};

/// A larger plan is not read.
const LARGEST_PLAN: u64 = 4 << 20;

/// A folder that is no repository is looked at up to so many files.
const MOST_FILES: usize = 20_000;
/// So many bytes of changed files are read at one look.
const MOST_HASHED: u64 = 16 << 20;
/// A worker that waits for others' tasks looks again after this.
const LOOK_AGAIN_MS: i64 = 2_000;
/// A server that could not be reached is asked again after this.
const ASK_AGAIN_MS: i64 = 5_000;

pub(crate) fn seen(job: &Job, run_store: &mut RunStore, run: &Run, now: Ms) -> WorkState {
    let (head, tree) = match job.terms.limits.progress {
        Progress::Any => head_and_tree(&job.folder),
        Progress::Commits => (head(&job.folder), 0),
    };
    let commits = match (run.base.as_deref(), &head) {
        (Some(base), Some(head)) if base != head => count(&job.folder, &format!("{base}..{head}")),
        // A repository that had no commit yet when the run began.
        (None, Some(head)) => count(&job.folder, head),
        _ => 0,
    };
    let (work, tasks) = if job.queue { queue(job, run_store, run, now) } else { (plan(job), 0) };
    WorkState { work, commits, head, tree, tasks, restart: false, forgotten: None }
}

/// The commit the work tree is on; none where there is no repository or no commit.
pub(crate) fn head(folder: &Path) -> Option<String> {
    git(folder, &["rev-parse", "--verify", "-q", "HEAD"])
        .map(|text| text.trim().to_string())
        .filter(|text| !text.is_empty())
}

pub(crate) fn git(folder: &Path, args: &[&str]) -> Option<String> {
    let out = git_command(folder, []).args(args).stderr(Stdio::null()).output().ok()?;
    out.status.success().then(|| String::from_utf8_lossy(&out.stdout).into_owned())
}

fn count(folder: &Path, range: &str) -> u64 {
    git(folder, &["rev-list", "--count", range]).and_then(|text| text.trim().parse().ok()).unwrap_or_default()
}

/// The commit, and a mark of changed files and what they hold, so that a second change of the same file shows. Git is
/// asked once: its start is what a look costs.
fn head_and_tree(folder: &Path) -> (Option<String>, u64) {
    const STATUS: &[&str] =
        &["status", "--porcelain=v2", "--branch", "--no-ahead-behind", "-z", "--untracked-files=all"];
    let mut hash = DefaultHasher::new();
    let status = git(folder, STATUS).unwrap_or_default();
    let mut head = None;
    let mut budget = MOST_HASHED;
    for entry in status.split('\0').filter(|entry| !entry.is_empty()) {
        match entry.strip_prefix("# ") {
            Some(about) => head = head.or(about.strip_prefix("branch.oid ").filter(|oid| *oid != "(initial)")),
            None => {
                entry.hash(&mut hash);
                stamp(&folder.join(path_of(entry)), &mut hash, &mut budget);
            }
        }
    }
    if head.is_none() {
        let mut left = MOST_FILES;
        walk(folder, &mut hash, &mut left, &mut budget);
    }
    (head.map(str::to_string), hash.finish())
}

/// Behind so many fields, by the kind of the entry; what a file was called before is an entry of its own.
fn path_of(entry: &str) -> &str {
    let fields = match entry.as_bytes().first() {
        Some(b'1') => 9,
        Some(b'2') => 10,
        Some(b'u') => 11,
        Some(b'?') => 2,
        _ => 1,
    };
    entry.splitn(fields, ' ').nth(fields - 1).unwrap_or_default()
}

/// What a file holds: the same bytes written again are no change. Where that would be too much to read, its size and
/// time stand for it.
fn stamp(path: &Path, hash: &mut DefaultHasher, budget: &mut u64) {
    use std::os::unix::fs::MetadataExt;
    let Ok(meta) = std::fs::symlink_metadata(path) else { return };
    (meta.len(), meta.mode()).hash(hash);
    if meta.is_symlink() {
        return std::fs::read_link(path).ok().hash(hash);
    }
    if !meta.is_file() {
        return;
    }
    let read = (meta.len() <= *budget).then(|| outside::read(path, &Rules::up_to(*budget)).ok()).flatten();
    match read {
        Some(bytes) => {
            *budget = budget.saturating_sub(meta.len());
            bytes.hash(hash);
        }
        None => (meta.mtime(), meta.mtime_nsec()).hash(hash),
    }
}

fn walk(folder: &Path, hash: &mut DefaultHasher, left: &mut usize, budget: &mut u64) {
    let mut entries: Vec<_> = std::fs::read_dir(folder).into_iter().flatten().flatten().collect();
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        if *left == 0 || matches!(entry.file_name().as_bytes(), b".git" | b".taut" | b".fresher") {
            continue;
        }
        *left -= 1;
        entry.path().hash(hash);
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            walk(&entry.path(), hash, left, budget);
        } else {
            stamp(&entry.path(), hash, budget);
        }
    }
}

/// The file of the plan, or a plan in parts.
pub(crate) fn has_plan(folder: &Path, plan_file: &str) -> bool {
    Path::new(plan_file).is_file() || folder.join("impl/README.md").is_file()
}

/// The plan file; else the plans of `impl/`, which its README opens.
fn plan(job: &Job) -> WorkCount {
    let text = match outside::read_text(Path::new(&job.terms.plan_file), &Rules::up_to(LARGEST_PLAN)) {
        Ok(text) => text,
        Err(_) if job.folder.join("impl/README.md").is_file() => {
            let files = std::fs::read_dir(job.folder.join("impl")).into_iter().flatten().flatten();
            let plans = files.map(|file| file.path()).filter(|path| path.extension().is_some_and(|end| end == "md"));
            plans
                .filter_map(|path| outside::read_text(&path, &Rules::up_to(LARGEST_PLAN)).ok())
                .collect::<Vec<_>>()
                .join("\n")
        }
        Err(_) => return WorkCount::Unknown,
    };
    let boxes = boxes(&text);
    if !boxes.any() {
        return WorkCount::Unknown;
    }
    WorkCount::Counted { left: boxes.left(), done: boxes.done, open: Open::Now }
}

/// What lapsed is ended first. A worker sees its one task.
pub(crate) fn queue(job: &Job, run_store: &mut RunStore, run: &Run, now: Ms) -> (WorkCount, u64) {
    if let Some(slug) = &run.task {
        return one_task(job, run_store, run, slug);
    }
    run_store.take_back();
    let look = match run_store.look(&job.project) {
        Ok(look) => look,
        Err(error @ QueueError::Server { .. }) => {
            let (left, done) = (run.left.unwrap_or_default().max(1), run.done.unwrap_or_default());
            let open = Open::At(now.plus(ASK_AGAIN_MS));
            return (WorkCount::Counted { left, done, open }, run_store.missed(&error));
        }
        Err(_) => return (WorkCount::Unknown, 0),
    };
    let counts = look.counts;
    let mut hash = DefaultHasher::new();
    (counts.open, counts.active, counts.done, counts.blocked, counts.quarantined, counts.deleted).hash(&mut hash);
    let open = match look.next {
        _ if look.claimable > 0 && any_is_for_here(job, run_store, run, &look, now) => Open::Now,
        Some(next) => Open::At(next.max(now.plus(LOOK_AGAIN_MS))),
        None => Open::Never,
    };
    let left = some_left(&counts);
    let done = counts.done.max(i64::from(left == 0)).cast_unsigned();
    let mark = hash.finish();
    run_store.saw(mark);
    (WorkCount::Counted { left, done, open }, mark)
}

/// Whether anything that can be claimed can be worked on in this work tree.
fn any_is_for_here(job: &Job, run_store: &mut RunStore, run: &Run, look: &QueueLook, now: Ms) -> bool {
    let not_here = crate::parallel::not_here(run_store, &job.project, &run.folder).unwrap_or_default();
    if not_here.is_empty() {
        return true;
    }
    let mut hash = DefaultHasher::new();
    (format!("{:?}", look.counts), look.claimable, look.resting, &not_here).hash(&mut hash);
    let mark = hash.finish();
    if run_store.nothing_fits.holds(mark, now) {
        return false;
    }
    let ask = |run_store: &mut RunStore, limit: usize| {
        let some = TaskFilter { claimable_at: Some(now), limit, ..TaskFilter::default() };
        run_store.queue().tasks(&job.project, &some)
    };
    let is_for_here = |_: &mut RunStore, task: &Task| Ok(!not_here.contains(&task.plan.slug));
    let Ok(found) = claimable::first(run_store, not_here.len() + 1, ask, is_for_here) else { return true };
    let queued_here = run_store.queued_here(&job.project).unwrap_or_default();
    let passed = found.passed.iter().map(|task| task.plan.slug.as_str());
    run_store.found_queued_here(&passed.filter(|slug| queued_here.iter().any(|own| own == slug)).collect::<Vec<_>>());
    if found.first.is_none() {
        run_store.nothing_fits.found(mark, now);
    }
    found.first.is_some()
}

/// A worker's whole work is its one task.
fn one_task(job: &Job, run_store: &RunStore, run: &Run, slug: &str) -> (WorkCount, u64) {
    let Ok(task) = run_store.store().task(&job.project, slug) else { return (WorkCount::Unknown, 0) };
    let queued = task.as_ref().map(|task| &task.queued);
    let work = engine::loops::work_of_worker(queued, run.agent.as_deref().unwrap_or_default());
    let mut hash = DefaultHasher::new();
    (queued.map(|task| (task.status, task.attempt)), work == engine::loops::DONE).hash(&mut hash);
    (work, hash.finish())
}

/// What is quarantined waits for a person, and is not done.
fn some_left(counts: &model::task::Counts) -> u64 {
    (counts.open + counts.active + counts.blocked + counts.quarantined).max(0).cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l5_the_path_of_an_entry_is_found_whatever_its_kind_and_name() {
        let hashes = "1111111111111111111111111111111111111111 2222222222222222222222222222222222222222";
        for (entry, path) in [
            (format!("1 .M N... 100644 100644 100644 {hashes} a file.txt"), "a file.txt"),
            (format!("2 R. N... 100644 100644 100644 {hashes} R100 new name"), "new name"),
            (format!("u UU N... 100644 100644 100644 100644 {hashes} 33 both"), "both"),
            ("? new file".to_string(), "new file"),
            ("old name".to_string(), "old name"),
        ] {
            assert_eq!(path_of(&entry), path, "{entry}");
        }
    }
}
