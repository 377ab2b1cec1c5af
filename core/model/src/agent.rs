//! What is known of an agent, as its dialect declares it: names, what it can be
//! told, and pure readers of what it writes. A room that knows no dialect asks here.

use crate::call::Environment;
use crate::event::{Envelope, EventKind};
use crate::fact::TranscriptTail;
use crate::time::Ms;
use serde_json::Value;
use std::path::Path;

/// One agent, declared once by its dialect.
#[derive(Debug)]
pub struct AgentProfile {
    /// What users type after `--agent`.
    pub id: &'static str,
    /// What people call it.
    pub name: &'static str,
    /// Its folder of settings, skills and roles, below a home or a project.
    pub folder: &'static str,
    /// The file of a project, or of its own folder, that it reads its instructions from.
    pub instructions: &'static str,
    pub expresses: Expresses,
    pub helpers: HelperSessions,
    /// It tells when all calls of one answer of its model have come back.
    pub tells_batches: bool,
    pub variables: AgentVariables,
    /// Context windows by the beginning of a model's name; the first that fits.
    pub windows: &'static [(&'static str, u64)],
    pub transcript: TranscriptReader,
}

/// What an agent can be told. What it cannot express is not said to it: a
/// question becomes a denial, and context waits for an event that carries it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expresses {
    /// A call can be put before the user.
    pub ask: bool,
    /// Events whose answer can give the model context.
    pub context: EventSet,
    /// Events after which the agent can be told to go on or to leave something.
    pub block: EventSet,
    /// The agent can be made to end its run.
    pub halt: bool,
    /// A line can be shown to the user beside an answer.
    pub user_line: bool,
    /// A call can be changed before it runs. Nothing here does, but people ask.
    pub rewrite: bool,
}

/// How an agent's events of its helpers are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HelperSessions {
    /// They carry the session of their parent and the helper's own mark, or are not told at all.
    Marked,
    /// They carry a session id of their own; an earlier event said whose helper that is.
    Own,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventSet {
    Every,
    Only(&'static [EventKind]),
}

/// The names of an agent's environment variables, by what they say. Where there
/// are several the first that is set counts.
#[derive(Debug, Clone, Copy)]
pub struct AgentVariables {
    /// Given to everything it starts. Every version gives the first one; to its hooks instead those that are also in
    /// `given_to_hooks`, where there are any.
    pub marks: &'static [&'static str],
    /// Whoever has one of these speaks for an agent.
    pub inside: &'static [&'static str],
    /// Those of the allow-list that it tells each of its hooks anew.
    pub given_to_hooks: &'static [&'static str],
    /// Those of the allow-list that are what it was started with.
    pub started_with: &'static [&'static str],
    /// The number of its process.
    pub process: &'static [&'static str],
    /// The folder it was started in.
    pub project: &'static [&'static str],
    /// Its own folder of the user, in place of the usual one.
    pub folder: &'static [&'static str],
    /// A folder that its own lies in, and what its own is called there: the home of this agent alone, or where everybody
    /// keeps their configuration.
    pub above: &'static [(&'static str, &'static str)],
    /// What its session is called by whoever started it.
    pub session: &'static [&'static str],
    /// Its own session id, as its tools are told it.
    pub tool_session: &'static [&'static str],
    pub role: &'static [&'static str],
    pub mode: &'static [&'static str],
    pub conversation: &'static [&'static str],
    /// The session that started this one.
    pub started_by: &'static [&'static str],
    /// Whether these variables say that nobody sits in front of it.
    pub unattended: fn(&Environment) -> bool,
}

/// How an agent's transcript is read. The first two take its end, of which the first
/// line may have lost its beginning.
#[derive(Debug, Clone, Copy)]
pub struct TranscriptReader {
    /// How full the context is; what stands before the given place in the file is of one that is no more.
    pub usage: fn(&TranscriptTail, u64) -> FoundUsage,
    /// The agent's last words.
    pub last_words: fn(&TranscriptTail) -> Option<String>,
    /// What one line says of a request to the model.
    pub spent: fn(&[u8]) -> Option<SpentRequest>,
    /// Where it tells of calls what the hooks after a call would tell.
    pub calls: Option<CallReader>,
}

/// How a transcript tells what came of calls. Both take the end of the file, and look at the lines of the session itself
/// or at those of a helper.
#[derive(Debug, Clone, Copy)]
pub struct CallReader {
    /// What came of these calls, in the order in which they came back.
    pub results: fn(&TranscriptTail, TranscriptOwner, &[String]) -> Vec<CallResult>,
    /// Whether the model was asked for another answer after this moment: then it has read what its calls were told until
    /// then. What does not tell is no.
    pub asked_since: fn(&TranscriptTail, TranscriptOwner, Ms) -> bool,
    /// The file of a helper, by the session's own file and the helper's id.
    pub of_helper: fn(&str, &str) -> Option<String>,
    /// What the hook after the call would have been told.
    pub payload: fn(&UntoldCall<'_>) -> Vec<u8>,
}

/// Whose lines are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TranscriptOwner {
    Session,
    Helper,
}

