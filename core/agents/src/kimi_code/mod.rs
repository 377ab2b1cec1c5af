//! Kimi Code. A thin relative of the usual dialect: a denial, text at a prompt, and one refused stop are all it hears.

mod decode;
mod encode;
mod launch;
mod settings;

use crate::answers;
use crate::dialect::{ClientProgram, Dialect, EditsMode, LaunchDialect, Tried};
use model::agent::{AgentProfile, AgentVariables, EventSet, Expresses, HelperSessions, TranscriptReader};
use model::event::EventKind;

const ID: &str = "kimi-code";

pub static DIALECT: Dialect = Dialect {
    profile: &PROFILE,
    aliases: &["kimi"],
    program: ClientProgram {
        // The second is what it calls its process.
        names: &[launch::PROGRAM, ID],
        scripts: &[],
        folders: &[],
        packages: &["/@moonshot-ai/kimi-code/"],
    },
    tried: Tried::OnTheRealAgent("2.1.0"),
    limits: &[
        "Nobody can be asked: what would be a question is a denial.",
        "Its helpers' calls are told as its own, without a mark.",
        "Context is given at prompts only; a session of `kimi -p` has no end that is told.",
    ],
    recognises: Some(|object| object.get("client_type").is_some_and(|client| client == "kimi_code_cli")),
    event_fields: &["hook_event_name"],
    input_fields: &["tool_input"],
    gate_event: "PreToolUse",
    decode: decode::decode,
    encode: encode::encode,
    forms: encode::FORMS,
    stop_unread: encode::stop_unread,
    unjudged: answers::DENY_UNJUDGED,
    settings: settings::SETTINGS,
    launch: LaunchDialect {
        program: launch::PROGRAM,
        line: launch::line,
        begin: launch::begin,
        resume: launch::resume,
        hear: launch::hear,
        edits: EditsMode::NeverAsks("everything: started with a prompt it never asks"),
        prices: launch::PRICES,
    },
    screen: None,
    status_line: None,
    session_file: None,
    answer: None,
    answer_forms: &[],
};

pub static PROFILE: AgentProfile = AgentProfile {
    id: ID,
    name: "Kimi Code",
    folder: ".kimi-code",
    instructions: "AGENTS.md",
    expresses: Expresses {
        ask: false,
        context: EventSet::Only(&[EventKind::UserPromptSubmit]),
        block: EventSet::Only(&[EventKind::Stop]),
        halt: false,
        user_line: false,
        rewrite: false,
    },
    helpers: HelperSessions::Marked,
    tells_batches: false,
    // It gives nothing of its own to what it starts; it is found by its process.
    variables: AgentVariables { started_with: &[FOLDER], folder: &[FOLDER], ..AgentVariables::NONE },
    windows: &[("kimi-k2", 262_144), ("kimi-", 131_072)],
    transcript: TranscriptReader::NONE,
};

const FOLDER: &str = "KIMI_CODE_HOME";
