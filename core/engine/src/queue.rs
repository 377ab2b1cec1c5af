//! What a claim, a renewal, a result, a failure, a release and a lapsed lease
//! do to a task. Nothing here knows a clock or a database: a turn is decided
//! over the task as it was read, and written only if it still stands so.

mod act;
mod cycle;
mod exchange;
mod hooks;
mod line;
mod propose;
mod refusal;
mod speaker;
mod state;
mod why;

pub use act::{Actor, SettleResult, TaskAction};
pub use cycle::{cycle, round};
pub use exchange::{ExportedTask, ImportedPlan, LARGEST_IMPORT, PlanFormat, PlanText, export, import};
pub use hooks::{HeldTask, held, inherit_and_renew, kept, release_all};
pub use line::{
    TaskLineError, category_problem, parse_lines, parse_priority, parse_steps, slug_problem, verify_problem,
};
pub use propose::Proof;
pub use refusal::Refusal;
pub use speaker::Speaker;
pub use state::TaskState;
pub use why::{UnclaimableTasks, WaitReason, why};

use model::Ms;
use model::task::{Attempt, AttemptChange, AttemptOutcome, ClockReading, Hold, Queued, TaskStatus, TaskTransition};

/// Failures an agent reported before the task is taken out of the queue.
pub const MOST_FAILURES: i64 = 5;
/// Releases before the task is taken out of the queue.
pub const MOST_RELEASES: i64 = 10;
const BACKOFF_MS: i64 = 10_000;
const LONGEST_BACKOFF_MS: i64 = 3_600_000;
/// How long a tool may hold a lease without a word from its agent.
pub const LONGEST_TOOL_MS: i64 = 12 * 3_600_000;
/// Where the wall's clock ran ahead of the other by more, nobody could renew.
const GAP_MS: i64 = 15_000;
/// What a holder gets to speak up after such a gap.
pub const GRACE_MS: i64 = 120_000;

pub const CONTEXT_LIMIT: &str = "context limit reached";
pub const SESSION_ENDED: &str = "session ended unexpectedly";
pub const SESSION_EXITED: &str = "session exited without completing task";
/// Why a task goes back whose agent was stopped, because another may have the task.
pub const LEASE_UNSURE: &str = "its lease was unsure, and its agent was stopped";
pub const DEREGISTERED: &str = "agent deregistered";
pub const LAPSED: &str = "lease lapsed";
pub const NEVER_PROVEN: &str = "said done, and never proven";

/// Who claims.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claimant {
    pub agent: String,
    pub session: Option<String>,
    pub lease_ms: i64,
    /// Whom the wish comes from, whatever name it is made in.
    pub speaker: Speaker,
}

impl Claimant {
    /// An agent that speaks for itself, and of whose session nothing is known.
    pub fn agent(agent: &str, lease_ms: i64) -> Self {
        Self { agent: agent.to_string(), session: None, lease_ms, speaker: Speaker::agent(agent) }
    }
}

/// What is known of a holder whose lease has run out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HolderSign {
    /// Its session has a tool in flight and its client lives: a long test run says nothing.
    ToolInFlight,
    /// Nothing speaks for it.
    Silence,
}

