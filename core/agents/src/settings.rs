//! An agent's settings files: what is put into them, what was found in them, and
//! what each dialect declares of its own.

pub use crate::hook_file::SHARED_PROGRAM;
pub use model::session::ResultsBy;

use model::EventKind;
use std::fmt;

/// Where an agent's settings are, and how our hooks get in and out again. All of
/// it works on texts: reading and writing files is the world's.
#[derive(Debug)]
pub struct SettingsDialect {
    /// Below the agent's own folder of the user.
    pub user_file: &'static str,
    /// Below a project; shared by everyone who works on it.
    pub project_file: Option<&'static str>,
    /// One person's own in the project.
    pub local_file: Option<&'static str>,
    /// The arguments of our command; they stay the same across upgrades.
    pub args: &'static [&'static str],
    /// Every event that is registered, in the order of a session's life.
    pub registered: &'static [Registered],
    pub edit: fn(&str, &SettingsPlan) -> Result<Edited, SettingsError>,
    pub remove: fn(&str, &[String]) -> Result<Edited, SettingsError>,
    pub inspect: fn(&str) -> Result<Inspection, SettingsError>,
    /// How a server of tools is registered with it; `None` for an agent that takes none.
    pub server: Option<ServerDialect>,
    /// The line that waits for a person's answer; `None` for an agent that cannot be answered from elsewhere.
    pub waiting: Option<WaitingLine>,
    pub versions: ClientVersions,
    pub proof: ProofDialect,
    /// How our line gets into its status bar; `None` for an agent that has none to be filled.
    pub status_line: Option<StatusLineSetting>,
    /// Where the agent runs no hook before its user has agreed to it.
    pub review: Option<HookReview>,
}

/// How an agent has its hooks reviewed before it runs them.
#[derive(Debug)]
pub struct HookReview {
    /// What the user has to do, as one sentence.
    pub how: &'static str,
    /// Why all of them run, where none is waiting.
    pub passed: &'static str,
    /// The file below the agent's own folder that keeps what was agreed to.
    pub file: &'static str,
    /// Of that file's text and the settings file at that path: the events of ours that the agent does not run. An agent may
    /// keep what was agreed to as a hash, which is made by whoever asks.
    pub waiting: fn(record: &str, settings: &str, path: &str, sha256: TextHash) -> Vec<String>,
}

/// The hash of a text, in hexadecimal letters.
pub type TextHash = fn(&str) -> String;

/// A second line on the event of a permission, which waits until a person has answered from elsewhere. It is there only
/// where the user has switched that on, and stands in the user's own file alone.
#[derive(Debug)]
pub struct WaitingLine {
    /// The arguments of our command.
    pub args: &'static [&'static str],
    /// The first client that it works with.
    pub since: Version,
    /// Puts the line in, or brings it up to date; what is there of other lines stays.
    pub edit: fn(&str, &SettingsPlan) -> Result<Edited, SettingsError>,
    pub remove: fn(&str) -> Result<Edited, SettingsError>,
    /// What it prints at the beginning of a session, so that a change of the file at this path wakes the client.
    pub watch: fn(&str) -> String,
}

/// The line of an agent's status bar, in the settings that hold its hooks. One that is there already goes on being shown.
#[derive(Debug)]
pub struct StatusLineSetting {
    /// Puts our line in, with the absolute path of the program. Whoever takes the hooks out takes this out too.
    pub edit: fn(&str, &str) -> Result<Edited, SettingsError>,
    /// The program that our line starts, where there is one.
    pub inspect: fn(&str) -> Result<Option<String>, SettingsError>,
}

/// The agent's list of servers of the Model Context Protocol, in a file of the user's own.
#[derive(Debug)]
pub struct ServerDialect {
    /// In the agent's own folder: where this file is there, it is the one.
    pub first_file: &'static str,
    /// Else this one, in the user's home, or in the agent's own folder where a variable names that.
    pub file: &'static str,
    /// The arguments of our command.
    pub args: &'static [&'static str],
    /// Puts our server in, with the absolute path of the program.
    pub edit: fn(&str, &str) -> Result<Edited, SettingsError>,
    pub remove: fn(&str) -> Result<Edited, SettingsError>,
    /// The program that our entry starts, where there is one.
    pub inspect: fn(&str) -> Result<Option<String>, SettingsError>,
}

/// How the client says which version it is, and what follows from it.
#[derive(Debug)]
pub struct ClientVersions {
    pub program: &'static str,
    pub args: &'static [&'static str],
    pub parse: fn(&str) -> KnownClient,
    /// The first version that starts a hook without a shell; `None` for an agent that starts it the same way in all.
    pub exec_form: Option<Version>,
    /// What the user should know about this client, if anything.
    pub note: fn(KnownClient) -> Option<String>,
    /// The command that brings the client up to date.
    pub update: &'static str,
}

/// A call that is only ever told to the hook and never run. With something no policy lets through it proves an
/// installation; with any other line it shows that the guard's verdict is the same through this agent.
#[derive(Debug)]
pub struct ProofDialect {
    /// What the client would send before its shell tool runs the command, in a folder and under a mark that tells this
    /// call from every other one.
    pub payload: fn(cwd: &str, mark: &str, command: &str) -> String,
    /// Ends the session that the call opened.
    pub farewell: fn(cwd: &str, mark: &str) -> String,
    /// The reason the hook gave for denying the call; `None` when it did not deny it.
    pub denial: fn(&str) -> Option<String>,
}

/// The command that an installation's proof tells; the guard's floor denies it under any configuration.
pub const DENIED_COMMAND: &str = "rm -rf /";

