//! Loops that were killed: found by their row, stopped, and made whole.

use crate::child::identity;
use crate::job::{Job, Resume};
use crate::run_store::RunStore;
use crate::{RunMessage, RunnerError, Tell, work_state};
use model::Ms;
use model::fact::Life;
use model::run::{Finish, Run};
use std::time::Duration;

/// A run whose process is gone.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Abandoned {
    pub run: Run,
}

const GRACE: Duration = Duration::from_secs(2);
/// A worker ends its agent first.
const WORKER_GRACE: Duration = Duration::from_secs(8);

/// The run that begins now, saved: a new one, or the one that was killed. What
/// else was left behind is cleared away first.
pub(crate) fn take_over(job: &Job, run_store: &mut RunStore, tell: &dyn Tell) -> Result<Run, RunnerError> {
    let folder = job.folder.to_string_lossy().into_owned();
    if let Some(other) = busy(run_store, &folder)? {
        return Err(RunnerError::Busy { folder, pid: other.runner.pid });
    }
    let left = found(run_store, &folder)?;
    let resumes = |run: &&Run| job.resume == Resume::Last && run.mode == job.mode;
    let resumed = left.iter().map(|abandoned| &abandoned.run).find(resumes).cloned();
    if job.resume == Resume::Last && resumed.is_none() {
        return Err(RunnerError::NothingToResume { folder });
    }
    let now = host::clock::now();
    for Abandoned { run } in &left {
        make_whole(run_store, run)?;
        if resumed.as_ref().is_none_or(|resumed| resumed.id != run.id) {
            run_store.save(&Run {
                finish: Some(Finish::Error),
                finished_at: Some(now),
                leader: None,
                ..run.clone()
            })?;
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
    // The iteration it was killed in never ended, and is done again.
    let ended = run_store.store().iterations(&run.id)?.last().map_or(0, |last| last.number);
    run.tally.iterations = run.tally.iterations.min(ended);
    (run.runner, run.leader, run.agent) = (runner, None, worker);
    run_store.save(&run)?;
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
        limits: Some(job.limits()),
        ..Run::default()
    }
}

pub(crate) fn found(run_store: &RunStore, folder: &str) -> Result<Vec<Abandoned>, RunnerError> {
    let runs = run_store.store().unfinished_runs(folder)?;
    Ok(runs.into_iter().filter(|run| !lives(run)).map(|run| Abandoned { run }).collect())
}

/// A run of this work tree that is alive.
pub(crate) fn busy(run_store: &RunStore, folder: &str) -> Result<Option<Run>, RunnerError> {
    Ok(run_store.store().unfinished_runs(folder)?.into_iter().find(lives))
}

/// The agent it left behind is stopped first, so that nobody works on a task that is given to another.
pub(crate) fn make_whole(run_store: &mut RunStore, run: &Run) -> Result<(), RunnerError> {
    if let Some(leader) = run.leader {
        host::process_group::stop(leader, GRACE);
    }
    if let Some(agent) = &run.agent {
        run_store.release(agent)?;
        run_store.deregister(agent)?;
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
    }
    let why = Some("its process was killed".to_string());
    run_store.save(&Run { finish: Some(Finish::Error), finished_at: Some(now), leader: None, why, ..run.clone() })
}
