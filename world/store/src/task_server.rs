//! A queue that stands on a server: what is asked of it, as plain data. Who asks does not know which server answers,
//! and the moments that it tells are moved onto this machine's clock by whoever talks to it.

use crate::{Dependency, Error, QueueLook, TaskEdit, TaskFilter, Tx, WaitingTasks};
use model::Ms;
use model::effect::Write;
use model::task::{Attempt, AttemptChange, AttemptOutcome, Queued, Task, TaskPlan, TaskStatus, TaskTransition};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// Why a server did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ServerError {
    /// It cannot be reached or did not answer in time, so nothing is known of what was asked. It may be asked again.
    #[error("{0}")]
    Away(String),
    /// It answered, and somebody else's open transaction, or their turn, is in the way of this: asked again later it may be done.
    #[error("{0}")]
    Busy(String),
    /// It answered, and will not, however often it is asked: credentials, rights, versions. In words, with what helps.
    #[error("{0}")]
    Refused(String),
}

/// Which queue of which server a project has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuePlace {
    /// The server's own id: the same by whatever address it is reached.
    pub server: String,
    /// What the queue is called there.
    pub queue: String,
    /// The server as people know it: host and database, never a secret.
    pub shown: String,
}

/// A claim that may be sent again: it is made once, whatever became of the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimWish {
    /// This task alone, or the first that is eligible.
    pub slug: Option<String>,
    pub agent: String,
    pub session: Option<String>,
    pub lease_ms: i64,
    /// Drawn by the claimant, a UUID: the second half of the fence, and the key of the repetition.
    pub claim: String,
}

/// A claim that was made. `task.queued.row` is the server's id.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerClaim {
    pub task: Task,
    pub claim: String,
    pub blocker_results: Vec<(String, Value)>,
}

/// What must be true of the lease at the moment a turn is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LeaseNeed {
    Live,
    Lapsed,
}

/// A decided change of one task, as the server is told: lengths of time and no moments. Also what waits in the outbox.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServerTurn {
    pub id: i64,
    pub slug: String,
    pub was: String,
    pub attempt: i64,
    pub claim: Option<String>,
    pub need: Option<LeaseNeed>,
    pub status: String,
    pub retry_count: i64,
    pub failures: i64,
    pub releases: i64,
    pub fail_reason: Option<String>,
    pub rest_ms: Option<i64>,
    pub result: Option<Value>,
    /// The attempt ends with this turn: how, and why.
    pub outcome: Option<String>,
    pub reason: Option<String>,
    /// -1 where those who wait may go on, 1 where they must wait again.
    pub step: i64,
}

/// What became of a turn.
#[derive(Debug, Clone, PartialEq)]
pub enum TurnAnswer {
    Written,
    /// This very word was heard before, and its answer was lost.
    Already,
    /// The task does not stand as it did: where it is now. `None` where there is no such task any more.
    Lost(Option<Box<TaskStanding>>),
}

/// A task as the server has it, and the attempt that somebody asks about.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskStanding {
    /// Its `row` is the server's id.
    pub task: Queued,
    /// The claim of the live attempt.
    pub claim: Option<String>,
    /// The machine that has it, as people call it.
    pub machine: Option<String>,
    pub mine: Option<Attempt>,
}

/// Which attempt on a task is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptKey<'a> {
    Claim(&'a str),
    Number(i64),
    /// The newest of this agent on this machine.
    Agent(&'a str),
}

/// A lease that is to go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Renewal {
    pub id: i64,
    pub attempt: i64,
    pub claim: String,
    /// How long ago its agent was last seen alive.
    pub age_ms: i64,
    pub lease_ms: Option<i64>,
}

/// What became of renewals. Whose id is in neither list has lost the task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Renewed {
    pub kept: Vec<RenewedLease>,
    /// Still held and not renewed: somebody else has the row locked.
    pub locked: Vec<i64>,
}

/// A lease that goes on, for as long as the server says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RenewedLease {
    pub id: i64,
    pub lease_ms: i64,
}

/// What a machine holds by the server's word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldThere {
    pub id: i64,
    pub slug: String,
    pub attempt: i64,
    pub claim: String,
    pub agent: String,
    /// How long ago it was claimed or renewed.
    pub silent_ms: i64,
    pub retry_count: i64,
    pub failures: i64,
    pub releases: i64,
}

