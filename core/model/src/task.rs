//! Tasks: pieces of work that are claimed under a lease and done once.

use crate::call::ClientProcess;
use crate::time::Ms;
use serde_json::Value;

/// How long a claim holds unless it is renewed.
pub const LEASE_MS: i64 = 600_000;

/// A task as planned and shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    pub plan: TaskPlan,
    pub queued: Queued,
    pub result: Option<Value>,
    pub created_at: Ms,
    pub updated_at: Ms,
    pub deleted_at: Option<Ms>,
}

/// What a planner says of a task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskPlan {
    /// Unique per project, as users type it (`task-cli/01`).
    pub slug: String,
    pub title: String,
    pub description: Option<String>,
    pub category: Option<String>,
    pub priority: Priority,
    /// The document this task comes from: a plan is synchronised one of these at a time.
    pub spec: Option<String>,
    pub reference: Option<String>,
    /// Slugs of the tasks that must be done first.
    pub deps: Vec<String>,
    pub steps: Vec<TaskStep>,
    /// The command that proves this task, in place of the loop's.
    pub verify: Option<String>,
}

/// 0 is critical and first, 3 is low and last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Priority(pub u8);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskStep {
    pub content: String,
    pub done: bool,
}

/// The part of a task that claiming changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queued {
    pub row: i64,
    pub project: String,
    pub slug: String,
    pub status: TaskStatus,
    /// Who has it; `Some` exactly while it is active.
    pub hold: Option<Hold>,
    /// The number of the newest attempt; zero before the first.
    pub attempt: i64,
    /// How often it came back, for whatever reason.
    pub retry_count: i64,
    /// How often an agent reported that it failed.
    pub failures: i64,
    /// How often it was let go: context limit, end of a session, lapsed lease.
    pub releases: i64,
    pub fail_reason: Option<String>,
    /// Not to be claimed before; zero when there is nothing to wait for.
    pub ready_at: Ms,
    /// Blockers that are neither done nor deleted.
    pub open_blockers: i64,
}

/// A live claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hold {
    pub agent: String,
    /// The session it was claimed in, or the one that followed it; `None` where none was known.
    pub session: Option<String>,
    /// Rises with every claim: an act that names an older one is refused.
    pub attempt: i64,
    pub lease_until: Ms,
    pub lease_ms: i64,
    pub renewed_at: Ms,
    /// Its agent said that the task is done, and that is still to be proven.
    pub proposed: Option<Proposed>,
}

/// The lease of a copy of a task whose queue is on a server: it is that one's to end, and never over here.
pub const NEVER_HERE: Ms = Ms(i64::MAX / 4);

impl Hold {
    /// When the lease ends, where that is known here.
    pub fn ends_here(&self) -> Option<Ms> {
        Some(self.lease_until).filter(|until| *until < NEVER_HERE)
    }
}

/// A "done" that does not count yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Proposed {
    pub at: Ms,
    /// The command has passed; whoever merges the work confirms it.
    pub proven: bool,
}

/// A "done" that waits for its proof, with what the proof takes.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskProposal {
    pub project: String,
    pub slug: String,
    pub title: String,
    pub agent: String,
    pub attempt: i64,
    pub at: Ms,
    /// The task's own command; `None` means the run's.
    pub verify: Option<String>,
    pub result: Option<Value>,
    pub proven: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TaskStatus {
    Open,
    Active,
    Done,
    Quarantined,
    Deleted,
}

/// One claim of a task by an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    pub number: i64,
    /// Given to whoever claimed, and to nobody else; `None` for attempts from before there were any.
    pub token: Option<String>,
    pub agent: String,
    pub session: Option<String>,
    /// The leader of the process group that Taut itself started for it.
    pub group: Option<ClientProcess>,
    pub claimed_at: Ms,
    pub ended_at: Option<Ms>,
    /// `None` while it lives.
    pub outcome: Option<AttemptOutcome>,
    pub reason: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AttemptOutcome {
    Done,
    Failed,
    Released,
    Expired,
}

/// A decided change of one task. It is written only if the task still stands as it did.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskTransition {
    pub before: (TaskStatus, i64),
    pub after: Queued,
    pub attempt: AttemptChange,
    /// Set when the task is done, or said to be.
    pub result: Option<Value>,
    pub at: Ms,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttemptChange {
    None,
    /// It goes on, and its agent says that the task is done; or that was proven.
    Proposed,
    Begun(Attempt),
    Ended {
        number: i64,
        outcome: AttemptOutcome,
        reason: Option<String>,
    },
}

/// A worker that said who it is before it claims anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worker {
    pub id: String,
    pub project: String,
    pub process: ClientProcess,
    pub host: String,
    pub registered_at: Ms,
    pub ended_at: Option<Ms>,
}

/// A moment on two clocks: the wall's, and one that stands still while the
/// machine sleeps. Where they part, nobody could renew anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClockReading {
    pub now: Ms,
    pub awake: i64,
    /// Tells one run of the machine from the next.
    pub boot: String,
}

/// How many tasks stand where.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub open: i64,
    pub active: i64,
    pub done: i64,
    pub blocked: i64,
    pub deleted: i64,
    pub quarantined: i64,
}

impl Default for Priority {
    fn default() -> Self {
        Self(2)
    }
}

impl TaskStatus {
    pub const ALL: [Self; 5] = [Self::Open, Self::Active, Self::Done, Self::Quarantined, Self::Deleted];

    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Active => "active",
            Self::Done => "done",
            Self::Quarantined => "quarantined",
            Self::Deleted => "deleted",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == text)
    }

    /// Whether tasks that wait for this one may go on.
    pub fn unblocks(self) -> bool {
        matches!(self, Self::Done | Self::Deleted)
    }
}

impl AttemptOutcome {
    pub fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Released => "released",
            Self::Expired => "expired",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        [Self::Done, Self::Failed, Self::Released, Self::Expired].into_iter().find(|outcome| outcome.name() == text)
    }
}

impl Queued {
    /// Said to be done by its agent, and not proven yet.
    pub fn is_proposed(&self) -> bool {
        self.hold.as_ref().is_some_and(|hold| hold.proposed.is_some())
    }
}

impl Hold {
    pub fn lapsed(&self, now: Ms) -> bool {
        self.lease_until <= now
    }
}
