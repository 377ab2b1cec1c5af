//! Looking at the work between two iterations: commits, files, plan and queue.

use crate::job::{Job, WorkerJob};
use crate::run_store::RunStore;
use engine::loops::{Open, Progress, WorkCount, WorkState, boxes};
use model::Ms;
use model::task::TaskStatus;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Stdio};
use store::TaskFilter;
use sys::outside::{self, Rules};

/// A larger plan is not read.
const LARGEST_PLAN: u64 = 4 << 20;

/// A folder that is no repository is looked at up to so many files.
const MOST_FILES: usize = 20_000;
/// A worker that waits for others' tasks looks again after this.
const LOOK_AGAIN_MS: i64 = 2_000;

pub(crate) fn seen(job: &Job, run_store: &RunStore, base: Option<&str>, now: Ms) -> WorkState {
    let head = head(&job.folder);
    let commits = match (base, &head) {
        (Some(base), Some(head)) if base != head => count(&job.folder, &format!("{base}..{head}")),
        // A repository that had no commit yet when the run began.
        (None, Some(head)) => count(&job.folder, head),
        _ => 0,
    };
    let tree = if job.terms.limits.progress == Progress::Any { tree(&job.folder, head.is_some()) } else { 0 };
    let (work, tasks) = if let Some(worker) = &job.worker {
        one_task(job, worker, run_store, now)
    } else if job.queue {
        queue(job, run_store, now)
    } else {
        (plan(job), 0)
    };
    WorkState { work, commits, head, tree, tasks, restart: false }
}

/// The commit the work tree is on; none where there is no repository or no commit.
pub(crate) fn head(folder: &Path) -> Option<String> {
    git(folder, &["rev-parse", "--verify", "-q", "HEAD"])
        .map(|text| text.trim().to_string())
        .filter(|text| !text.is_empty())
}

pub(crate) fn git(folder: &Path, args: &[&str]) -> Option<String> {
    let out = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(args)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    out.status.success().then(|| String::from_utf8_lossy(&out.stdout).into_owned())
}

fn count(folder: &Path, range: &str) -> u64 {
    git(folder, &["rev-list", "--count", range]).and_then(|text| text.trim().parse().ok()).unwrap_or_default()
}

/// Changed files with size and time, so that a second change of the same file shows.
fn tree(folder: &Path, repository: bool) -> u64 {
    let mut hash = DefaultHasher::new();
    if !repository {
        let mut left = MOST_FILES;
        walk(folder, &mut hash, &mut left);
        return hash.finish();
    }
    let status = git(folder, &["status", "--porcelain=v1", "-z", "--untracked-files=all"]).unwrap_or_default();
    for entry in status.split('\0') {
        entry.hash(&mut hash);
        if let Some(path) = entry.get(3..) {
            stamp(&folder.join(path), &mut hash);
        }
    }
    hash.finish()
}

fn stamp(path: &Path, hash: &mut DefaultHasher) {
    use std::os::unix::fs::MetadataExt;
    if let Ok(meta) = std::fs::symlink_metadata(path) {
        (meta.len(), meta.mtime(), meta.mtime_nsec()).hash(hash);
    }
}

fn walk(folder: &Path, hash: &mut DefaultHasher, left: &mut usize) {
    let mut entries: Vec<_> = std::fs::read_dir(folder).into_iter().flatten().flatten().collect();
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        if *left == 0 || matches!(entry.file_name().as_bytes(), b".git" | b".taut" | b".fresher") {
            continue;
        }
        *left -= 1;
        entry.path().hash(hash);
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            walk(&entry.path(), hash, left);
        } else {
            stamp(&entry.path(), hash);
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

/// A worker's whole work is its one task.
fn one_task(job: &Job, worker: &WorkerJob, run_store: &RunStore, now: Ms) -> (WorkCount, u64) {
    let Ok(task) = run_store.store().task(&job.project, &worker.task) else { return (WorkCount::Unknown, 0) };
    let queued = task.as_ref().map(|task| &task.queued);
    let mut hash = DefaultHasher::new();
    queued.map(|task| (task.status, task.attempt, task.is_proposed())).hash(&mut hash);
    (engine::loops::work_of_worker(queued, &worker.agent, now), hash.finish())
}

pub(crate) fn queue(job: &Job, run_store: &RunStore, now: Ms) -> (WorkCount, u64) {
    let store = run_store.store();
    let Ok(counts) = store.task_counts(&job.project) else { return (WorkCount::Unknown, 0) };
    let mut hash = DefaultHasher::new();
    (counts.open, counts.active, counts.done, counts.blocked, counts.quarantined, counts.deleted).hash(&mut hash);
    let claimable = TaskFilter { claimable_at: Some(now), limit: 1, ..TaskFilter::default() };
    let open = match store.tasks(&job.project, &claimable) {
        Ok(tasks) if tasks.is_empty() => {
            let some = |statuses: Vec<TaskStatus>| {
                store.tasks(&job.project, &TaskFilter { statuses, ..TaskFilter::default() }).unwrap_or_default()
            };
            let active = !some(vec![TaskStatus::Active]).is_empty();
            let free = some(vec![TaskStatus::Open]).into_iter().filter(|task| task.queued.open_blockers == 0);
            match free.map(|task| task.queued.ready_at).min() {
                Some(at) if at > now => Open::At(at),
                _ if active => Open::At(now.plus(LOOK_AGAIN_MS)),
                _ => Open::Never,
            }
        }
        _ => Open::Now,
    };
    let left = some_left(&counts);
    let done = counts.done.max(i64::from(left == 0)).cast_unsigned();
    (WorkCount::Counted { left, done, open }, hash.finish())
}

/// What is quarantined waits for a person, and is not done.
fn some_left(counts: &model::task::Counts) -> u64 {
    (counts.open + counts.active + counts.blocked + counts.quarantined).max(0).cast_unsigned()
}
