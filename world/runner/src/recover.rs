//! Runs that were begun before: one that goes on, and those that were killed, found by their row, stopped, and made whole.

use crate::child::identity;
use crate::job::{Job, Resume};
use crate::run_store::RunStore;
use crate::{RunMessage, RunnerError, Tell, work_state};
use model::Ms;
use model::fact::Life;
use model::run::{Finish, Run, RunMode, RunProgress, RunState, Tally};
use std::path::Path;
use std::time::Duration;
use store::Store;

const GRACE: Duration = Duration::from_secs(2);
/// A worker ends its agent first.
const WORKER_GRACE: Duration = Duration::from_secs(8);
const PATIENCE: Duration = Duration::from_secs(10);

/// The run that begins now, saved: a new one, or the one that goes on. What else was left behind is cleared away
/// first. From the lock on nobody else begins here.
pub(crate) fn take_over(job: &Job, run_store: &mut RunStore, tell: &dyn Tell) -> Result<Run, RunnerError> {
    let lock = job.lock_tree()?;
    let folder = job.folder.to_string_lossy().into_owned();
    let unfinished = run_store.store().unfinished_runs(&folder)?;
    // One of an older version takes no lock.
    if let Some(other) = unfinished.iter().find(|run| lives(run)) {
        return Err(taken(other));
    }
    let resumed = job.resumed.as_ref().map(|asked| again(run_store.store(), asked)).transpose()?;
    let now = host::clock::now();
    for run in &unfinished {
        make_whole(run_store, run)?;
        if resumed.as_ref().is_none_or(|resumed| resumed.id != run.id) {
            run_store.save(&cleared_away(run, now))?;
            let words = format!("a loop that was killed in iteration {} was cleared away", run.tally.iterations);
            tell.show(&RunMessage::Note(words));
        }
    }
    let runner = identity(std::process::id());
    let worker = match &job.worker {
        // Whoever started it has registered it, and claimed for it.
        Some(worker) => Some(worker.agent.clone()),
        None if job.queue => Some(run_store.register(&job.project, runner)?),
        None => None,
    };
    let mut run = resumed.unwrap_or_else(|| fresh(job, folder, now));
    lock.name(&run.id)?;
    // The iteration it was killed in never ended, and is done again.
    run.tally.iterations = run.tally.iterations.min(ended_iterations(run_store.store(), &run)?);
    (run.runner, run.leader, run.agent) = (runner, None, worker);
    (run.asked, run.limits) = (Some(job.asked.clone()), Some(job.limits()));
    run_store.save(&run)?;
    run_store.drop_wish(&run.id)?;
    Ok(run)
}

fn fresh(job: &Job, folder: String, now: Ms) -> Run {
    Run {
        id: host::clock::uuid(now),
        project: job.project.clone(),
        folder,
        mode: job.mode,
        base: work_state::head(&job.folder),
        branch: job.branch.clone(),
        parent: job.worker.as_ref().map(|worker| worker.parent.clone()),
        task: job.worker.as_ref().map(|worker| worker.task.clone()),
        proves: job.worker.is_some(),
        started_at: now,
        ..Run::default()
    }
}

fn cleared_away(run: &Run, now: Ms) -> Run {
    Run {
        finish: Some(Finish::Error),
        finished_at: Some(now),
        why: Some("its process was killed, and another loop was started".to_string()),
        leader: None,
        live: RunProgress { state: RunState::Over, ..RunProgress::default() },
        ..run.clone()
    }
}

/// The run as it goes on. Who says so knows how it ended: what was counted in a row begins anew.
fn again(store: &Store, asked: &Run) -> Result<Run, RunnerError> {
    let run = store.stored_run(&asked.id)?.ok_or_else(|| nothing(&asked.folder, "its row is gone".to_string()))?;
    let run = resumable(run)?;
    let tally = match run.finish {
        Some(_) => Tally { failures: 0, idle: 0, skips: 0, transients: 0, same_failure: 0, ..run.tally },
        None => run.tally,
    };
    Ok(Run { tally, finish: None, finished_at: None, why: None, live: RunProgress::default(), ..run })
}

