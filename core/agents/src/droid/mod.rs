//! Factory's Droid.

mod decode;
mod encode;
mod forms;
mod launch;
mod settings;
mod stream;
mod tools;

use crate::answers;
use crate::dialect::{ClientProgram, Dialect, EditsMode, LaunchDialect, Tried};
use crate::transcript_lines;
use model::agent::{AgentProfile, AgentVariables, EventSet, Expresses, HelperSessions, TranscriptReader};
use model::event::EventKind::{PostToolUse, SessionStart, Stop, SubagentStart, UserPromptSubmit};
use serde_json::Value;

const ID: &str = "droid";

pub static DIALECT: Dialect = Dialect {
    profile: &PROFILE,
    aliases: &["factory", "factory-droid"],
    program: ClientProgram {
        names: &[launch::PROGRAM],
        scripts: &[],
        folders: &[],
        packages: &["/@factory/cli-", "/node_modules/droid/"],
    },
    tried: Tried::OnTheRealAgent("0.225.2"),
    limits: &[
        "Nobody is asked: `droid exec` would run the call, so a question becomes a denial that names `taut allow`.",
        "A hook that fails lets the call run: `guard.on_failure = \"closed\"` is not to be had.",
        "A tool that fails is told to no hook: only what it was about to do is recorded.",
        "The prompt of `droid exec` is told to no hook.",
        "How full the context is stands in no file that its hooks are told of.",
        "It tells no cost: a loop's budget in dollars does not end it.",
    ],
    recognises: None,
    event_fields: &["hook_event_name"],
    input_fields: &["tool_input"],
    gate_event: "PreToolUse",
    decode: decode::decode,
    encode: encode::encode,
    forms: forms::FORMS,
    stop_unread: encode::stop_unread,
    unjudged: answers::DENY_UNJUDGED,
    settings: settings::SETTINGS,
    launch: LaunchDialect {
        program: launch::PROGRAM,
        line: launch::line,
        begin: launch::begin,
        resume: launch::resume,
        hear: stream::hear,
        edits: EditsMode::Instead(
            "what it calls medium autonomy: edits, local commits, builds, tests and installing packages; it cannot be held to named commands",
        ),
        prices: &[],
    },
    screen: None,
    status_line: None,
    session_file: None,
    answer: None,
    answer_forms: &[],
};

const FOLDER: &str = ".factory";
/// The home that its folder lies in, in place of the user's.
const HOME: &str = "FACTORY_HOME_OVERRIDE";

pub static PROFILE: AgentProfile = AgentProfile {
    id: ID,
    name: "Droid",
    folder: FOLDER,
    instructions: "AGENTS.md",
    expresses: Expresses {
        ask: false,
        context: EventSet::Only(&[SessionStart, SubagentStart, UserPromptSubmit, PostToolUse]),
        block: EventSet::Only(&[PostToolUse, Stop]),
        halt: true,
        user_line: false,
        rewrite: true,
    },
    helpers: HelperSessions::Own,
    tells_batches: false,
    variables: VARIABLES,
    windows: &[],
    transcript: TranscriptReader { last_words: |tail| transcript_lines::last(tail, words), ..TranscriptReader::NONE },
};

/// Its tools are told nothing: there its process is found by its name.
const VARIABLES: AgentVariables = AgentVariables {
    marks: &["FACTORY_PROJECT_DIR"],
    inside: &["FACTORY_PROJECT_DIR"],
    given_to_hooks: &["FACTORY_PROJECT_DIR", "DROID_PROJECT_DIR"],
    started_with: &[HOME],
    project: &["FACTORY_PROJECT_DIR", "DROID_PROJECT_DIR"],
    above: &[(HOME, FOLDER)],
    ..AgentVariables::NONE
};

/// The text of an assistant's line.
fn words(line: &Value) -> Option<String> {
    let message = line.get("message").filter(|message| message.get("role").is_some_and(|role| role == "assistant"))?;
    let texts = message.get("content")?.as_array()?.iter().filter_map(|block| block.get("text")?.as_str());
    let text = texts.collect::<Vec<_>>().join("\n").trim().to_string();
    (!text.is_empty()).then_some(text)
}
