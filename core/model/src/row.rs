//! Rows that are not sessions: agents and events as stored and shown.

use crate::call::Answer;
use crate::time::Ms;
use crate::verdict::Level;
use serde_json::Value;

/// A worker of the fleet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    pub id: String,
    /// Named by its environment; unnamed ones are forgotten after they end.
    pub named: bool,
    pub status: AgentStatus,
    /// Which agent it is, by its dialect.
    pub dialect: Option<String>,
    pub session: Option<String>,
    pub project: String,
    /// When the status last changed.
    pub since: Ms,
}

/// What an agent's owner wants to know at a glance. The most urgent first, so
/// that the least of many is what they are shown as.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AgentStatus {
    Error,
    Attention,
    #[default]
    Working,
    Checked,
    Done,
}

impl AgentStatus {
    pub const ALL: [Self; 5] = [Self::Error, Self::Attention, Self::Working, Self::Checked, Self::Done];

    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Attention => "attention",
            Self::Working => "working",
            Self::Checked => "checked",
            Self::Done => "done",
        }
    }

    /// One cell beside its word, the same wherever a status is shown: nothing is told by colour alone.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Error => "✖",
            Self::Attention => "▲",
            Self::Working => "●",
            Self::Checked => "◇",
            Self::Done => "○",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "error" => Some(Self::Error),
            "attention" => Some(Self::Attention),
            "working" => Some(Self::Working),
            "checked" => Some(Self::Checked),
            "done" => Some(Self::Done),
            _ => None,
        }
    }
}

/// One hook call as it happened, with the verdict and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Our own id (UUIDv7).
    pub id: String,
    pub at: Ms,
    /// Unique: the host session, event and tool call where there is one, else the request.
    pub key: String,
    pub agent: String,
    pub session: Option<String>,
    pub host_session: Option<String>,
    pub sub_agent: Option<String>,
    pub event: String,
    pub tool: Option<String>,
    pub verdict: Level,
    pub rules: Vec<String>,
    pub reason: Option<String>,
    /// What is kept of the payload, redacted.
    pub detail: Value,
    /// How long the way from decoding to the decision took.
    pub micros: u64,
    /// What was answered, so that the same call is answered the same. Stored only when not empty.
    pub answer: Answer,
}

impl Event {
    /// One that no hook call brought: it judged nothing and answered nobody. Its key is its id.
    pub fn noted(name: &str, agent: &str, id: String, at: Ms) -> Self {
        Self {
            key: id.clone(),
            id,
            at,
            agent: agent.to_string(),
            session: None,
            host_session: None,
            sub_agent: None,
            event: name.to_string(),
            tool: None,
            verdict: Level::Pass,
            rules: Vec::new(),
            reason: None,
            detail: Value::Null,
            micros: 0,
            answer: Answer::default(),
        }
    }
}
