//! The queue's own way: read, look at the world, decide, write. The command
//! line, the daemon's reaper and a supervisor all claim and let go through here.

mod caller;
mod claim;
mod look;
mod planning;
mod proof;
mod reap;
mod result_bounds;
mod settle;
mod shared;
mod shared_claim;
mod shared_lost;
mod shared_round;
mod shared_word;
mod sync;
mod token;
mod transfer;
mod transfer_there;
mod verify;
mod workers;

pub use caller::{TaskCaller, caller};
pub use claim::Claimed;
pub use planning::TaskChange;
pub use policy::config::sections::OnUnsure;
pub use reap::Reaped;
pub use settle::Settled;
pub use shared_round::SharedRound;
pub use sync::{MissingTasks, PlannedTasks, Rehearsal, SyncMode, Synced, UnknownDeps, read_plan};
pub use transfer::{MovePlan, MovedTasks, TaskLeft};
pub use workers::hostname;

pub(crate) use reap::lives;

use engine::queue::{Refusal, TaskLineError};
use engine::redact;
use model::Ms;
use model::task::{ClockReading, Queued, TaskTransition};
use std::ops::Deref;
use store::{Durability, Error, PlanRows, ServerError, Store, TaskServer, Tx};

/// An open queue, and the clock it asks. What is written counts from the moment
/// its transaction began: waiting for the lock may have taken half a minute.
/// Where the queue of a project is on a server, that one has the tasks and here is what agents of this machine hold.
pub struct Queue<'s, C = fn() -> ClockReading> {
    store: &'s mut Store,
    clock: C,
    server: Option<&'s mut (dyn TaskServer + 's)>,
}

/// What planning goes by: the rows, wherever they are, and whose work a loop on this machine proves.
struct PlanContext<'a> {
    rows: &'a dyn PlanRows,
    proves: &'a dyn Fn(&str) -> Result<Option<bool>, Error>,
    now: Ms,
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
    #[error("the queue {queue} is on {shown}, {}; `taut shared status` says more", said(error, shown))]
    Server { queue: String, shown: String, error: ServerError },
}

impl<'s, C: Fn() -> ClockReading> Queue<'s, C> {
    pub fn new(store: &'s mut Store, clock: C) -> Self {
        Self { store, clock, server: None }
    }

    /// The queue of the project is on this server.
    #[must_use]
    pub fn on(self, server: &'s mut (dyn TaskServer + 's)) -> Self {
        Self { server: Some(server), ..self }
    }

    pub fn is_shared(&self) -> bool {
        self.server.is_some()
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

    /// One transaction over the rows of the queue, here or on its server. What it finds wrong undoes all of it; where
    /// somebody's turn comes between, the work is done once more.
    fn plan<T>(&mut self, mut work: impl FnMut(&PlanContext<'_>) -> Result<T, QueueError>) -> Result<T, QueueError> {
        let (mut made, mut wrong) = (None, None);
        let mut note = |done: Result<T, QueueError>| match done {
            Ok(value) => {
                made = Some(value);
                Ok(())
            }
            Err(QueueError::Store(cause)) => Err(cause),
            Err(other) => Err(Error::Refused(wrong.insert(other).to_string())),
        };
        let clock = &self.clock;
        let done = match &mut self.server {
            None => self.store.transact(Durability::Full, |tx| {
                let proves = |agent: &str| tx.run_proves(agent);
                note(work(&PlanContext { rows: tx, proves: &proves, now: clock().now }))
            }),
            Some(server) => {
                let store: &Store = self.store;
                let proves = |agent: &str| store.run_proves(agent);
                server.plan(&mut |rows| note(work(&PlanContext { rows, proves: &proves, now: clock().now })))
            }
        };
        match (done, made, wrong) {
            (Ok(()), Some(made), _) => Ok(made),
            (_, _, Some(wrong)) => Err(wrong),
            (Err(cause), ..) => Err(self.of_server(cause)),
            (Ok(()), None, None) => Err(QueueError::Wrong("nothing was planned".into())),
        }
    }

    /// An error of the server names the queue and the server.
    fn of_server(&self, cause: impl Into<Error>) -> QueueError {
        match (cause.into(), &self.server) {
            (Error::Server(error), Some(server)) => {
                let place = server.place();
                QueueError::Server { queue: place.queue.clone(), shown: place.shown.clone(), error }
            }
            (other, _) => QueueError::Store(other),
        }
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

fn said(error: &ServerError, shown: &str) -> String {
    match error {
        // Whoever asked says so where it may have been done.
        ServerError::Away(why) if why.contains(shared_word::NOT_KNOWN) => {
            format!("which cannot be reached ({})", cause(why, shown))
        }
        ServerError::Away(why) => format!("which cannot be reached ({}): nothing was done", cause(why, shown)),
        ServerError::Refused(why) => format!("which refuses: {}", cause(why, shown)),
        ServerError::Busy(why) => format!("which could not do it now: {why}"),
    }
}

/// Why, without the server's name, which was said already.
pub(super) fn cause<'w>(why: &'w str, shown: &str) -> &'w str {
    let named = why.strip_prefix(shown);
    let rest = named.and_then(|why| why.strip_prefix(" cannot be reached: ").or(why.strip_prefix(" refuses: ")));
    rest.unwrap_or(why)
}

impl PlanContext<'_> {
    fn write(&self, turn: TaskTransition) -> Result<(), QueueError> {
        Ok(self.rows.turn(redact::turn(turn))?)
    }
}

impl<'a> Deref for PlanContext<'a> {
    type Target = dyn PlanRows + 'a;

    fn deref(&self) -> &Self::Target {
        self.rows
    }
}

fn known(rows: &dyn PlanRows, project: &str, slug: &str) -> Result<Queued, QueueError> {
    rows.queued(project, slug)?.ok_or_else(|| QueueError::NotFound { slug: slug.to_string() })
}

fn refused(task: &Queued, refusal: Refusal) -> QueueError {
    QueueError::Refused { slug: task.slug.clone(), refusal }
}

fn write(tx: &Tx<'_>, turn: TaskTransition) -> Result<(), Error> {
    tx.apply(&[model::effect::Write::Task(Box::new(redact::turn(turn)))])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn away(why: &str) -> String {
        let error = ServerError::Away(why.to_string());
        QueueError::Server { queue: "acme/shop".into(), shown: "db/taut".into(), error }.to_string()
    }

    #[test]
    fn x2_what_may_have_been_done_is_not_said_to_be_undone() {
        assert!(away("db/taut cannot be reached: gone").contains("cannot be reached (gone): nothing was done"));
        let planned = away("gone; whether the plan was written is not known: `taut task list` shows it");
        assert!(planned.contains("is not known") && !planned.contains("nothing was done"), "{planned}");
    }
}
