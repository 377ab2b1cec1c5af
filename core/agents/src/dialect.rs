//! What a dialect is: everything that differs between one agent and another, as
//! one value that each agent's folder declares.

use crate::settings::SettingsDialect;
use model::agent::AgentProfile;
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
    /// The fields that name the event; without one a payload is no event.
    pub event_fields: &'static [&'static str],
    /// The fields that hold a tool's input, for payloads that are not whole.
    pub input_fields: &'static [&'static str],
    /// What the agent calls the one event that is asked before something is run or written.
    pub gate_event: &'static str,
    pub decode: fn(&Map<String, Value>) -> Envelope,
    pub encode: fn(&Envelope, &Reply) -> Answer,
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
}

/// How the agent's process is recognised.
#[derive(Debug)]
pub struct ClientProgram {
    /// Names of its program.
    pub names: &'static [&'static str],
    /// Ends of the path of the script that an interpreter runs.
    pub scripts: &'static [&'static str],
    /// Folders whose programs are the client, whatever they are called.
    pub folders: &'static [&'static str],
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
}

/// How the agent's screen is read.
#[derive(Debug)]
pub struct ScreenDialect {
    /// Whether the input line is there, has the keyboard, and is empty.
    pub prompt: fn(CapturedScreen<'_>) -> Prompt,
    /// What stands in it, without any blanks.
    pub typed: fn(CapturedScreen<'_>) -> Option<String>,
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
