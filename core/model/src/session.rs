//! A session: one context window of one agent, bound to its client process.

use crate::call::ClientProcess;
use crate::time::Ms;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Session {
    /// Our own id (UUIDv7).
    pub id: String,
    /// The id users and scripts know it by: from the environment, else the host's.
    pub logical_id: String,
    pub host_session: Option<String>,
    pub agent: String,
    pub conversation: String,
    /// Canonical path of the project.
    pub project: String,
    pub state: SessionState,
    pub role: Option<String>,
    pub mode: Option<String>,
    pub cwd: Option<String>,
    pub transcript: Option<String>,
    pub client: Option<ClientProcess>,
    /// tmux socket and pane, `/tmp/tmux-1000/default %3`.
    pub pane: Option<String>,
    pub mission: Option<String>,
    /// The session this one follows.
    pub prev: Option<String>,
    /// The session of the client this one was started from within.
    pub parent: Option<String>,
    pub source: String,
    pub started_at: Ms,
    pub last_seen_at: Ms,
    pub ended_at: Option<Ms>,
    pub end_reason: Option<String>,
    /// Ids of the tool calls that were let through and have not come back.
    pub in_flight: Vec<String>,
    /// Raw context tokens last seen, when known.
    pub context_tokens: Option<u64>,
    /// The whole context window in tokens, when known.
    pub context_window: Option<u64>,
    /// Where the client compacts by itself: 100 % of every threshold.
    pub context_limit: Option<u64>,
    /// What the session is doing, in its own words.
    pub status_text: Option<String>,
    pub memo: ContextMemo,
}

/// What is remembered of a session's context: how it was measured, and what
/// its model has been told.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ContextMemo {
    /// The agent whose dialect the session speaks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialect: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The window as the client itself gave it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub told_window: Option<u64>,
    /// The transcript's size when it was last read.
    #[serde(skip_serializing_if = "is_zero")]
    pub read_to: u64,
    /// What stands before this place in the transcript was compacted away.
    #[serde(skip_serializing_if = "is_zero")]
    pub floor: u64,
    /// The tokens that an event was last stored with, for the curve of the context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub charted: Option<u64>,
    /// The highest warning that was given, in percent.
    #[serde(skip_serializing_if = "is_nothing")]
    pub warned: u8,
    /// How often in a row a stop was refused.
    #[serde(skip_serializing_if = "is_nothing")]
    pub stops: u8,
    /// How the words begin that a stop was last refused with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent_back: Option<String>,
    /// What is told or done once and was.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub once: Vec<Once>,
    /// Files that were named instead of shown and have not been read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<String>,
    /// The conversation that started this worker, and is reported to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reports_to: Option<String>,
    /// Questions that stand before the user.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub asks: Vec<Ask>,
    /// When something was last asked of the user that had not been asked before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked_at: Option<Ms>,
    /// The last turn ended in an error, and nothing has been done since.
    #[serde(skip_serializing_if = "is_no")]
    pub failed: bool,
    /// The mark of a failed tool stands beside the session.
    #[serde(skip_serializing_if = "is_no")]
    pub failed_tool: bool,
    /// The last turn ended while tasks of it ran on.
    #[serde(skip_serializing_if = "is_no")]
    pub background: bool,
    /// When the terminal was last rung, by the status it was rung for.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub rung: BTreeMap<String, Ms>,
    /// Something was said in it while memory was off: nobody finds it again.
    #[serde(skip_serializing_if = "is_no")]
    pub memory_off: bool,
    /// Unfinished work that it was offered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offered: Option<Offered>,
    /// Who tells of what came of its calls, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub results: Option<ResultsBy>,
    /// Its last wake-up, which outlives the messages it was for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub woken: Option<Woken>,
}

/// Who tells of what came of a session's calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResultsBy {
    Hooks,
    /// No hook is registered for it: it is read from the transcript at the next event.
    Transcript,
}

/// Unfinished work that a session was told of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offered {
    /// The effort's id, or that of the session which wrote the note.
    pub work: String,
    /// No prompt has come since: a plain no is the answer to it.
    pub fresh: bool,
}

/// A line was pasted for an idle session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Woken {
    pub at: Ms,
    /// How often it was woken since a person last spoke.
    pub row: u32,
}

/// A question to the user: who in the session asks, and what about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    /// A sub-agent's id, or empty for the session itself.
    pub by: String,
    /// A mark of the call or the dialog.
    pub about: String,
}

/// Things that happen once in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Once {
    /// It was reminded to say what it does.
    StatusReminder,
    /// It was asked to report before it ends.
    ReportAsked,
    /// It has written to somebody: it is not asked to report any more.
    Wrote,
    /// It has reported to whom it works for: `taut worker done`, or `taut send` to them.
    Reported,
    /// It was told that the overflow gate is about to close.
    OverflowWarning,
    /// Its user was told what is wrong with the configuration.
    ConfigurationNotice,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SessionState {
    #[default]
    Created,
    Active,
    ToolActive,
    Idle,
    Ended,
}

impl SessionState {
    pub fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Active => "active",
            Self::ToolActive => "tool_active",
            Self::Idle => "idle",
            Self::Ended => "ended",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "created" => Some(Self::Created),
            "active" => Some(Self::Active),
            "tool_active" => Some(Self::ToolActive),
            "idle" => Some(Self::Idle),
            "ended" => Some(Self::Ended),
            _ => None,
        }
    }
}

impl Session {
    pub fn open(&self) -> bool {
        self.ended_at.is_none()
    }

    /// How full the context is, where 100 is the point of auto-compaction.
    pub fn context_percent(&self) -> Option<f64> {
        percent(self.context_tokens?, self.context_limit?)
    }

    /// How full the whole window is.
    pub fn raw_context_percent(&self) -> Option<f64> {
        percent(self.context_tokens?, self.context_window?)
    }
}

impl ContextMemo {
    /// What of it holds for the session that follows.
    pub fn inherited(&self) -> Self {
        // A worker reports once, however many windows its work takes.
        let said = |once: &&Once| self.reports_to.is_some() && matches!(once, Once::Wrote | Once::Reported);
        Self {
            dialect: self.dialect.clone(),
            model: self.model.clone(),
            told_window: self.told_window,
            reports_to: self.reports_to.clone(),
            once: self.once.iter().filter(said).copied().collect(),
            ..Self::default()
        }
    }

    /// With what was counted in a row until now.
    #[must_use]
    pub fn counting_on(self, before: &Self) -> Self {
        Self { stops: before.stops, sent_back: before.sent_back.clone(), ..self }
    }

    pub fn has(&self, once: Once) -> bool {
        self.once.contains(&once)
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn is_no(value: &bool) -> bool {
    !value
}

fn is_nothing(number: &u8) -> bool {
    *number == 0
}

fn percent(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 * 100.0 / whole as f64)
}
