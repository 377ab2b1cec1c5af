//! Efforts: one invocation of a skill each. They outlive context windows, and
//! hold what an agent must know to go on: phase, directives, counters, account.

use crate::agent_name::AgentNames;
use crate::call::ClientProcess;
use crate::session::{Once, Session};
use crate::session_work::{SessionHistory, SessionWork};
use crate::time::Ms;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One invocation of a skill. Its artifacts lie in its task's folder, prefixed
/// with its ordinal.
#[derive(Debug, Clone, PartialEq)]
pub struct Effort {
    /// Our own id (UUIDv7).
    pub id: String,
    pub agent: String,
    pub project: String,
    /// The task's slug, unique per project.
    pub task: String,
    /// The task's folder, absolute.
    pub folder: String,
    pub ordinal: i64,
    pub skill: String,
    /// The session that carries it now.
    pub session: Option<String>,
    /// It was begun by a client started from within another: only the sessions
    /// that follow that one inherit it.
    pub line: EffortLineage,
    pub phase: Option<String>,
    /// From the start to the first phase nothing is counted.
    pub loading: bool,
    /// What the skill's own file declared when the effort began.
    pub declared: Value,
    /// What was said at activation: guards and whatever else its skill wants.
    pub metadata: Value,
    /// Files that were read for it, sub-agents' included.
    pub files: Vec<String>,
    pub started_at: Ms,
    pub finished_at: Option<Ms>,
    /// What it is about, in the words of the prompt that began it.
    pub title: Option<String>,
    /// How it ended.
    pub end: Option<EffortEnd>,
}

/// How an effort ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EffortEnd {
    Finished,
    /// Somebody said no to going on with it.
    Declined,
    /// Nothing was heard of it for too long.
    Stale,
}

/// Something of a project that nobody has brought to an end: an effort, or the
/// newest note of a line of sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnfinishedWork {
    /// The effort's id, or that of the session which wrote the note.
    pub id: String,
    pub kind: UnfinishedKind,
    pub agent: String,
    /// The session that carried it last, and the conversation of that.
    pub session: Option<String>,
    pub conversation: Option<String>,
    /// The agent that session was of, by its dialect, where it is known.
    pub dialect: Option<String>,
    pub title: String,
    pub phase: Option<String>,
    /// When something was last heard of it.
    pub seen: Ms,
    pub carrier: Carrier,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnfinishedKind {
    Effort,
    Note,
}

/// Who has an effort or a line of sessions in hand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Carrier {
    /// Nobody: the session has ended.
    #[default]
    Nobody,
    /// A session that is open, as far as is known, with this client.
    Open(Option<ClientProcess>),
}

/// Whose sessions carry an effort on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EffortLineage {
    /// The agent's own.
    #[default]
    Agent,
    /// A child's: a second live client under the same name.
    Child,
}

/// A step of an effort from one phase to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhaseStep {
    pub effort: String,
    pub label: String,
    pub at: Ms,
    /// Why a jump was approved.
    pub approved: Option<String>,
}

/// What an agent, or Taut in its place, wrote down for the session after.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HandOver {
    #[serde(default)]
    pub summary: String,
    #[serde(default)]
    pub last_action: String,
    #[serde(default)]
    pub next_steps: Vec<String>,
    #[serde(default)]
    pub required_files: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handover_instructions: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_history: Option<String>,
    /// Made from stored state because the agent had no time to write its own.
    #[serde(default)]
    pub mini: bool,
    /// What the session did, as its events tell.
    #[serde(default, skip_serializing_if = "SessionWork::is_empty")]
    pub work: SessionWork,
}

/// An account as stored: found by the next sessions of this agent until a newer one
/// takes its place, and by nobody else unless they take it up by hand.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoredHandOver {
    pub agent: String,
    /// The session it was written in.
    pub session: String,
    pub effort: Option<String>,
    pub line: EffortLineage,
    pub at: Ms,
    pub project: String,
    pub conversation: String,
    /// What it is about: the first line of the first prompt.
    pub title: String,
    /// A session has been shown it.
    pub told: bool,
    /// Somebody may want to go on with it.
    pub unfinished: bool,
    pub hand_over: HandOver,
}

impl HandOver {
    /// The agent's own words say so, or what it left.
    pub fn is_unfinished(&self) -> bool {
        !self.mini || self.work.is_unfinished()
    }
}

