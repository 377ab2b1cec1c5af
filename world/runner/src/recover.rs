//! Loops that were killed: found by their row, stopped, and made whole.

use crate::RunnerError;
use crate::desk::Desk;
use host::paths::Places;
use model::fact::Life;
use model::run::{Finish, Run};
use std::path::Path;
use std::time::Duration;

/// A run whose process is gone.
#[derive(Debug, Clone, PartialEq)]
pub struct Abandoned {
    pub run: Run,
}

const GRACE: Duration = Duration::from_secs(2);

/// Runs of this work tree that nobody ends any more.
pub fn abandoned(folder: &Path, places: &Places) -> Result<Vec<Abandoned>, RunnerError> {
    let desk = Desk::open(&places.state())?;
    found(&desk, &folder.to_string_lossy())
}

/// Ends them for good: what they started is stopped, what it held released.
pub fn reap(folder: &Path, places: &Places) -> Result<Vec<Abandoned>, RunnerError> {
    let mut desk = Desk::open(&places.state())?;
    let found = found(&desk, &folder.to_string_lossy())?;
    for abandoned in &found {
        make_whole(&mut desk, &abandoned.run)?;
        let now = host::clock::now();
        desk.save(&Run { finish: Some(Finish::Error), finished_at: Some(now), leader: None, ..abandoned.run.clone() })?;
    }
    Ok(found)
}

pub(crate) fn found(desk: &Desk, folder: &str) -> Result<Vec<Abandoned>, RunnerError> {
    let runs = desk.store().unfinished_runs(folder)?;
    Ok(runs.into_iter().filter(|run| !lives(run)).map(|run| Abandoned { run }).collect())
}

/// A run of this work tree that is alive.
pub(crate) fn busy(desk: &Desk, folder: &str) -> Result<Option<Run>, RunnerError> {
    Ok(desk.store().unfinished_runs(folder)?.into_iter().find(lives))
}

/// The agent it left behind is stopped first, so that nobody works on a task that is given to another.
pub(crate) fn make_whole(desk: &mut Desk, run: &Run) -> Result<(), RunnerError> {
    if let Some(leader) = run.leader {
        host::process_group::stop(leader, GRACE);
    }
    if let Some(agent) = &run.agent {
        desk.release(agent)?;
        desk.deregister(agent)?;
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
