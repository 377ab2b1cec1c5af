//! The queue's own way: read, look at the world, decide, write. The command
//! line, the daemon's reaper and a supervisor all claim and let go through here.

mod caller;
mod claim;
mod look;
mod planning;
mod proof;
mod reap;
mod settle;
mod sync;
mod token;
mod transfer;
mod verify;
mod workers;

pub use caller::{TaskCaller, caller};
pub use claim::Claimed;
pub use planning::TaskChange;
pub use reap::Reaped;
pub use settle::Settled;
pub use sync::{MissingTasks, PlannedTasks, Rehearsal, SyncMode, Synced, UnknownDeps, read_plan};
pub use transfer::{MovePlan, Moved, TaskLeft};
pub use workers::hostname;

pub(crate) use reap::lives;

use engine::queue::{Refusal, TaskLineError};
use engine::redact;
use model::task::{ClockReading, Queued, TaskTransition};
use store::{Durability, Error, Store, Tx};

/// An open queue, and the clock it asks. What is written counts from the moment
/// its transaction began: waiting for the lock may have taken half a minute.
pub struct Queue<'s, C = fn() -> ClockReading> {
    store: &'s mut Store,
    clock: C,
}

#[derive(Debug, thiserror::Error)]
pub enum QueueError {
    #[error(transparent)]
    Store(#[from] Error),
    #[error("task '{slug}' not found; `taut task list --all` shows every task of this project")]
    NotFound { slug: String },
    #[error("{}", refusal.sentence(slug))]
    Refused { slug: String, refusal: Refusal },
    #[error("{}", lines.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Lines { lines: Vec<TaskLineError> },
    #[error("{0}")]
    Wrong(String),
}

impl<'s, C: Fn() -> ClockReading> Queue<'s, C> {
    pub fn new(store: &'s mut Store, clock: C) -> Self {
        Self { store, clock }
    }

    pub fn store(&self) -> &Store {
        self.store
    }

    /// One transaction, at the moment it has the lock.
    fn transact<T>(
        &mut self,
        durability: Durability,
        work: impl FnOnce(&Tx<'_>, &ClockReading) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let clock = &self.clock;
        self.store.transact(durability, |tx| work(tx, &clock()))
    }

    /// One durable transaction. What it finds wrong undoes all of it.
    fn all_or_nothing<T>(
        &mut self,
        work: impl FnOnce(&Tx<'_>, &ClockReading) -> Result<T, QueueError>,
    ) -> Result<T, QueueError> {
        let mut wrong = None;
        let done = self.transact(Durability::Full, |tx, moment| {
            work(tx, moment).map_err(|error| match error {
                QueueError::Store(cause) => cause,
                other => Error::Refused(wrong.insert(other).to_string()),
            })
        });
        done.map_err(|cause| wrong.unwrap_or(QueueError::Store(cause)))
    }
}

fn known(tx: &Tx<'_>, project: &str, slug: &str) -> Result<Queued, QueueError> {
    tx.queued(project, slug)?.ok_or_else(|| QueueError::NotFound { slug: slug.to_string() })
}

fn refused(task: &Queued, refusal: Refusal) -> QueueError {
    QueueError::Refused { slug: task.slug.clone(), refusal }
}

fn write(tx: &Tx<'_>, turn: TaskTransition) -> Result<(), Error> {
    tx.apply(&[model::effect::Write::Task(Box::new(redact::turn(turn)))])
}
