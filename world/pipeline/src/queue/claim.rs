//! Claiming: what is over is reaped and the first eligible task taken, in one transaction.

use super::{Queue, QueueError, known, refused, token, write};
use engine::queue::{self, Claimant};
use model::ClientProcess;
use model::task::{ClockReading, Hold, Queued, Task};
use serde_json::Value;
use store::{Durability, Error, Tx};

/// A task that is the caller's now.
#[derive(Debug, Clone, PartialEq)]
pub struct Claimed {
    pub task: Task,
    /// Lets whoever shows it act on this attempt. Told here and nowhere else.
    pub token: String,
    /// What its blockers resulted in, by slug.
    pub blocker_results: Vec<(String, Value)>,
}

impl<C: Fn() -> ClockReading> Queue<'_, C> {
    /// The first eligible task; `None` when there is none.
    pub fn claim_first(&mut self, project: &str, claimant: &Claimant) -> Result<Option<Claimed>, QueueError> {
        match self.claim(project, None, claimant) {
            Err(QueueError::NotFound { slug }) if slug.is_empty() => Ok(None),
            claimed => claimed.map(Some),
        }
    }

    /// This one, if it is eligible.
    pub fn claim_one(&mut self, project: &str, slug: &str, claimant: &Claimant) -> Result<Claimed, QueueError> {
        self.claim(project, Some(slug), claimant)
    }

    /// Notes which process group Taut started for a live attempt, so that a
    /// reclaim may stop it first.
    pub fn runs(&mut self, project: &str, slug: &str, leader: ClientProcess) -> Result<bool, QueueError> {
        self.all_or_nothing(|tx, _| {
            let task = known(tx, project, slug)?;
            Ok(tx.attempt_runs(&task, task.attempt, leader)?)
        })
    }

    /// The one task that whoever claims was started for, by any of the names it is known to have.
    fn task_of_worker(&self, claimant: &Claimant) -> Result<Option<String>, QueueError> {
        for agent in std::iter::once(claimant.agent.as_str()).chain(claimant.speaker.agents()) {
            if let Some(own) = self.store.task_of_worker(agent)? {
                return Ok(Some(own));
            }
        }
        Ok(None)
    }

    /// A refusal keeps what was reaped: it is true whoever asked.
    fn claim(&mut self, project: &str, slug: Option<&str>, claimant: &Claimant) -> Result<Claimed, QueueError> {
        let worker_of = self.task_of_worker(claimant)?;
        let slug = match (&worker_of, slug) {
            (Some(own), Some(asked)) if own != asked => {
                return Err(QueueError::Wrong(format!(
                    "this agent was started for task '{own}' alone, and '{asked}' is another's: \
                     `taut task claim` gives it its own"
                )));
            }
            (Some(own), _) => Some(own.as_str()),
            (None, slug) => slug,
        };
        if self.is_shared() {
            return self.claim_shared(project, slug, (claimant, worker_of.is_some()));
        }
        let token = token::draw()?;
        let judged = self.judge()?;
        self.transact(Durability::Full, |tx, moment| {
            judged.expire(tx, moment)?;
            let task = match slug {
                Some(slug) => tx.queued(project, slug)?,
                None => tx.first_ready(project, moment.now)?,
            };
            let Some(task) = task else {
                return Ok(Err(QueueError::NotFound { slug: slug.unwrap_or_default().to_string() }));
            };
            let token = match claimed_before(tx, &task, worker_of.as_ref().map(|_| claimant))? {
                Some(token) => token,
                None => match queue::claim(&task, claimant, &token, moment.now) {
                    Ok(turn) => {
                        write(tx, turn)?;
                        token
                    }
                    Err(refusal) => return Ok(Err(refused(&task, refusal))),
                },
            };
            let Some(task) = tx.task(project, &task.slug)? else {
                return Ok(Err(QueueError::NotFound { slug: task.slug }));
            };
            let blocker_results = tx.blocker_results(&task)?;
            Ok(Ok(Claimed { task, token, blocker_results }))
        })?
    }
}

/// The token of the claim that was made for a worker before it was started.
fn claimed_before(tx: &Tx<'_>, task: &Queued, worker: Option<&Claimant>) -> Result<Option<String>, Error> {
    let own = |hold: &&Hold| worker.is_some_and(|worker| worker.agent == hold.agent);
    let Some(hold) = task.hold.as_ref().filter(own) else { return Ok(None) };
    Ok(tx.attempt(task, hold.attempt)?.and_then(|attempt| attempt.token))
}
