//! What an agent's own events do to the tasks it holds: they renew its leases,
//! carry them over to the session that follows, and let them go at its end.

use super::release;
use model::Ms;
use model::session::Session;
use model::task::{AttemptChange, Hold, Queued, TaskStatus, TaskTransition};

/// A lease is not renewed more often than this, so that an event stays cheap.
const RENEW_EVERY_MS: i64 = 30_000;

/// A task that this session holds.
#[derive(Debug, Clone, Copy)]
pub struct HeldTask<'t> {
    pub task: &'t Queued,
    pub hold: &'t Hold,
}

/// The active tasks of this session. One that was claimed where no session was
/// known belongs to the agent, and so to its first client: never to a child.
pub fn held<'t>(tasks: &'t [Queued], session: &Session) -> Vec<HeldTask<'t>> {
    let ours = |hold: &Hold| match &hold.session {
        Some(id) => *id == session.id || Some(id) == session.prev.as_ref(),
        None => hold.agent == session.agent && session.parent.is_none(),
    };
    let active = tasks.iter().filter(|task| task.status == TaskStatus::Active);
    active
        .filter_map(|task| task.hold.as_ref().map(|hold| HeldTask { task, hold }))
        .filter(|held| ours(held.hold))
        .collect()
}

/// Any event of an agent shows that it lives. A lease that ran out and was not
/// taken from it yet is renewed too: a missed renewal means unknown, not dead.
pub fn inherit_and_renew(held: &[HeldTask<'_>], session: &Session, now: Ms) -> Vec<TaskTransition> {
    let due = |held: &&HeldTask<'_>| {
        let followed = held.hold.session.as_ref().is_some_and(|id| *id != session.id);
        followed || now.since(held.hold.renewed_at) >= RENEW_EVERY_MS || held.hold.renewed_at > now
    };
    let renewed = |held: &HeldTask<'_>| {
        let lease_until = now.plus(held.hold.lease_ms);
        let session = held.hold.session.as_ref().map(|_| session.id.clone());
        let hold = Hold { lease_until, renewed_at: now, session, ..held.hold.clone() };
        TaskTransition {
            before: (held.task.status, held.task.attempt),
            after: Queued { hold: Some(hold), ..held.task.clone() },
            attempt: AttemptChange::None,
            result: None,
            at: now,
        }
    };
    held.iter().filter(due).map(renewed).collect()
}

/// What a supervisor's timer does: its agent lives, so the lease does too.
pub fn kept(task: &Queued, now: Ms) -> Option<TaskTransition> {
    let hold = task.hold.as_ref()?;
    let hold = Hold { lease_until: now.plus(hold.lease_ms), renewed_at: now, ..hold.clone() };
    Some(TaskTransition {
        before: (task.status, task.attempt),
        after: Queued { hold: Some(hold), ..task.clone() },
        attempt: AttemptChange::None,
        result: None,
        at: now,
    })
}

/// All of them, each with a word for the log that names agent and task. What
/// the agent said to be done is not let go: the end of its session is expected.
pub fn release_all(held: &[HeldTask<'_>], reason: &str, now: Ms) -> (Vec<TaskTransition>, Vec<String>) {
    let unfinished = || held.iter().filter(|held| held.hold.proposed.is_none());
    let turns = unfinished().map(|held| release(held.task, reason, now)).collect();
    let word =
        |held: &HeldTask<'_>| format!("Warning: agent {} {reason}, failing task {}", held.hold.agent, held.task.slug);
    (turns, unfinished().map(word).collect())
}
