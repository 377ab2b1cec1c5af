//! Acting on a claim: renewing it, finishing it, failing it, letting it go.

use super::proof::proof;
use super::result_bounds::refuse_unkept;
use super::{Queue, QueueError, refused, write};
use engine::fleet::reports::{self, WorkerResult as Settlement};
use engine::queue::{self, Actor, Proof, Refusal, SettleResult, TaskAction};
use model::effect::Write;
use model::effort::{MemoryWrite, Message};
use model::task::{ClockReading, Queued, Task, TaskStatus, TaskTransition};
use model::{ClientProcess, Ms};
use serde_json::Value;
use store::{Durability, Error, Tx};

/// What a wish to finish or fail a task led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settled {
    Now,
    /// It had come about already; how, in words.
    Already(String),
    /// Kept, and done once it is proven: by this command, where the task has its own.
    Proposed {
        verify: Option<String>,
    },
    /// Written down here, and said to the server of this name when it is reached: it cannot be now, and why.
    Kept {
        shown: String,
        why: String,
    },
}

/// What somebody wants of a task, decided once the task is known. With it, what whoever started the worker is told.
pub(super) type Wish<'w, 'r> =
    Box<dyn FnOnce(Proof, TaskAction<'_>) -> Result<(SettleResult, Option<Settlement<'r>>), Refusal> + 'w>;

impl<C: Fn() -> ClockReading> Queue<'_, C> {
    pub fn renew(&mut self, project: &str, slug: &str, actor: &Actor, lease_ms: i64) -> Result<Task, QueueError> {
        if self.is_shared() {
            return self.renew_shared(project, slug, actor, lease_ms);
        }
        self.act(project, slug, actor, |_, act| Ok((SettleResult::Turn(Box::new(act.renew(lease_ms)?)), None)))?;
        self.whole(project, slug)
    }

    /// Null is no result. Where a loop proves what its agent does, it is a proposal.
    pub fn done(&mut self, project: &str, slug: &str, actor: &Actor, result: Value) -> Result<Settled, QueueError> {
        if let Err(unkept) = refuse_unkept(slug, &result)
            && (self.is_shared() || self.is_copy(project, slug)?)
        {
            return Err(unkept);
        }
        let kept = self.is_shared().then(|| result.clone());
        let done = self.act(project, slug, actor, |proof, act| {
            act.done(result, proof).map(|settled| (settled, Some(Settlement::Done)))
        });
        if let (Err(why @ QueueError::Refused { .. }), Some(result)) = (&done, kept) {
            let why = why.to_string();
            self.keep_late((project, slug), actor, (result, why))?;
        }
        done
    }

    /// Of a task that was claimed from a server, whether this machine is connected to it now or not: what comes of it is owed there.
    fn is_copy(&mut self, project: &str, slug: &str) -> Result<bool, QueueError> {
        Ok(self.transact(Durability::Normal, |tx, _| Ok(tx.copy_of(project, slug)?.is_some()))?)
    }

    pub fn fail(&mut self, project: &str, slug: &str, actor: &Actor, reason: &str) -> Result<Settled, QueueError> {
        let (jitter, failed) = (jitter(), Settlement::Failed { reason });
        self.act(project, slug, actor, |_, act| act.fail(reason, jitter).map(|settled| (settled, Some(failed))))
    }

    /// Everything the agent holds goes back, claimable at once, but for what it
    /// said to be done. Gives the slugs.
    pub fn release_all(&mut self, agent: &str, reason: &str) -> Result<Vec<String>, QueueError> {
        let back =
            self.all_or_nothing(|tx, moment| come_back(tx, agent, |task| queue::release(task, reason, moment.now)))?;
        self.say_soon();
        Ok(back)
    }

    /// As `release_all`, and nothing is counted against the tasks: whoever had them was kept from working. Nor is what a
    /// hook let go of for this agent since then.
    pub fn hand_back_all(&mut self, agent: &str, reason: &str, since: Option<Ms>) -> Result<Vec<String>, QueueError> {
        let back = self.all_or_nothing(|tx, moment| {
            let before = since.map(|since| tx.released_since(agent, since)).transpose()?;
            for task in before.iter().flatten() {
                write(tx, queue::uncount(task, moment.now))?;
            }
            come_back(tx, agent, |task| queue::hand_back(task, reason, moment.now))
        })?;
        self.say_soon();
        Ok(back)
    }

    /// A supervisor's timer: everything its agent holds is renewed, and the
    /// process group that works on it noted. Gives how many there are.
    pub fn keep_all(&mut self, agent: &str, leader: ClientProcess) -> Result<usize, QueueError> {
        let kept = self.all_or_nothing(|tx, moment| {
            let held = tx.held_by(agent)?;
            for task in &held {
                tx.attempt_runs(task, task.attempt, leader)?;
                if let Some(turn) = queue::kept(task, moment.now) {
                    write(tx, turn)?;
                }
            }
            Ok(held.len())
        })?;
        self.renew_soon();
        Ok(kept)
    }

    fn whole(&self, project: &str, slug: &str) -> Result<Task, QueueError> {
        let task = self.store.task(project, slug)?;
        task.ok_or_else(|| QueueError::NotFound { slug: slug.to_string() })
    }

    /// A lease that ran out is noticed here too, and the refusal keeps that.
    pub(super) fn act<'r>(
        &mut self,
        project: &str,
        slug: &str,
        actor: &Actor,
        wish: impl FnOnce(Proof, TaskAction<'_>) -> Result<(SettleResult, Option<Settlement<'r>>), Refusal>,
    ) -> Result<Settled, QueueError> {
        if self.is_shared() {
            return self.act_shared(project, slug, actor, Box::new(wish));
        }
        let judged = self.judge()?;
        self.transact(Durability::Full, |tx, moment| {
            judged.expire(tx, moment)?;
            let Some(task) = tx.queued(project, slug)? else {
                return Ok(Err(QueueError::NotFound { slug: slug.to_string() }));
            };
            let mine = mine(tx, &task, actor)?;
            let verify = tx.verify_of(&task)?;
            let proof = proof(tx, &task, &actor.speaker, verify.as_deref())?;
            match wish(proof, TaskAction { task: &task, actor, mine: mine.as_ref(), now: moment.now }) {
                Ok((SettleResult::Turn(turn), told)) => {
                    // A copy that was claimed from a server which is configured no more.
                    let owes = turn.after.status != TaskStatus::Active && tx.copy_of(project, slug)?.is_some();
                    if let Some(message) = told.map(|told| report(tx, &task, told, moment.now)).transpose()?.flatten() {
                        tx.apply(&[Write::Memory(MemoryWrite::Message(message))])?;
                    }
                    write(tx, *turn).map(|()| Ok(if owes { no_server() } else { Settled::Now }))
                }
                Ok((SettleResult::Proposed(turn), _)) => {
                    turn.map_or(Ok(()), |turn| write(tx, *turn)).map(|()| Ok(Settled::Proposed { verify }))
                }
                Ok((SettleResult::Already(note), _)) => Ok(Ok(Settled::Already(note))),
                Err(refusal) => Ok(Err(refused(&task, refusal))),
            }
        })?
    }
}