/// What is to be in the settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsPlan {
    /// Absolute path of the `taut` that is called; in settings that a team shares the name alone, [`SHARED_PROGRAM`].
    pub command: String,
    /// The client that will read the settings.
    pub client: KnownClient,
    pub on_failure: GuardFailure,
    /// Rules for `permissions.allow`, for presets whose gates need a way out.
    pub allow: Vec<String>,
    /// Who has to tell what came of a call.
    pub results: ResultsBy,
}

/// What the client does when the guard itself fails.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum GuardFailure {
    #[default]
    Continue,
    /// Stops the tool: `guard.on_failure = "closed"`.
    Block,
}

/// The settings after an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    pub text: String,
    pub leaves: Leaves,
    /// Events whose entry was added, replaced or removed.
    pub events: Vec<String>,
    /// Permission rules that were added (or removed); those that were already
    /// there are the user's own.
    pub allow: Vec<String>,
}

/// What is left of the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leaves {
    Settings,
    /// Nothing but what was in the file before it held any settings: a file
    /// that was made by us may go.
    Nothing,
    /// The whole file was ours.
    NoFile,
}

/// What the settings say about us.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inspection {
    pub entries: Vec<HookEntry>,
    /// The lines that wait for a person's answer: one where the user has switched that on.
    pub waiting: Vec<HookEntry>,
    /// A plugin of ours that is switched on, and brings the same hooks.
    pub plugin: Option<String>,
    /// `disableAllHooks` is set: nothing of ours runs.
    pub hooks_disabled: bool,
    /// The first thing that is not plain JSON. We read and keep it, but the real
    /// client was seen to ignore the whole file then, without a word.
    pub ignored_for: Option<SettingsError>,
}

/// One of our entries as it stands in the settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookEntry {
    pub event: String,
    /// The program that is called.
    pub program: String,
    pub form: CommandForm,
    /// Someone narrowed the entry to some tools or kinds.
    pub matcher: Option<String>,
    pub line: usize,
}

/// Why the settings cannot be edited. Nothing is ever half edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsError {
    pub line: usize,
    pub column: usize,
    pub why: String,
}

/// One event Taut asks to be called for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Registered {
    pub kind: EventKind,
    /// What the agent calls it.
    pub name: &'static str,
    /// The first client known not to trip over it. A client that does not know
    /// an event may refuse the whole settings file.
    pub since: Version,
    /// Seconds until the client gives up. Far above our own limits, far below
    /// the client's default of ten minutes.
    pub timeout: u32,
    /// What Taut does with it.
    pub reason: &'static str,
    /// It comes after every call, and its transcript tells the same at the next event: registered where something answers
    /// on it.
    pub after_calls: bool,
}

/// The events that a configuration needs: the one place that says which. Every event of a client that knows it, but after
/// each call only where somebody has to be told at once.
pub fn needed(
    registered: &'static [Registered],
    client: KnownClient,
    results: ResultsBy,
) -> impl Iterator<Item = &'static Registered> {
    let from_transcript = results == ResultsBy::Transcript && client.has(Version::TELLS_REQUESTS);
    registered.iter().filter(move |event| client.has(event.since) && !(event.after_calls && from_transcript))
}

/// An event that every version tells, under the name that it has here.
pub const fn on(kind: EventKind, reason: &'static str) -> Registered {
    on_named(kind, kind.name(), reason)
}

/// The same under a name of the agent's own.
pub const fn on_named(kind: EventKind, name: &'static str, reason: &'static str) -> Registered {
    Registered { kind, name, since: Version(0, 0, 0), timeout: 10, reason, after_calls: false }
}

/// A version of the client, `2.1.325`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32, pub u32);

/// The client that will read the settings, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnownClient {
    Known(Version),
    /// Not found, or its answer could not be read: taken for a current one.
    Unknown,
}

/// How the command is written into the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandForm {
    /// `command` and `args`, run without a shell.
    Exec,
    /// One line for `sh -c`.
    Shell,
}

impl Version {
    /// Reads the first version in a text, `v2.1.325 (…)`.
    pub fn parse(text: &str) -> Option<Self> {
        text.split_whitespace().find_map(|word| {
            let word = word.strip_prefix('v').unwrap_or(word);
            let mut numbers = word.split(['.', '-', '+']).map(str::parse);
            match (numbers.next(), numbers.next(), numbers.next()) {
                (Some(Ok(major)), Some(Ok(minor)), Some(Ok(patch))) => Some(Self(major, minor, patch)),
                _ => None,
            }
        })
    }
}

impl SettingsPlan {
    /// The events that are to be there. Whoever shares the settings may have another configuration and another client.
    pub fn events(&self, registered: &'static [Registered]) -> Vec<&'static Registered> {
        let results = if self.is_shared() { ResultsBy::Hooks } else { self.results };
        needed(registered, self.client, results).collect()
    }

    /// The settings are read on other machines too.
    pub fn is_shared(&self) -> bool {
        self.command == SHARED_PROGRAM
    }
}

impl KnownClient {
    /// What the client printed of its version.
    pub fn parse(text: &str) -> Self {
        Version::parse(text).map_or(Self::Unknown, Self::Known)
    }

    pub fn has(self, since: Version) -> bool {
        match self {
            Self::Known(version) => version >= since,
            Self::Unknown => true,
        }
    }
}

impl SettingsError {
    pub(crate) fn at(text: &str, offset: usize, why: impl Into<String>) -> Self {
        let before = text.get(..offset).unwrap_or_default();
        let before = before.strip_prefix('\u{feff}').unwrap_or(before);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Self { line, column, why: why.into() }
    }
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.why)
    }
}

impl std::error::Error for SettingsError {}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}