/// `token` is what the caller drew for this claim: nobody else is told it.
pub fn claim(task: &Queued, claimant: &Claimant, token: &str, now: Ms) -> Result<TaskTransition, Refusal> {
    match task.status {
        TaskStatus::Open if task.open_blockers > 0 => return Err(Refusal::Blocked { blockers: task.open_blockers }),
        TaskStatus::Open if task.ready_at > now => return Err(Refusal::BackingOff { until: task.ready_at }),
        TaskStatus::Open => {}
        TaskStatus::Active => return Err(Refusal::held(task)),
        status => return Err(Refusal::NotClaimable { status, reason: task.fail_reason.clone() }),
    }
    let number = task.attempt + 1;
    let hold = Hold {
        agent: claimant.agent.clone(),
        session: claimant.session.clone(),
        attempt: number,
        lease_until: now.plus(claimant.lease_ms),
        lease_ms: claimant.lease_ms,
        renewed_at: now,
        proposed: None,
    };
    let attempt = Attempt {
        number,
        token: Some(token.to_string()),
        agent: claimant.agent.clone(),
        session: claimant.session.clone(),
        group: None,
        claimed_at: now,
        ended_at: None,
        outcome: None,
        reason: None,
    };
    let after =
        Queued { status: TaskStatus::Active, hold: Some(hold), attempt: number, ready_at: Ms(0), ..task.clone() };
    Ok(turn(task, after, AttemptChange::Begun(attempt), now))
}

/// Let go by a hook, a loop or a worker that leaves: claimable at once.
pub fn release(task: &Queued, reason: &str, now: Ms) -> TaskTransition {
    come_back(task, AttemptOutcome::Released, reason, now)
}

/// Back without anybody's fault: whoever had it was kept from working. A release that does not count.
pub fn hand_back(task: &Queued, reason: &str, now: Ms) -> TaskTransition {
    let turn = release(task, reason, now);
    TaskTransition { after: uncounted(&turn.after), ..turn }
}

/// The same of a task that a hook had let go of before that was known.
pub fn uncount(task: &Queued, now: Ms) -> TaskTransition {
    turn(task, uncounted(task), AttemptChange::None, now)
}

fn uncounted(released: &Queued) -> Queued {
    Queued {
        status: TaskStatus::Open,
        releases: (released.releases - 1).max(0),
        retry_count: (released.retry_count - 1).max(0),
        ..released.clone()
    }
}

/// What becomes of a task whose lease has run out. The number of releases is
/// capped, so that a task which kills every agent is not repeated for ever.
pub fn expire(task: &Queued, sign: HolderSign, now: Ms) -> TaskTransition {
    if let (HolderSign::ToolInFlight, Some(hold)) = (sign, &task.hold)
        && now.since(hold.renewed_at) < LONGEST_TOOL_MS
    {
        let hold = Hold { lease_until: now.plus(hold.lease_ms.max(1_000)), ..hold.clone() };
        return turn(task, Queued { hold: Some(hold), ..task.clone() }, AttemptChange::None, now);
    }
    let reason = if task.is_proposed() { NEVER_PROVEN } else { LAPSED };
    come_back(task, AttemptOutcome::Expired, reason, now)
}

/// Back into the queue by hand, with its counters at nought.
pub fn requeue(task: &Queued, now: Ms) -> Result<TaskTransition, Refusal> {
    match task.status {
        TaskStatus::Active => return Err(Refusal::held(task)),
        TaskStatus::Done | TaskStatus::Deleted => return Err(Refusal::NotActive { status: task.status }),
        TaskStatus::Open | TaskStatus::Quarantined => {}
    }
    let after = Queued { status: TaskStatus::Open, failures: 0, releases: 0, ready_at: Ms(0), ..task.clone() };
    Ok(turn(task, after, AttemptChange::None, now))
}

/// Softly deleted. A live attempt ends: its result would have no task. No agent
/// ends another's so.
pub fn delete(task: &Queued, speaker: &Speaker, now: Ms) -> Result<TaskTransition, Refusal> {
    untouched(task, speaker, now)?;
    let ended = match &task.hold {
        Some(hold) => AttemptChange::Ended {
            number: hold.attempt,
            outcome: AttemptOutcome::Released,
            reason: Some("task deleted".to_string()),
        },
        None => AttemptChange::None,
    };
    Ok(turn(task, Queued { status: TaskStatus::Deleted, hold: None, ready_at: Ms(0), ..task.clone() }, ended, now))
}

