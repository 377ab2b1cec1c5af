//! The local agent of VS Code, from its documentation alone: nobody has run it against this.

mod decode;
mod encode;
mod settings;
#[cfg(test)]
mod tests;

use crate::answers;
use crate::dialect::{ClientProgram, Dialect, EditsMode, LaunchDialect, Tried};
use model::agent::{AgentProfile, AgentVariables, EventSet, Expresses, HelperSessions, TranscriptReader};
use model::event::EventKind;
use model::run::LaunchLine;

const ID: &str = "vscode";
const PROGRAM: &str = "code";

pub static DIALECT: Dialect = Dialect {
    profile: &PROFILE,
    aliases: &["vs-code", "visual-studio-code"],
    // Its windows are people's: what runs in their terminals is not its agent's.
    program: ClientProgram { names: &[], scripts: &[], folders: &[], packages: &[] },
    tried: Tried::FromDocumentation,
    limits: &[
        "Nobody has seen this work: it is made from documentation of a preview.",
        "Only the local agent of VS Code is meant; its other agents run the hooks of the program they are.",
        "It cannot be started by a loop, and tells no end of a session.",
    ],
    recognises: Some(decode::recognises),
    event_fields: &["hook_event_name", "hookEventName"],
    input_fields: &["tool_input", "toolInput"],
    gate_event: "PreToolUse",
    decode: decode::decode,
    encode: encode::encode,
    forms: encode::FORMS,
    stop_unread: encode::stop_unread,
    unjudged: answers::ASK_UNJUDGED,
    settings: settings::SETTINGS,
    launch: LaunchDialect {
        program: PROGRAM,
        line: |launch| LaunchLine {
            program: PROGRAM.into(),
            args: vec!["chat".into(), "--mode".into(), "agent".into(), launch.prompt.clone()],
            stdin: None,
        },
        begin: |_| Vec::new(),
        resume: |_| Vec::new(),
        hear: |_, _| (),
        edits: EditsMode::Instead("what its own settings let it do"),
        prices: &[],
    },
    screen: None,
    status_line: None,
    session_file: None,
    answer: None,
    answer_forms: &[],
};

pub static PROFILE: AgentProfile = AgentProfile {
    id: ID,
    name: "VS Code",
    // It reads the folder of hooks that the command line of Copilot has.
    folder: ".copilot",
    instructions: "AGENTS.md",
    expresses: Expresses {
        ask: true,
        context: EventSet::Only(&[EventKind::SessionStart, EventKind::PostToolUse, EventKind::SubagentStart]),
        block: EventSet::Only(&[EventKind::Stop]),
        halt: false,
        user_line: false,
        rewrite: true,
    },
    helpers: HelperSessions::Marked,
    tells_batches: false,
    variables: AgentVariables::NONE,
    windows: &[],
    transcript: TranscriptReader::NONE,
};