/// The queue of one project on a server. A verb is sent again whole after a broken connection: each is idempotent.
pub trait TaskServer {
    fn place(&self) -> &QueuePlace;

    /// Reached now, so that `place` tells which server answers and not which one was met last.
    fn meet(&mut self) -> Result<(), ServerError> {
        Ok(())
    }

    fn task(&mut self, slug: &str) -> Result<Option<Task>, ServerError>;
    /// By priority, then age.
    fn tasks(&mut self, filter: &TaskFilter) -> Result<Vec<Task>, ServerError>;
    fn attempts(&mut self, slug: &str) -> Result<Vec<Attempt>, ServerError>;
    fn blocker_results(&mut self, slug: &str) -> Result<Vec<(String, Value)>, ServerError>;
    fn dependencies_below(&mut self, slug: &str) -> Result<Vec<Dependency>, ServerError>;
    fn tasks_of_document(&mut self, spec: &str) -> Result<Vec<Queued>, ServerError>;
    fn waiting(&mut self) -> Result<WaitingTasks, ServerError>;
    fn look(&mut self) -> Result<QueueLook, ServerError>;
    fn standing(&mut self, slug: &str, mine: AttemptKey<'_>) -> Result<Option<TaskStanding>, ServerError>;

    /// `None` where nothing is eligible now.
    fn claim(&mut self, wish: &ClaimWish) -> Result<Option<ServerClaim>, ServerError>;
    /// One turn, with the grace of a server that was away.
    fn settle(&mut self, turn: &ServerTurn) -> Result<TurnAnswer, ServerError>;
    /// Gives the ids of those that were written: what one is refused for holds up no other.
    fn turns(&mut self, turns: &[ServerTurn]) -> Result<Vec<i64>, ServerError>;
    fn renew(&mut self, holds: &[Renewal]) -> Result<Renewed, ServerError>;
    /// Leases that ran out, with the claim that had them, for the engine to decide over.
    fn lapsed(&mut self, most: usize) -> Result<Vec<TaskStanding>, ServerError>;
    /// All that this machine holds.
    fn held(&mut self) -> Result<Vec<HeldThere>, ServerError>;

    /// One transaction under the project's lock. The work may be done again, where somebody's turn came between; an
    /// error of its own undoes everything.
    fn plan(&mut self, work: &mut dyn FnMut(&dyn PlanRows) -> Result<(), Error>) -> Result<(), Error>;
}

/// What planning reads and writes, in a transaction here or on a server.
pub trait PlanRows {
    /// These will be asked for: a server is asked once for all of them.
    fn prefetch(&self, slugs: &[&str]) -> Result<(), Error>;
    fn queued(&self, project: &str, slug: &str) -> Result<Option<Queued>, Error>;
    fn queued_by(&self, project: &str, filter: &TaskFilter) -> Result<Vec<Queued>, Error>;
    fn tasks_of_spec(&self, project: &str, spec: &str) -> Result<Vec<Queued>, Error>;
    fn add_task(&self, project: &str, plan: &TaskPlan, now: Ms) -> Result<Queued, Error>;
    fn rewrite_task(&self, task: &Queued, plan: &TaskPlan, now: Ms) -> Result<(), Error>;
    fn replan_task(&self, task: &Queued, plan: &TaskPlan, now: Ms) -> Result<(), Error>;
    fn edit_task(&self, task: &Queued, edit: &TaskEdit, now: Ms) -> Result<(), Error>;
    fn set_blockers(&self, task: &Queued, blockers: &[Queued]) -> Result<(), Error>;
    fn add_blockers(&self, task: &Queued, blockers: &[Queued]) -> Result<(), Error>;
    fn remove_blocker(&self, task: &Queued, blocker: &Queued) -> Result<bool, Error>;
    /// Whether the task waits for itself.
    fn leads_back(&self, task: &Queued) -> Result<bool, Error>;
    fn dependencies(&self, project: &str) -> Result<BTreeMap<String, Vec<String>>, Error>;
    fn finish_step(&self, task: &Queued, seq: i64) -> Result<bool, Error>;
    fn verify_of(&self, task: &Queued) -> Result<Option<String>, Error>;
    fn turn(&self, turn: TaskTransition) -> Result<(), Error>;
}

impl Renewed {
    /// For how long a lease goes on by the server's word.
    pub fn lease_of(&self, id: i64) -> Option<i64> {
        self.kept.iter().find(|kept| kept.id == id).map(|kept| kept.lease_ms)
    }
}

impl ServerTurn {
    /// `task.row` in the transition need not be the server's: `id` is.
    pub fn of(turn: &TaskTransition, id: i64, claim: Option<String>, need: Option<LeaseNeed>) -> Self {
        let after = &turn.after;
        let (outcome, reason) = match &turn.attempt {
            AttemptChange::Ended { outcome, reason, .. } => (Some(outcome.name().to_string()), reason.clone()),
            AttemptChange::None | AttemptChange::Proposed | AttemptChange::Begun(_) => (None, None),
        };
        let step = i64::from(turn.before.0.unblocks()) - i64::from(after.status.unblocks());
        Self {
            id,
            slug: after.slug.clone(),
            was: turn.before.0.name().to_string(),
            attempt: turn.before.1,
            claim,
            need,
            status: after.status.name().to_string(),
            retry_count: after.retry_count,
            failures: after.failures,
            releases: after.releases,
            fail_reason: after.fail_reason.clone(),
            rest_ms: Some(after.ready_at.since(turn.at)).filter(|rest| after.ready_at > turn.at && *rest > 0),
            result: turn.result.clone(),
            outcome,
            reason,
            step,
        }
    }

