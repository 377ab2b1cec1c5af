//! Mistral Vibe: three events, and answers of its own form.

mod decode;
mod encode;
mod launch;
mod settings;

use crate::answers;
use crate::dialect::{ClientProgram, Dialect, EditsMode, LaunchDialect, Tried};
use model::agent::{AgentProfile, AgentVariables, EventSet, Expresses, HelperSessions, TranscriptReader};
use model::event::EventKind;

const ID: &str = "vibe";

pub static DIALECT: Dialect = Dialect {
    profile: &PROFILE,
    aliases: &["mistral-vibe"],
    program: ClientProgram {
        names: &[launch::PROGRAM, "vibe-rs", "vibe-app-server"],
        scripts: &[],
        folders: &[],
        packages: &["/site-packages/vibe/"],
    },
    tried: Tried::OnTheRealAgent("3.0.3"),
    limits: &[
        "Nobody can be asked: what would be a question is a denial.",
        "It tells of tool calls and of the end of a turn, and of nothing else: no start, prompt, compaction or end.",
        "Context is given after tool calls only.",
        "A hook of the same name in a project you trust takes the place of ours.",
    ],
    recognises: Some(recognises),
    event_fields: &["hook_event_name"],
    input_fields: &["tool_input"],
    gate_event: decode::BEFORE,
    decode: decode::decode,
    encode: encode::encode,
    forms: encode::FORMS,
    stop_unread: encode::stop_unread,
    unjudged: answers::FLAT_DENY_UNJUDGED,
    settings: settings::SETTINGS,
    launch: LaunchDialect {
        program: launch::PROGRAM,
        line: launch::line,
        begin: launch::begin,
        resume: launch::resume,
        hear: launch::hear,
        edits: EditsMode::Instead("edits alone: it runs no command that it would have to ask for, commits among them"),
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
    name: "Mistral Vibe",
    folder: ".vibe",
    instructions: "AGENTS.md",
    expresses: Expresses {
        ask: false,
        context: EventSet::Only(&[EventKind::PostToolUse, EventKind::PostToolUseFailure]),
        block: EventSet::Only(&[EventKind::Stop]),
        halt: false,
        user_line: false,
        rewrite: true,
    },
    helpers: HelperSessions::Marked,
    tells_batches: false,
    variables: AgentVariables {
        marks: &[SERVER],
        inside: &[SERVER],
        started_with: &[FOLDER],
        folder: &[FOLDER],
        ..AgentVariables::NONE
    },
    windows: &[("devstral", 262_144), ("mistral-", 262_144)],
    transcript: TranscriptReader::NONE,
};

const FOLDER: &str = "VIBE_HOME";
/// Given to all that it starts.
const SERVER: &str = "VIBE_APP_SERVER_BIN";

/// Its names of events are no other agent's.
fn recognises(object: &serde_json::Map<String, serde_json::Value>) -> bool {
    let name = object.get("hook_event_name").and_then(serde_json::Value::as_str);
    name.is_some_and(|name| [decode::BEFORE, decode::AFTER, decode::END].contains(&name))
}