/// Refuses where another agent's live attempt would be touched.
pub fn untouched(task: &Queued, speaker: &Speaker, now: Ms) -> Result<(), Refusal> {
    match &task.hold {
        Some(hold) if !hold.lapsed(now) && !speaker.may_act_for(&hold.agent) => Err(Refusal::held(task)),
        _ => Ok(()),
    }
}

/// Planned again after it was deleted: a new task, but for the numbers of its attempts, which rise on. So what its
/// former life left running is refused, and its history stays.
pub fn revive(task: &Queued, now: Ms) -> TaskTransition {
    let after = Queued {
        status: TaskStatus::Open,
        hold: None,
        retry_count: 0,
        failures: 0,
        releases: 0,
        fail_reason: None,
        ready_at: Ms(0),
        ..task.clone()
    };
    turn(task, after, AttemptChange::None, now)
}

/// By hand. What is held is its holder's; only a claim makes a task active.
pub fn set_status(task: &Queued, status: TaskStatus, now: Ms) -> Result<TaskTransition, Refusal> {
    match status {
        _ if task.status == TaskStatus::Active => Err(Refusal::held(task)),
        TaskStatus::Active => Err(Refusal::NotActive { status: task.status }),
        TaskStatus::Open => requeue(task, now),
        // Nobody holds it: that was refused above.
        TaskStatus::Deleted => delete(task, &Speaker::Person, now),
        TaskStatus::Done | TaskStatus::Quarantined => {
            Ok(turn(task, Queued { status, ready_at: Ms(0), ..task.clone() }, AttemptChange::None, now))
        }
    }
}

/// Whether the machine slept or its clock was set since `last`: then every
/// holder gets a moment to renew before anything is taken from it.
pub fn woke(last: Option<&ClockReading>, moment: &ClockReading) -> bool {
    last.is_some_and(|last| {
        let wall = moment.now.0.saturating_sub(last.now.0);
        last.boot == moment.boot && wall.saturating_sub(moment.awake.saturating_sub(last.awake)) > GAP_MS
    })
}

fn reported(task: &Queued, reason: &str, jitter: i64, now: Ms) -> TaskTransition {
    let mut turn = come_back(task, AttemptOutcome::Failed, reason, now);
    if turn.after.status == TaskStatus::Open {
        turn.after.ready_at = now.plus(backoff(turn.after.failures, jitter));
    }
    turn
}

/// Ten seconds, doubled with each failure, up to a quarter more by chance, an hour at most.
fn backoff(failures: i64, jitter: i64) -> i64 {
    let doublings = u32::try_from(failures.clamp(1, 30) - 1).unwrap_or_default();
    let full = BACKOFF_MS.saturating_mul(1_i64 << doublings).min(LONGEST_BACKOFF_MS);
    full.saturating_add(full / 4 * jitter.clamp(0, 999) / 1000).min(LONGEST_BACKOFF_MS)
}

fn come_back(task: &Queued, outcome: AttemptOutcome, reason: &str, now: Ms) -> TaskTransition {
    let failed = i64::from(outcome == AttemptOutcome::Failed);
    let (failures, releases) = (task.failures + failed, task.releases + 1 - failed);
    let worn_out = failures >= MOST_FAILURES || releases >= MOST_RELEASES;
    let after = Queued {
        status: if worn_out { TaskStatus::Quarantined } else { TaskStatus::Open },
        hold: None,
        retry_count: task.retry_count + 1,
        failures,
        releases,
        fail_reason: Some(reason.to_string()),
        ready_at: Ms(0),
        ..task.clone()
    };
    let number = task.hold.as_ref().map_or(task.attempt, |hold| hold.attempt);
    turn(task, after, AttemptChange::Ended { number, outcome, reason: Some(reason.to_string()) }, now)
}

fn turn(before: &Queued, after: Queued, attempt: AttemptChange, at: Ms) -> TaskTransition {
    TaskTransition { before: (before.status, before.attempt), after, attempt, result: None, at }
}

#[cfg(test)]
mod tests;
