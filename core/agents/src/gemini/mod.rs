//! Gemini CLI.

mod decode;
mod encode;
mod forms;
mod launch;
mod settings;
mod stream;
mod tools;
mod transcript;

use crate::answers;
use crate::dialect::{ClientProgram, Dialect, EditsMode, LaunchDialect, Tried};
use model::EventKind;
use model::agent::{AgentProfile, AgentVariables, EventSet, Expresses, HelperSessions};

const ID: &str = "gemini";

pub static DIALECT: Dialect = Dialect {
    profile: &PROFILE,
    aliases: &["gemini-cli"],
    program: ClientProgram {
        names: &[launch::PROGRAM],
        scripts: &["/gemini-cli/bundle/gemini.js", "/gemini-cli/dist/index.js"],
        folders: &[],
        packages: &["/@google/gemini-cli/"],
    },
    tried: Tried::OnTheRealAgent("0.61.0"),
    limits: &[
        "It cannot be made to ask you: what would be asked about is denied.",
        "A project that you trust can switch hooks off in its own settings.",
        "In a folder that you have not trusted it runs no hooks, and nothing is guarded there.",
        "It does not say when it has compacted its context.",
        "What its sub-agents do is told as the session's own.",
    ],
    recognises: None,
    event_fields: &["hook_event_name"],
    input_fields: &["tool_input"],
    gate_event: "BeforeTool",
    decode: decode::decode,
    encode: encode::encode,
    forms: forms::FORMS,
    stop_unread: encode::stop_unread,
    unjudged: answers::FLAT_DENY_UNJUDGED,
    settings: settings::SETTINGS,
    launch: LaunchDialect {
        program: launch::PROGRAM,
        line: launch::line,
        begin: launch::begin,
        resume: launch::resume,
        hear: stream::hear,
        edits: EditsMode::Native,
        prices: launch::PRICES,
    },
    screen: None,
    status_line: None,
    session_file: None,
    answer: None,
    answer_forms: &[],
};

const FOLDER: &str = ".gemini";
/// The home that its folder lies in, in place of the user's.
const HOME: &str = "GEMINI_CLI_HOME";

pub static PROFILE: AgentProfile = AgentProfile {
    id: ID,
    name: "Gemini CLI",
    folder: FOLDER,
    instructions: "GEMINI.md",
    expresses: Expresses {
        ask: false,
        context: EventSet::Only(forms::WITH_CONTEXT),
        block: EventSet::Only(&[EventKind::PreToolUse, EventKind::Stop]),
        halt: true,
        user_line: true,
        rewrite: true,
    },
    helpers: HelperSessions::Marked,
    tells_batches: false,
    variables: VARIABLES,
    windows: &[("gemini-", 1_048_576)],
    transcript: transcript::TRANSCRIPT,
};

/// What it runs gets the first mark, its hooks the second. It starts itself anew with the third: what it was started with
/// is what the process above was.
const VARIABLES: AgentVariables = AgentVariables {
    marks: &["GEMINI_CLI", "GEMINI_SESSION_ID", "GEMINI_CLI_NO_RELAUNCH"],
    inside: &["GEMINI_CLI", "GEMINI_SESSION_ID"],
    given_to_hooks: &["GEMINI_SESSION_ID", "GEMINI_PROJECT_DIR"],
    started_with: &[HOME],
    project: &["GEMINI_PROJECT_DIR"],
    above: &[(HOME, FOLDER)],
    ..AgentVariables::NONE
};
