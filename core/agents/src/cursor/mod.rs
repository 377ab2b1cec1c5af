//! Cursor, from its documentation alone: nobody has run it against this.

mod decode;
mod encode;
mod launch;
mod settings;
#[cfg(test)]
mod tests;

use crate::dialect::{ClientProgram, Dialect, EditsMode, LaunchDialect, Tried};
use model::agent::{AgentProfile, AgentVariables, EventSet, Expresses, HelperSessions, TranscriptReader};
use model::event::EventKind;

const ID: &str = "cursor";

pub static DIALECT: Dialect = Dialect {
    profile: &PROFILE,
    aliases: &["cursor-agent", "cursor-cli"],
    program: ClientProgram {
        names: &[launch::PROGRAM],
        scripts: &[],
        folders: &[],
        packages: &["/cursor-agent/versions/"],
    },
    tried: Tried::FromDocumentation,
    limits: &[
        "Nobody has seen this work: it is made from the documentation of Cursor 3.9.",
        "Nobody can be asked: what would be a question is a denial.",
        "Which of these events its command line tells of is not known.",
    ],
    recognises: Some(|object| object.contains_key("cursor_version") && object.contains_key("conversation_id")),
    event_fields: &["hook_event_name"],
    input_fields: &["tool_input"],
    gate_event: decode::BEFORE,
    decode: decode::decode,
    encode: encode::encode,
    forms: encode::FORMS,
    stop_unread: encode::stop_unread,
    unjudged: encode::UNJUDGED,
    settings: settings::SETTINGS,
    launch: LaunchDialect {
        program: launch::PROGRAM,
        line: launch::line,
        begin: launch::begin,
        resume: launch::resume,
        hear: launch::hear,
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
    name: "Cursor",
    folder: ".cursor",
    instructions: "AGENTS.md",
    expresses: Expresses {
        ask: false,
        context: EventSet::Only(&[EventKind::SessionStart, EventKind::PostToolUse]),
        block: EventSet::Only(&[EventKind::Stop]),
        halt: false,
        user_line: false,
        rewrite: true,
    },
    helpers: HelperSessions::Marked,
    tells_batches: false,
    variables: AgentVariables {
        marks: &["CURSOR_AGENT"],
        inside: &["CURSOR_AGENT"],
        given_to_hooks: &[PROJECT],
        project: &[PROJECT],
        started_with: &[FOLDER],
        folder: &[FOLDER],
        ..AgentVariables::NONE
    },
    windows: &[],
    transcript: TranscriptReader::NONE,
};

const PROJECT: &str = "CURSOR_PROJECT_DIR";
const FOLDER: &str = "CURSOR_CONFIG_DIR";