    pub fn outcome(&self) -> Option<AttemptOutcome> {
        self.outcome.as_deref().and_then(AttemptOutcome::parse)
    }

    pub fn status(&self) -> TaskStatus {
        TaskStatus::parse(&self.status).unwrap_or(TaskStatus::Open)
    }
}

impl PlanRows for Tx<'_> {
    fn prefetch(&self, _: &[&str]) -> Result<(), Error> {
        Ok(())
    }

    fn queued(&self, project: &str, slug: &str) -> Result<Option<Queued>, Error> {
        Tx::queued(self, project, slug)
    }

    fn queued_by(&self, project: &str, filter: &TaskFilter) -> Result<Vec<Queued>, Error> {
        Tx::queued_by(self, project, filter)
    }

    fn tasks_of_spec(&self, project: &str, spec: &str) -> Result<Vec<Queued>, Error> {
        Tx::tasks_of_spec(self, project, spec)
    }

    fn add_task(&self, project: &str, plan: &TaskPlan, now: Ms) -> Result<Queued, Error> {
        Tx::add_task(self, project, plan, now)
    }

    fn rewrite_task(&self, task: &Queued, plan: &TaskPlan, now: Ms) -> Result<(), Error> {
        Tx::rewrite_task(self, task, plan, now)
    }

    fn replan_task(&self, task: &Queued, plan: &TaskPlan, now: Ms) -> Result<(), Error> {
        Tx::replan_task(self, task, plan, now)
    }

    fn edit_task(&self, task: &Queued, edit: &TaskEdit, now: Ms) -> Result<(), Error> {
        Tx::edit_task(self, task, edit, now)
    }

    fn set_blockers(&self, task: &Queued, blockers: &[Queued]) -> Result<(), Error> {
        Tx::set_blockers(self, task, blockers)
    }

    fn add_blockers(&self, task: &Queued, blockers: &[Queued]) -> Result<(), Error> {
        Tx::add_blockers(self, task, blockers)
    }

    fn remove_blocker(&self, task: &Queued, blocker: &Queued) -> Result<bool, Error> {
        Tx::remove_blocker(self, task, blocker)
    }

    fn leads_back(&self, task: &Queued) -> Result<bool, Error> {
        Tx::leads_back(self, task)
    }

    fn dependencies(&self, project: &str) -> Result<BTreeMap<String, Vec<String>>, Error> {
        Tx::dependencies(self, project)
    }

    fn finish_step(&self, task: &Queued, seq: i64) -> Result<bool, Error> {
        Tx::finish_step(self, task, seq)
    }

    fn verify_of(&self, task: &Queued) -> Result<Option<String>, Error> {
        Tx::verify_of(self, task)
    }

    fn turn(&self, turn: TaskTransition) -> Result<(), Error> {
        self.apply(&[Write::Task(Box::new(turn))])
    }
}