/// What is counted for a session, or for one sub-agent of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counters {
    pub session: String,
    /// A sub-agent's id, or empty for the session itself.
    pub sub_agent: String,
    /// Tool calls since the last `taut log`.
    pub since_log: u32,
    /// All counted tool calls.
    pub calls: u32,
    /// Tool calls made while a required directive waits to be read.
    pub unread_calls: u32,
    /// The file of the last edit: more edits of it in a row count once.
    pub last_edit: Option<String>,
    /// Folders that were looked through for directives.
    pub folders: Vec<String>,
    /// Rules that are told once and were.
    pub told: Vec<String>,
}

/// A directive file that was found on the way from a touched folder to the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Directive {
    pub effort: String,
    /// Full path: two files of one name are two directives.
    pub path: String,
    /// The skill wants it read.
    pub required: bool,
    pub read: bool,
}

/// A sub-agent's own session, inside that of its parent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubSession {
    /// The parent's session.
    pub session: String,
    pub sub_agent: String,
    pub kind: String,
    pub effort: Option<String>,
    pub started_at: Ms,
    pub last_seen_at: Ms,
    pub ended_at: Option<Ms>,
    pub files: Vec<String>,
}

/// A `taut` line that the hook which saw it has carried out: the process that
/// follows finds it done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreExecuted {
    pub agent: String,
    pub project: String,
    /// The words after `taut`, as the process will get them.
    pub words: Vec<String>,
    /// The host's id of the session that asked: no other is handed the answer.
    pub session: Option<String>,
    pub at: Ms,
    /// What the process is to print.
    pub output: String,
    /// Why it was refused, if it was.
    pub refused: Option<Refused>,
}

/// Why a command was not carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    Failed(String),
    /// What it names is not there.
    NotFound(String),
}

/// Something said to or by an agent, kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub id: String,
    pub at: Ms,
    /// `dialogue`, `log`, `tool_failure`, `stop_failure`, `host_task`, `note`, `worker_done`, …
    pub kind: String,
    pub from_agent: Option<String>,
    /// Whom it waits for; one that is for nobody in particular is only kept.
    pub to: Option<Addressee>,
    pub session: Option<String>,
    pub body: String,
}

/// Whom a message is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Addressee {
    Agent(String),
    /// Whichever session carries the conversation when it is told.
    Conversation(String),
    /// Somebody on another machine, who is told by way of a server.
    Remote(Box<RemoteAddressee>),
}

/// More messages to other machines than this do not wait on one for a server: they are meant to be read.
pub const MOST_OUTGOING: u64 = 2_000;

/// Whom a message to another machine is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteAddressee {
    /// The server's own id.
    pub server: String,
    /// The machine's own id; `None` where it is for a conversation, whichever machine carries that.
    pub machine: Option<String>,
    /// The agent's id there, or the conversation.
    pub name: String,
    /// As people write it: `api@vm-3`.
    pub shown: String,
}

/// Messages that wait for whom an event is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WaitingMessages {
    /// The oldest few.
    pub first: Vec<Message>,
    /// How many wait besides.
    pub more: u64,
    /// What those who wrote the first few are called.
    pub names: AgentNames,
}

/// What is written of all this.
#[derive(Debug, Clone, PartialEq)]
pub enum MemoryWrite {
    /// Insert or replace; the task is made if there is none.
    Effort(Box<Effort>),
    Phase(PhaseStep),
    HandOver(Box<StoredHandOver>),
    /// What was written down for the agent of this session has been shown to it.
    Recovered {
        session: Box<Session>,
        line: EffortLineage,
    },
    Counters(Counters),
    Directive(Directive),
    /// The context of an effort is a new one, and has read none of its directives.
    DirectivesUnread {
        effort: String,
    },
    SubSession(SubSession),
    PreExecuted(PreExecuted),
    Message(Message),
    /// The message has been told, or read by whom it was for.
    Delivered {
        message: String,
        at: Ms,
    },
    /// The session has done something that is done once.
    Once {
        session: String,
        once: Once,
    },
    /// What a session is doing, in its own words.
    Status {
        session: String,
        text: String,
    },
    /// Work that nobody goes on with: an effort, or the notes of a line of sessions.
    WorkEnded {
        work: Box<UnfinishedWork>,
        end: EffortEnd,
        at: Ms,
    },
    /// The notes of a line of sessions are this agent's from now on.
    NoteTaken {
        work: Box<UnfinishedWork>,
        agent: String,
    },
    /// The session goes on with what another left.
    Followed {
        session: String,
        prev: String,
        conversation: String,
    },
}