/// What came of one call.
#[derive(Debug, Clone, PartialEq)]
pub struct CallResult {
    /// The id of the call.
    pub call: String,
    /// When it was written down.
    pub at: Option<Ms>,
    pub outcome: CallOutcome,
}

#[derive(Debug, Clone, PartialEq)]
pub enum CallOutcome {
    Done(Value),
    Failed(String),
    /// It never ran, or was interrupted: no hook tells of it.
    Refused,
}

/// A call that came back without a hook that told of it.
#[derive(Debug, Clone, Copy)]
pub struct UntoldCall<'a> {
    /// The event before which, or after which, it is told.
    pub beside: &'a Envelope,
    pub result: &'a CallResult,
    pub tool: &'a str,
    pub input: &'a Value,
    pub duration_ms: Option<u64>,
}

/// What one request, or several, took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UsedTokens {
    /// Read afresh.
    pub input: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    pub output: u64,
}

/// A request to the model, as a transcript tells it: several lines may tell of one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SpentRequest {
    pub id: String,
    /// RFC 3339, where it says when.
    pub at: Option<String>,
    pub model: Option<String>,
    /// The family of models that it is reckoned as where none is told.
    pub family: &'static str,
    pub used: UsedTokens,
    /// In millionths of a dollar, where it says so.
    pub cost_micros: Option<i64>,
}

/// What the transcript says of the context, as it was at the end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Usage {
    pub tokens: u64,
    pub model: Option<String>,
}

/// What stands in the part of the transcript that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FoundUsage {
    Usage(Usage),
    /// A compaction that does not say what is left: unknown.
    Reset,
    /// Nothing in this part; an earlier one may have it.
    Earlier,
    /// Nothing at all: there is no more to read.
    Nothing,
}

impl AgentVariables {
    /// Of an agent that sets none; what it does set is written over it.
    pub const NONE: Self = Self {
        marks: &[],
        inside: &[],
        given_to_hooks: &[],
        started_with: &[],
        process: &[],
        project: &[],
        folder: &[],
        above: &[],
        session: &[],
        tool_session: &[],
        role: &[],
        mode: &[],
        conversation: &[],
        started_by: &[],
        unattended: |_| false,
    };
}

impl TranscriptReader {
    /// Of an agent that keeps none that we read.
    pub const NONE: Self =
        Self { usage: |_, _| FoundUsage::Nothing, last_words: |_| None, spent: |_| None, calls: None };
}

impl UsedTokens {
    pub fn all(self) -> u64 {
        [self.input, self.cache_read, self.cache_write, self.output].into_iter().fold(0, u64::saturating_add)
    }
}

impl PartialEq for AgentProfile {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl EventSet {
    pub fn has(self, kind: EventKind) -> bool {
        match self {
            Self::Every => true,
            Self::Only(kinds) => kinds.contains(&kind),
        }
    }
}

impl AgentVariables {
    /// Whether a process with this variable was certainly started by the agent: any version gives it one of these.
    pub fn is_first_mark(&self, name: &str) -> bool {
        self.marks.first() == Some(&name) || self.marks.contains(&name) && self.given_to_hooks.contains(&name)
    }

    /// Those that move its own folder of the user.
    pub fn places(&self) -> impl Iterator<Item = &'static str> {
        self.folder.iter().copied().chain(self.above.iter().map(|(name, _)| *name))
    }

    /// Where its own folder of the user is, if a variable moves it: a folder, and what to go down from there. What lies
    /// above counts only as an absolute path: another would be another in each folder that the agent is started in.
    pub fn moved<T: AsRef<Path>>(&self, value: impl Fn(&str) -> Option<T>) -> Option<(T, &'static str)> {
        let named = self.folder.iter().find_map(|name| value(name)).map(|folder| (folder, ""));
        named.or_else(|| {
            self.above.iter().find_map(|(name, below)| {
                value(name).filter(|folder| folder.as_ref().is_absolute()).map(|folder| (folder, *below))
            })
        })
    }
}

impl AgentProfile {
    /// The process that its environment names.
    pub fn process(&self, env: &Environment) -> Option<u32> {
        env.first(self.variables.process).and_then(|pid| pid.parse().ok())
    }

    /// Whether nobody answers: a background worker, a mission, or a client without a screen.
    pub fn is_unattended(&self, env: &Environment) -> bool {
        let mode = env.first(self.variables.mode);
        matches!(mode, Some("background" | "mission" | "autonomous")) || (self.variables.unattended)(env)
    }
}
