//! Dialects: how each agent says things on stdin and wants to be answered on
//! stdout, where its settings are, how it is started and recognised. One folder
//! per agent; everything else speaks the words of `model`.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

mod agent_output;
pub mod answer_form;
pub mod answers;
pub mod claude_code;
pub mod codex;
pub mod copilot;
pub mod cursor;
pub mod dialect;
pub mod droid;
pub mod gemini;
pub mod grok;
pub mod hook_file;
pub mod kimi_code;
pub mod launch_words;
pub mod lenient;
mod line_place;
pub mod opencode;
pub mod others;
pub mod patch;
pub mod payload;
pub mod pi;
pub mod prices;
pub mod qwen;
mod read;
mod salvage;
pub mod settings;
pub mod shim;
pub mod spending;
pub mod tool_input;
pub mod tool_table;
pub mod transcript_lines;
pub mod vibe;
pub mod vscode;

pub use line_place::{LinePlace, line_place};
pub use read::may_be_payload;

pub use dialect::{CapturedScreen, Dialect, StatusLineInput};

pub use model::fact::TranscriptTail;

use model::{Envelope, Environment};

/// Every agent Taut speaks with. A new agent is a new folder and one line here.
pub const ALL: Dialects = Dialects(&[
    &claude_code::DIALECT,
    &codex::DIALECT,
    &copilot::DIALECT,
    &gemini::DIALECT,
    &qwen::DIALECT,
    &droid::DIALECT,
    &grok::DIALECT,
    &opencode::DIALECT,
    &pi::DIALECT,
    &kimi_code::DIALECT,
    &vibe::DIALECT,
    &cursor::DIALECT,
    &vscode::DIALECT,
]);

/// Where nobody says which agent is meant: `taut hook` without `--agent`, a
/// method over the socket, `taut loop`.
pub static DEFAULT: &Dialect = &claude_code::DIALECT;

/// A table of dialects.
#[derive(Debug, Clone, Copy)]
pub struct Dialects(pub &'static [&'static Dialect]);

/// A payload no event could be made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    pub why: String,
}

impl Dialects {
    /// The dialect of that id, or that users call so, however they write it: a hook installed by hand as `Claude_Code`
    /// must not go unjudged.
    pub fn find(self, name: &str) -> Option<&'static Dialect> {
        let (name, _) = line_place(name);
        let name = &name.trim().to_ascii_lowercase().replace(['_', ' '], "-");
        let by = |is: fn(&Dialect, &str) -> bool| self.0.iter().copied().find(|dialect| is(dialect, name));
        by(|dialect, name| dialect.id() == name).or_else(|| by(Dialect::is_called))
    }

    /// The ids, for people.
    pub fn ids(self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|dialect| dialect.id())
    }

    /// Turns a payload of that agent into an event.
    pub fn decode(self, agent: &str, bytes: &[u8]) -> Result<Envelope, Unreadable> {
        let unknown = || Unreadable { why: unknown(agent) };
        self.read(self.find(agent).ok_or_else(unknown)?, bytes).1
    }

    /// The agent that a process with these variables runs inside of, if any.
    pub fn around(self, is_set: impl Fn(&str) -> bool) -> Option<&'static Dialect> {
        self.0.iter().copied().find(|dialect| dialect.profile.variables.inside.iter().any(|name| is_set(name)))
    }
}

/// What is said of a call in the name of an agent that nothing is known of.
pub fn unknown(agent: &str) -> String {
    let known = ALL.ids().collect::<Vec<_>>().join(", ");
    format!("there is no agent `{agent}`, so nothing it says is understood; known: {known}")
}

/// Whether a variable may be read from a hook's environment.
pub fn is_allowed(name: &str) -> bool {
    let own = |dialect: &&Dialect| dialect.profile.variables.started_with.contains(&name);
    name.starts_with("TAUT_")
        || Environment::ALLOWED.contains(&name)
        || is_given_by_an_agent(name)
        || ALL.0.iter().any(own)
}

/// Whether a client tells this variable to each of its hooks anew; all others are what the client was started with.
pub fn is_given_by_an_agent(name: &str) -> bool {
    ALL.0.iter().any(|dialect| dialect.profile.variables.given_to_hooks.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_dialect_reads_from_the_environment_is_on_its_allow_list() {
        for dialect in ALL.0 {
            let names = &dialect.profile.variables;
            let meant = [names.process, names.project, names.folder, names.session, names.role, names.mode];
            let meant = meant.iter().chain([&names.conversation, &names.started_by]).copied().flatten();
            for name in meant.copied().chain(names.places()) {
                assert!(is_allowed(name), "{name} of {} is never passed on", dialect.id());
            }
        }
    }

    #[test]
    fn an_agent_is_found_by_its_id_and_by_what_users_call_it_and_no_other_is_taken_for_it() {
        for dialect in ALL.0 {
            assert_eq!(ALL.find(dialect.id()).map(Dialect::id), Some(dialect.id()));
        }
        for name in ["claude", "Claude-Code", "claude_code", " claude-code "] {
            assert_eq!(ALL.find(name).map(Dialect::id), Some("claude-code"), "{name:?}");
        }
        assert!(ALL.find("nosuch").is_none() && ALL.find("").is_none());
        assert!(ALL.decode("nosuch", b"{\"hook_event_name\":\"Stop\"}").unwrap_err().why.contains("`nosuch`"));
    }
}
