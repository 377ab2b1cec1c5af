//! Acting on a claim: renewing it, and saying that its task is done or failed.
//! Only the live attempt may; what is over is over.

use super::propose::propose;
use super::{CONTEXT_LIMIT, Proof, Refusal, SESSION_ENDED, SESSION_EXITED, Speaker, release, reported, turn};
use model::Ms;
use model::task::{Attempt, AttemptChange, AttemptOutcome, Hold, Queued, TaskStatus, TaskTransition};
use serde_json::Value;

/// Who acts, and on which attempt: the one that was given the token, else the
/// one with the number, else the one recorded for the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    pub agent: String,
    /// Which attempt is meant; proves nothing.
    pub attempt: Option<i64>,
    /// Proves that its bearer claimed, or was handed the claim.
    pub token: Option<String>,
    pub speaker: Speaker,
}

/// Somebody acts on a task.
#[derive(Debug, Clone, Copy)]
pub struct TaskAction<'a> {
    pub task: &'a Queued,
    pub actor: &'a Actor,
    /// The attempt that was given the token, that has the number, or the agent's newest on this task.
    pub mine: Option<&'a Attempt>,
    pub now: Ms,
}

/// What came of a wish to fail or finish a task.
#[derive(Debug, Clone, PartialEq)]
pub enum SettleResult {
    Turn(Box<TaskTransition>),
    /// It counts when it is proven; nothing is written where that was said already.
    Proposed(Option<Box<TaskTransition>>),
    /// It had come about already; how, in words.
    Already(String),
}

impl<'a> TaskAction<'a> {
    pub fn renew(&self, lease_ms: i64) -> Result<TaskTransition, Refusal> {
        let hold = self.hold()?;
        let hold = Hold { lease_until: self.now.plus(lease_ms), lease_ms, renewed_at: self.now, ..hold.clone() };
        Ok(turn(self.task, Queued { hold: Some(hold), ..self.task.clone() }, AttemptChange::None, self.now))
    }

    /// Null is no result. Where a proof is wanted, this is a proposal.
    pub fn done(&self, result: Value, proof: Proof) -> Result<SettleResult, Refusal> {
        let hold = match self.hold() {
            Ok(hold) => hold,
            Err(Refusal::Over { outcome: AttemptOutcome::Done, attempt, .. }) => {
                return Ok(SettleResult::Already(format!("attempt {attempt} had finished it already")));
            }
            Err(refusal) => return Err(refusal),
        };
        if let Proof::WantedBy(prover) = proof {
            let turn = propose(self.task, hold, result, (prover, self.now));
            return Ok(SettleResult::Proposed(turn.map(Box::new)));
        }
        let ended = AttemptChange::Ended { number: hold.attempt, outcome: AttemptOutcome::Done, reason: None };
        let after = Queued { status: TaskStatus::Done, hold: None, ready_at: Ms(0), ..self.task.clone() };
        Ok(SettleResult::Turn(Box::new(TaskTransition {
            result: Some(result).filter(|result| !result.is_null()),
            ..turn(self.task, after, ended, self.now)
        })))
    }

    /// `jitter` is 0 to 999, drawn by the caller. The reasons of hooks and
    /// loops are releases, whoever tells them.
    pub fn fail(&self, reason: &str, jitter: i64) -> Result<SettleResult, Refusal> {
        match self.hold() {
            Ok(_) if [CONTEXT_LIMIT, SESSION_ENDED, SESSION_EXITED].contains(&reason) => {
                Ok(SettleResult::Turn(Box::new(release(self.task, reason, self.now))))
            }
            Ok(_) => Ok(SettleResult::Turn(Box::new(reported(self.task, reason, jitter, self.now)))),
            Err(Refusal::Over { outcome, attempt, .. }) => {
                Ok(SettleResult::Already(format!("attempt {attempt} had ended already: {}", outcome.name())))
            }
            Err(Refusal::NotActive { status }) => Ok(SettleResult::Already(format!("it is {} already", status.name()))),
            Err(refusal) => Err(refusal),
        }
    }

    /// Whether the attempt is the speaker's to act on: by its token, else by being its agent.
    fn permitted(&self) -> Result<(), Refusal> {
        let Self { task, actor, mine, .. } = *self;
        if let Some(token) = &actor.token {
            let given = |attempt: &Attempt| {
                attempt.token.as_ref() == Some(token) && actor.attempt.is_none_or(|number| number == attempt.number)
            };
            return if mine.is_some_and(given) { Ok(()) } else { Err(Refusal::WrongToken) };
        }
        let owner = match actor.attempt {
            Some(number) => {
                let live = task.hold.as_ref().filter(|hold| hold.attempt == number).map(|hold| &hold.agent);
                live.or(mine.map(|attempt| &attempt.agent)).unwrap_or(&actor.agent)
            }
            None => &actor.agent,
        };
        if actor.speaker.may_act_for(owner) {
            return Ok(());
        }
        Err(Refusal::NotYours { agent: owner.clone(), speaker: actor.speaker.shown() })
    }

    /// The hold the actor may act on, or why there is none.
    pub(super) fn hold(&self) -> Result<&'a Hold, Refusal> {
        self.permitted()?;
        let Self { task, actor, mine, now } = *self;
        let number = if actor.token.is_some() { mine.map(|attempt| attempt.number) } else { actor.attempt };
        let named = |hold: &&Hold| match number {
            Some(number) => hold.attempt == number,
            None => hold.agent == actor.agent,
        };
        match task.hold.as_ref().filter(named) {
            Some(hold) if hold.lapsed(now) => {
                return Err(Refusal::Lapsed {
                    attempt: hold.attempt,
                    at: hold.lease_until,
                    now: Refusal::holder(task),
                });
            }
            Some(hold) => return Ok(hold),
            None => {}
        }
        match (mine, number) {
            (Some(Attempt { outcome: Some(AttemptOutcome::Expired), number, ended_at, .. }), _) => {
                let at = ended_at.unwrap_or_default();
                Err(Refusal::Lapsed { attempt: *number, at, now: Refusal::holder(task) })
            }
            (Some(Attempt { outcome: Some(outcome), number, reason, .. }), _) => {
                Err(Refusal::Over { attempt: *number, outcome: *outcome, reason: reason.clone() })
            }
            (_, Some(number)) => Err(Refusal::NoSuchAttempt { number, newest: task.attempt }),
            (_, None) if task.status == TaskStatus::Active => Err(Refusal::held(task)),
            (_, None) => Err(Refusal::NotActive { status: task.status }),
        }
    }
}
