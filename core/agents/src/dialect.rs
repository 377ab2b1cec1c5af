//! What a dialect is: everything that differs between one agent and another, as
//! one value that each agent's folder declares.

use crate::answer_form::AnswerForm;
use crate::prices::ModelPrice;
use crate::settings::SettingsDialect;
use model::agent::AgentProfile;
use model::card::CardAnswer;
use model::client_state::ClientState;
use model::fleet::Prompt;
use model::reply::{GateStop, Reply};
use model::run::{AgentOutput, Launch, LaunchLine};
use model::{Answer, Envelope};
use serde_json::{Map, Value};

/// One agent's dialect. All functions are pure and total.
#[derive(Debug)]
pub struct Dialect {
    pub profile: &'static AgentProfile,
    /// Other names users may type for it.
    pub aliases: &'static [&'static str],
    pub program: ClientProgram,
    pub tried: Tried,
    /// What people lose with this agent, one plain sentence each: shown when its hooks are installed.
    pub limits: &'static [&'static str],
    /// Whether a payload can be of this agent alone. An agent may run the hooks in another's settings file, and is
    /// known by what it sends: a repository can set variables for a hook, and cannot change its payload.
    pub recognises: Option<PayloadMark>,
    /// The fields that name the event; without one a payload is no event.
    pub event_fields: &'static [&'static str],
    /// The fields that hold a tool's input, for payloads that are not whole.
    pub input_fields: &'static [&'static str],
    /// What the agent calls the one event that is asked before something is run or written.
    pub gate_event: &'static str,
    pub decode: fn(&Map<String, Value>) -> Envelope,
    pub encode: fn(&Envelope, &Reply) -> Answer,
    /// All that `encode` may print: what the agent was seen to honour. See [`crate::answer_form`].
    pub forms: &'static [AnswerForm],
    /// What is answered to a payload that could not be read: the event a guard
    /// stands on is stopped, and any other ignores what is not its own.
    pub stop_unread: fn(GateStop) -> Answer,
    /// What a hook prints that crashed before it could judge anything: the user is asked. Fixed, because there may be no
    /// memory to make it of.
    pub unjudged: &'static str,
    pub settings: SettingsDialect,
    pub launch: LaunchDialect,
    /// Where its screen can be read.
    pub screen: Option<ScreenDialect>,
    /// Where it has a status line that a command can fill.
    pub status_line: Option<fn(&[u8]) -> StatusLineInput>,
    /// Where it keeps a file that says what it does.
    pub session_file: Option<SessionFileDialect>,
    /// Where a permission, a question or a plan can be answered from elsewhere. See [`PersonAnswer`].
    pub answer: Option<PersonAnswer>,
    /// All that `answer` may print, and nothing else may.
    pub answer_forms: &'static [AnswerForm],
}

/// What a person's own answer is printed as: the one way on which anything is allowed. `None` where it is no answer to
/// this call: then nothing is printed, and the agent's own dialog stands.
pub type PersonAnswer = fn(&Envelope, &CardAnswer) -> Option<Answer>;

/// Whether a payload bears the marks of one agent.
pub type PayloadMark = fn(&Map<String, Value>) -> bool;

/// How the agent's process is recognised.
#[derive(Debug)]
pub struct ClientProgram {
    /// Names of its program.
    pub names: &'static [&'static str],
    /// Ends of the path of the script that an interpreter runs.
    pub scripts: &'static [&'static str],
    /// Folders whose programs are the client, whatever they are called.
    pub folders: &'static [&'static str],
    /// Parts of the path of a script or program that belongs to its package.
    pub packages: &'static [&'static str],
}

/// What a dialect was made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tried {
    /// The agent itself, of this version, in our own tests.
    OnTheRealAgent(&'static str),
    /// Its documentation alone: installed only where the user asks for what is untried.
    FromDocumentation,
}

/// How the agent is started, and what it says of its work.
#[derive(Debug)]
pub struct LaunchDialect {
    /// What users start it as.
    pub program: &'static str,
    /// For one iteration of a loop.
    pub line: fn(&Launch) -> LaunchLine,
    /// The words that make an interactive client begin with a prompt.
    pub begin: fn(&str) -> Vec<String>,
    /// The words that make it go on with a session of its own.
    pub resume: fn(&str) -> Vec<String>,
    /// Takes in one line of what a started agent says of its work.
    pub hear: fn(&str, &mut AgentOutput),
    /// What `Permissions::Edits` comes to.
    pub edits: EditsMode,
    /// What the models of its own maker cost, the longer name before the shorter.
    pub prices: &'static [ModelPrice],
}

/// Whether an agent can be let edit and run named commands, and no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditsMode {
    /// It can.
    Native,
    /// It has no such mode. What it may do instead, in words that go on from "it may do".
    Instead(&'static str),
    /// It asks for nothing whatever is chosen. What it may do, in the same words.
    NeverAsks(&'static str),
}

/// The file in which a running client says what it does.
#[derive(Debug)]
pub struct SessionFileDialect {
    /// Below the agent's own folder, by the number of the client's process.
    pub path: fn(u32) -> String,
    /// The agent's own folder, told by where a session has its transcript.
    pub folder: fn(&str) -> Option<&str>,
    /// `None` for what cannot be read, or says nothing of its state.
    pub read: fn(&str) -> Option<ClientState>,
}

/// How the agent's screen is read.
#[derive(Debug)]
pub struct ScreenDialect {
    /// Whether the input line is there, has the keyboard, and is empty.
    pub prompt: fn(CapturedScreen<'_>) -> Prompt,
    /// What stands in it, without any blanks.
    pub typed: fn(CapturedScreen<'_>) -> Option<String>,
    /// Whether what stands in it, without blanks, is how this text is shown when it was pasted.
    pub shows: fn(&str, &str) -> bool,
    /// Whether the client works, and says that Esc stops it.
    pub works: fn(CapturedScreen<'_>) -> bool,
    /// Whether this text at the prompt is words for the agent, and nothing that the client itself obeys or completes.
    pub is_words: fn(&str) -> bool,
}

/// What `tmux capture-pane -p -e` prints, and where the cursor stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CapturedScreen<'a> {
    pub text: &'a str,
    /// Column and row, from zero.
    pub cursor: (usize, usize),
}

/// What a status line is told. What is absent or wrongly typed is `None`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StatusLineInput {
    pub session: String,
    pub cwd: Option<String>,
    pub model: Option<String>,
    pub model_name: Option<String>,
    pub window: Option<u64>,
    /// What the context holds; unknown before the first answer.
    pub tokens: Option<u64>,
    pub cost_usd: Option<f64>,
}

impl Dialect {
    /// What the agent is typed as after `--agent`.
    pub fn id(&self) -> &'static str {
        self.profile.id
    }

    /// Whether users mean it by this name.
    pub fn is_called(&self, name: &str) -> bool {
        self.id() == name || self.aliases.contains(&name)
    }
}
