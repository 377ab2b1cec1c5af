//! Done is proven: what an agent says to be done while a loop proves its work
//! stays its own until the loop has run the command that proves it.

use super::{Refusal, TaskAction, reported, turn};
use model::Ms;
use model::task::{AttemptChange, AttemptOutcome, Hold, LEASE_MS, Proposed, Queued, TaskStatus, TaskTransition};
use serde_json::Value;

/// So much of a reason is kept: its end, which says what went wrong.
const LONGEST_REASON: usize = 4096;

/// Whether a "done" counts at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proof {
    None,
    /// By the loop whose agent this is: whoever said it runs within that agent.
    WantedBy(String),
}

impl Proof {
    /// `run` is the unfinished run of an agent, and whether it proves; a task's
    /// own command asks for a proof in any run of a loop.
    pub fn of(agent: &str, run: Option<bool>, verify: Option<&str>) -> Self {
        match run {
            Some(true) => Self::WantedBy(agent.to_string()),
            Some(false) if verify.is_some() => Self::WantedBy(agent.to_string()),
            _ => Self::None,
        }
    }
}

/// It is the prover's from now on, whatever name it was claimed in: a loop asks for the proposals of its own agent.
/// `None` where it was said already and nothing is added.
pub(super) fn propose(
    task: &Queued,
    hold: &Hold,
    result: Value,
    (prover, now): (String, Ms),
) -> Option<TaskTransition> {
    let result = Some(result).filter(|result| !result.is_null());
    if hold.proposed.is_some() && result.is_none() && hold.agent == prover {
        return None;
    }
    let proposed = hold.proposed.unwrap_or(Proposed { at: now, proven: false });
    Some(TaskTransition { result, ..marked(task, &Hold { agent: prover, ..hold.clone() }, proposed, now) })
}

impl TaskAction<'_> {
    /// The proof passed, and somebody else will confirm it.
    pub fn proven(&self) -> Result<TaskTransition, Refusal> {
        let (hold, proposed) = self.proposal()?;
        Ok(marked(self.task, hold, Proposed { proven: true, ..proposed }, self.now))
    }

    /// Now it is done, with the result that was proposed.
    pub fn confirm(&self) -> Result<TaskTransition, Refusal> {
        let (hold, _) = self.proposal()?;
        let ended = AttemptChange::Ended { number: hold.attempt, outcome: AttemptOutcome::Done, reason: None };
        let after = Queued { status: TaskStatus::Done, hold: None, ready_at: Ms(0), ..self.task.clone() };
        Ok(turn(self.task, after, ended, self.now))
    }

    /// The proof failed: as if the agent had reported that it could not do it.
    pub fn refute(&self, reason: &str, jitter: i64) -> Result<TaskTransition, Refusal> {
        self.proposal()?;
        Ok(reported(self.task, end_of(reason), jitter, self.now))
    }

    fn proposal(&self) -> Result<(&Hold, Proposed), Refusal> {
        let hold = self.hold()?;
        hold.proposed.map(|proposed| (hold, proposed)).ok_or(Refusal::NotProposed { attempt: hold.attempt })
    }
}

/// Its agent lives, or lived until now: so does the lease.
fn marked(task: &Queued, hold: &Hold, proposed: Proposed, now: Ms) -> TaskTransition {
    // A short lease was for the agent's own work; the proof takes its own time.
    let lease_ms = hold.lease_ms.max(LEASE_MS);
    let hold =
        Hold { proposed: Some(proposed), lease_ms, lease_until: now.plus(lease_ms), renewed_at: now, ..hold.clone() };
    turn(task, Queued { hold: Some(hold), ..task.clone() }, AttemptChange::Proposed, now)
}

fn end_of(reason: &str) -> &str {
    let reason = reason.trim();
    let from = reason.len().saturating_sub(LONGEST_REASON);
    let from = (from..=reason.len()).find(|at| reason.is_char_boundary(*at)).unwrap_or_default();
    reason.get(from..).unwrap_or_default()
}
