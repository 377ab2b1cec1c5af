//! GitHub Copilot CLI.

mod decode;
mod encode;
mod forms;
mod launch;
mod settings;
mod stream;
mod tools;
mod transcript;

use crate::dialect::{ClientProgram, Dialect, EditsMode, LaunchDialect, Tried};
use model::agent::{AgentProfile, AgentVariables, EventSet, Expresses, HelperSessions};
use model::event::EventKind::{self, *};

const ID: &str = "copilot";

pub static DIALECT: Dialect = Dialect {
    profile: &PROFILE,
    aliases: &["copilot-cli", "github-copilot"],
    program: ClientProgram {
        names: &[launch::PROGRAM],
        scripts: &["/@github/copilot/npm-loader.js", "/@github/copilot/index.js"],
        folders: &[],
        packages: &["/@github/copilot/", "/copilot/pkg/"],
    },
    tried: Tried::OnTheRealAgent("1.0.102"),
    limits: &[
        "Copilot does not say which model it runs, nor how full its context is: nothing is said of a context that fills up.",
        "A compaction cannot be refused, and its end is told to no hook.",
        "Calls carry no id: two of the same tool at once are told apart by their order.",
    ],
    recognises: Some(decode::recognises),
    event_fields: &["hook_event_name", "hookName"],
    input_fields: &["tool_input", "toolArgs", "toolInput"],
    gate_event: "PreToolUse",
    decode: decode::decode,
    encode: encode::encode,
    forms: forms::FORMS,
    stop_unread: encode::stop_unread,
    unjudged: encode::UNJUDGED,
    settings: settings::SETTINGS,
    launch: LaunchDialect {
        program: launch::PROGRAM,
        line: launch::line,
        begin: launch::begin,
        resume: launch::resume,
        hear: stream::hear,
        edits: EditsMode::Native,
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
    name: "GitHub Copilot CLI",
    folder: ".copilot",
    instructions: "AGENTS.md",
    expresses: Expresses {
        ask: true,
        context: EventSet::Only(WITH_CONTEXT),
        block: EventSet::Only(BLOCKED),
        halt: false,
        user_line: false,
        rewrite: true,
    },
    helpers: HelperSessions::Marked,
    tells_batches: false,
    variables: VARIABLES,
    windows: &[],
    transcript: transcript::TRANSCRIPT,
};

const WITH_CONTEXT: &[EventKind] =
    &[SessionStart, UserPromptSubmit, PreToolUse, PostToolUse, PostToolUseFailure, SubagentStart];
const BLOCKED: &[EventKind] = &[PermissionRequest, PostToolUse, PostToolUseFailure, SubagentStop, Stop];

const VARIABLES: AgentVariables = AgentVariables {
    marks: &["COPILOT_CLI"],
    inside: &["COPILOT_CLI", "COPILOT_AGENT_SESSION_ID"],
    given_to_hooks: &["COPILOT_CLI", "COPILOT_PROJECT_DIR"],
    started_with: &["COPILOT_HOME"],
    process: &[],
    project: &["COPILOT_PROJECT_DIR"],
    folder: &["COPILOT_HOME"],
    above: &[],
    session: &[],
    tool_session: &["COPILOT_AGENT_SESSION_ID"],
    role: &[],
    mode: &[],
    conversation: &[],
    started_by: &[],
    unattended: |_| false,
};