/// The run that is meant: by its id, else the newest of this work tree. The newest alone: an older one was given up when
/// another was begun.
pub(crate) fn target(state: &Path, folder: &Path, which: &Resume, mode: RunMode) -> Result<Option<Run>, RunnerError> {
    let folder = folder.to_string_lossy().into_owned();
    let none = || nothing(&folder, "none was started here".to_string());
    if *which == Resume::Fresh {
        return Ok(None);
    }
    if !state.join(store::DATABASE).exists() {
        return Err(none());
    }
    let store = Store::open_and_migrate(state, PATIENCE)?;
    let found = match which {
        Resume::Run(id) => store.stored_run(id)?,
        _ => store.runs_of_folder(&folder)?.into_iter().find(|run| run.mode == mode && run.parent.is_none()),
    };
    resumable(found.ok_or_else(none)?).map(Some)
}

fn resumable(run: Run) -> Result<Run, RunnerError> {
    match run.finish {
        Some(Finish::Complete) => Err(nothing(&run.folder, format!("the last one, {}, is complete", run.short()))),
        None if lives(&run) => Err(taken(&run)),
        _ => Ok(run),
    }
}

fn nothing(folder: &str, why: String) -> RunnerError {
    RunnerError::NothingToResume { folder: folder.to_string(), why }
}

/// A run of this work tree that is alive.
pub(crate) fn busy(run_store: &RunStore, folder: &str) -> Result<Option<Run>, RunnerError> {
    Ok(run_store.store().unfinished_runs(folder)?.into_iter().find(lives))
}

fn taken(run: &Run) -> RunnerError {
    RunnerError::Busy { folder: run.folder.clone(), pid: Some(run.runner.pid), run: Some(run.id.clone()) }
}

/// How many iterations of a run came to their end.
pub(crate) fn ended_iterations(store: &Store, run: &Run) -> Result<u64, RunnerError> {
    Ok(store.iterations(&run.id)?.last().map_or(0, |last| last.number))
}

/// The last moment a run is known to have been under way.
pub(crate) fn last_seen(state: &Path, run: &Run) -> Result<(Ms, u64), RunnerError> {
    let store = Store::open_and_migrate(state, PATIENCE)?;
    let own = store.iterations(&run.id)?;
    let (mut last, mut count) = (own.last().map(|last| last.ended_at), own.last().map_or(0, |last| last.number));
    count = count.min(run.tally.iterations);
    // A coordinator has the iterations of its workers.
    for worker in store.workers_of(&run.id)? {
        let ended = store.iterations(&worker.id)?.last().map(|last| last.ended_at);
        last = last.max(ended).max(worker.finished_at).max(Some(worker.started_at));
        count += worker.tally.iterations;
    }
    Ok((run.finished_at.or(last).unwrap_or(run.started_at), count))
}

/// The agent it left behind is stopped first, so that nobody works on a task that is given to another.
pub(crate) fn make_whole(run_store: &mut RunStore, run: &Run) -> Result<(), RunnerError> {
    if let Some(leader) = run.leader {
        host::process_group::stop(leader, GRACE);
    }
    if let Some(agent) = &run.agent {
        run_store.release(agent)?;
        run_store.deregister(agent)?;
        run_store.gave_up(agent);
    }
    Ok(())
}

fn lives(run: &Run) -> bool {
    match host::probe::life(run.runner.pid) {
        Some(Life::Gone) => false,
        Some(Life::Alive { started }) => run.runner.started == 0 || started == run.runner.started,
        None => true,
    }
}

/// A worker whose coordinator is gone, or that outlived it: it ends, its agent with it, and what it held goes back.
pub(crate) fn end_worker(run_store: &mut RunStore, run: &Run, now: Ms) -> Result<(), RunnerError> {
    if lives(run) {
        host::process_group::stop(run.runner, WORKER_GRACE);
    }
    // It may have come to its own end meanwhile, and said more of it than we know.
    match run_store.store().stored_run(&run.id)? {
        Some(Run { finished_at: Some(_), .. }) | None => Ok(()),
        Some(run) => close_killed(run_store, &run, now),
    }
}

/// The row of a worker whose process was killed.
pub(crate) fn close_killed(run_store: &mut RunStore, run: &Run, now: Ms) -> Result<(), RunnerError> {
    if let Some(leader) = run.leader {
        host::process_group::stop(leader, GRACE);
    }
    if let Some(agent) = &run.agent {
        run_store.release(agent)?;
        run_store.gave_up(agent);
    }
    let why = Some("its process was killed".to_string());
    run_store.save(&Run { finish: Some(Finish::Error), finished_at: Some(now), leader: None, why, ..run.clone() })
}