fn no_server() -> Settled {
    let why = "this machine is not connected to it now; `taut shared connect`".to_string();
    Settled::Kept { shown: "the server it was claimed from".to_string(), why }
}

/// What the agent holds, but for what it said to be done. Gives the slugs.
fn come_back(tx: &Tx<'_>, agent: &str, turn: impl Fn(&Queued) -> TaskTransition) -> Result<Vec<String>, QueueError> {
    let held: Vec<Queued> = tx.held_by(agent)?.into_iter().filter(|task| !task.is_proposed()).collect();
    for task in &held {
        write(tx, turn(task))?;
    }
    Ok(held.into_iter().map(|task| task.slug).collect())
}

/// What whoever started the worker that held the task is told of how it went.
pub(super) fn report(tx: &Tx<'_>, task: &Queued, told: Settlement<'_>, now: Ms) -> Result<Option<Message>, Error> {
    let session = task.hold.as_ref().and_then(|hold| hold.session.as_deref());
    let session = session.map(|id| tx.session(id)).transpose()?.flatten();
    Ok(session.and_then(|session| reports::task(&session, &task.slug, told, now)))
}

/// 0 to 999.
pub(super) fn jitter() -> i64 {
    i64::from(u16::from_be_bytes([host::clock::random()[0], host::clock::random()[1]])) % 1000
}

pub(super) fn mine(tx: &Tx<'_>, task: &Queued, actor: &Actor) -> Result<Option<model::task::Attempt>, Error> {
    match (&actor.token, actor.attempt) {
        (Some(token), _) => tx.attempt_with(task, token),
        (None, Some(number)) => tx.attempt(task, number),
        (None, None) => tx.attempt_of(task, &actor.agent),
    }
}