/// What is known of an agent's efforts when an event arrives.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EffortRows {
    /// Active ones of the agents that the open sessions belong to, newest first.
    pub efforts: Vec<Effort>,
    /// Of the session and sub-agent the event is about.
    pub counters: Option<Counters>,
    /// Of the newest effort.
    pub directives: Vec<Directive>,
    /// The newest account of the agent.
    pub account: Option<StoredHandOver>,
    /// That of a child's own line of sessions, where the session seems to be one.
    pub child_account: Option<StoredHandOver>,
    /// What is stored of the session that a note is to be written for.
    pub history: SessionHistory,
    /// The newest account of another session of the agent, where a note is to be written.
    pub earlier_account: Option<StoredHandOver>,
    pub sub_session: Option<SubSession>,
    /// The ordinal an effort would get that this event begins, and its task's own folder.
    pub next_ordinal: i64,
    pub task_folder: Option<String>,
    /// The effort that is asked for by name.
    pub named: Option<Effort>,
    /// That effort, or the note that is asked for, and the note itself.
    pub named_work: Option<UnfinishedWork>,
    pub named_note: Option<StoredHandOver>,
    /// More than one has an id that ends so.
    pub named_twice: bool,
    /// What is unfinished in the project: read where a session starts, or where it is asked for.
    pub unfinished: Vec<UnfinishedWork>,
    /// The last prompt of the session: read where an effort begins.
    pub last_prompt: Option<String>,
    /// Whom a message that is to be sent is for, or who there is instead.
    pub addressee: Option<Addressee>,
    pub names: Vec<String>,
    /// What that agent is called, or all that could be meant.
    pub addressee_name: Option<String>,
    pub addressees: Vec<String>,
    /// It is for another machine, and as many wait for the server as are kept.
    pub outbox_is_full: bool,
    /// Messages that the agent asks for.
    pub inbox: Vec<Message>,
    /// The conversation that started this worker.
    pub reports_to: Option<String>,
    /// The agents that carry it, where a message to an agent is to be sent.
    pub starters: Vec<String>,
}

impl Effort {
    pub fn active(&self) -> bool {
        self.finished_at.is_none()
    }

    /// Words its task is found by, as its metadata gives them: a list, or a text with commas.
    pub fn keywords(&self) -> Vec<&str> {
        let words: Vec<&str> = match self.metadata.get("keywords") {
            Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).collect(),
            Some(Value::String(words)) => words.split(',').collect(),
            _ => Vec::new(),
        };
        words.into_iter().map(str::trim).filter(|word| !word.is_empty()).collect()
    }

    /// `1_IMPLEMENT_LOG.md`: where an artifact of this effort lies.
    pub fn artifact(&self, what: &str) -> String {
        let skill: String =
            self.skill.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
        format!("{}/{}_{skill}_{what}.md", self.folder, self.ordinal)
    }
}

impl EffortEnd {
    pub fn name(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Declined => "declined",
            Self::Stale => "stale",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        [Self::Finished, Self::Declined, Self::Stale].into_iter().find(|end| end.name() == text)
    }
}

/// The shortest end of an id that none of the others has, of three letters or more.
pub fn short_id<'i, 'o>(id: &'i str, others: impl Iterator<Item = &'o str> + Clone) -> &'i str {
    let ends = (3..id.len()).filter_map(|length| id.get(id.len() - length..));
    let mut alone = ends.filter(|end| !others.clone().any(|other| other != id && other.ends_with(end)));
    alone.next().unwrap_or(id)
}

impl Addressee {
    pub fn name(&self) -> &str {
        match self {
            Self::Agent(name) | Self::Conversation(name) => name,
            Self::Remote(remote) => &remote.shown,
        }
    }
}

impl Refused {
    pub fn why(&self) -> &str {
        match self {
            Self::Failed(why) | Self::NotFound(why) => why,
        }
    }
}

impl From<String> for Refused {
    fn from(why: String) -> Self {
        Self::Failed(why)
    }
}

impl From<&str> for Refused {
    fn from(why: &str) -> Self {
        Self::Failed(why.to_string())
    }
}

impl HandOver {
    /// More files than this are not asked for.
    pub const MOST_FILES: usize = 8;
}

impl EffortLineage {
    pub fn name(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Child => "child",
        }
    }

    pub fn parse(text: &str) -> Self {
        if text == "child" { Self::Child } else { Self::Agent }
    }
}
