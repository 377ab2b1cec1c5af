//! Why a claim, a renewal or a result is refused, in words.

use model::Ms;
use model::task::{AttemptOutcome, Queued, TaskStatus};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The lease of the attempt ran out: its word counts no more.
    Lapsed {
        attempt: i64,
        at: Ms,
        now: String,
    },
    /// The attempt has ended.
    Over {
        attempt: i64,
        outcome: AttemptOutcome,
        reason: Option<String>,
    },
    /// The attempt is another agent's, and no token was shown.
    NotYours {
        agent: String,
        speaker: String,
    },
    /// No attempt on the task was given the token.
    WrongToken,
    NoSuchAttempt {
        number: i64,
        newest: i64,
    },
    /// Another agent has it.
    Held {
        agent: String,
        attempt: i64,
        /// Where that is known here, and not a server's to say.
        until: Option<Ms>,
    },
    NotActive {
        status: TaskStatus,
    },
    /// Nobody can have it: it is done, deleted or quarantined.
    NotClaimable {
        status: TaskStatus,
        /// Why it came back last.
        reason: Option<String>,
    },
    Blocked {
        blockers: i64,
    },
    BackingOff {
        until: Ms,
    },
    /// The attempt lives, and its agent has not said that the task is done.
    NotProposed {
        attempt: i64,
    },
}

impl Refusal {
    pub(super) fn held(task: &Queued) -> Self {
        match &task.hold {
            Some(hold) => Self::Held { agent: hold.agent.clone(), attempt: hold.attempt, until: hold.ends_here() },
            None => Self::NotActive { status: task.status },
        }
    }

    /// Where the task is now, for those who lost it.
    pub(super) fn holder(task: &Queued) -> String {
        match &task.hold {
            Some(hold) => format!("attempt {} of agent {}", hold.attempt, hold.agent),
            None => task.status.name().to_string(),
        }
    }

    /// Said of the task with this slug, moments in UTC.
    pub fn sentence(&self, slug: &str) -> String {
        self.sentence_with(slug, Ms::rfc3339)
    }

    /// As `sentence`, where moments are shown so.
    pub fn sentence_with(&self, slug: &str, shown: fn(Ms) -> String) -> String {
        match self {
            Self::Lapsed { attempt, at, now } => format!(
                "attempt {attempt} of task '{slug}' lapsed at {}, so its result is refused; the task is now: {now}",
                shown(*at)
            ),
            Self::Over { attempt, outcome, reason } => {
                let why = reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
                format!("attempt {attempt} of task '{slug}' has ended: {}{why}", outcome.name())
            }
            Self::NotYours { agent, speaker } => format!(
                "this comes from {speaker}, which may not act on task '{slug}' for agent {agent} without the token \
                 that agent {agent} was given by its claim (`--token`)"
            ),
            Self::WrongToken => format!("no attempt on task '{slug}' was given this token"),
            Self::NoSuchAttempt { number, newest } => {
                format!("task '{slug}' has no live attempt {number}; the newest is {newest}")
            }
            Self::Held { agent, attempt, until } => {
                let until = until.map(|until| format!(", until {}", shown(until))).unwrap_or_default();
                format!("task '{slug}' is held by agent {agent} (attempt {attempt}{until})")
            }
            Self::NotActive { status } => format!("task '{slug}' is not active (status: {})", status.name()),
            Self::NotClaimable { status: TaskStatus::Quarantined, reason } => {
                let why = reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
                format!("task '{slug}' is quarantined{why}; `taut task requeue {slug}` gives it another chance")
            }
            Self::NotClaimable { status, .. } => format!("task '{slug}' is {}, so it cannot be claimed", status.name()),
            Self::Blocked { blockers: 1 } => format!("task '{slug}' waits for a blocker"),
            Self::Blocked { blockers } => format!("task '{slug}' waits for {blockers} blockers"),
            Self::NotProposed { attempt } => {
                format!("attempt {attempt} of task '{slug}' was not said to be done, so there is nothing to prove")
            }
            Self::BackingOff { until } => format!("task '{slug}' failed and rests until {}", shown(*until)),
        }
    }
}
