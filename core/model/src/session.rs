//! A session: one context window of one agent, bound to its client process.

use crate::call::ClientProcess;
use crate::time::Ms;

#[derive(Debug, Clone, PartialEq, Eq)]
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
    pub state: State,
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
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum State {
    #[default]
    Created,
    Active,
    ToolActive,
    Idle,
    Ended,
}

impl State {
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

fn percent(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 * 100.0 / whole as f64)
}
