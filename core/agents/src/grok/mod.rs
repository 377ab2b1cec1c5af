//! Grok Build, xAI's agent.

mod decode;
mod encode;
mod forms;
mod launch;
mod settings;
mod stream;
mod tools;

use crate::answers;
use crate::dialect::{ClientProgram, Dialect, EditsMode, LaunchDialect, Tried};
use model::agent::{AgentProfile, AgentVariables, EventSet, Expresses, HelperSessions, TranscriptReader};
use model::event::EventKind::{PostToolUse, PostToolUseFailure, PreToolUse, Stop, SubagentStop};

const ID: &str = "grok";

pub static DIALECT: Dialect = Dialect {
    profile: &PROFILE,
    aliases: &["grok-build", "xai"],
    program: ClientProgram {
        names: &[launch::PROGRAM, "grok-native"],
        scripts: &[],
        folders: &[],
        packages: &["/@xai-official/grok"],
    },
    tried: Tried::OnTheRealAgent("1.0.41"),
    limits: &[
        "Nobody is asked: without a terminal Grok would run the call or end the run, so a question becomes a denial that \
         names `taut allow`.",
        "Context is told with tool calls only: neither at the start of a session nor with a prompt.",
        "It cannot be made to end its run.",
        "A hook that fails lets the call run: `guard.on_failure = \"closed\"` is not to be had.",
        "Of a call with more than 128 KiB of input the hook is told the beginning only, so such a call is denied.",
        "How full the context is stands in no file that its hooks are told of.",
    ],
    recognises: Some(decode::recognises),
    event_fields: &["hook_event_name", "hookEventName"],
    input_fields: &["tool_input", "toolInput"],
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
        edits: EditsMode::Native,
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
    name: "Grok Build",
    folder: ".grok",
    instructions: "AGENTS.md",
    expresses: Expresses {
        ask: false,
        context: EventSet::Only(&[PreToolUse, PostToolUse, PostToolUseFailure]),
        block: EventSet::Only(&[PostToolUse, PostToolUseFailure, Stop, SubagentStop]),
        halt: false,
        user_line: false,
        rewrite: true,
    },
    helpers: HelperSessions::Own,
    tells_batches: false,
    variables: VARIABLES,
    windows: &[],
    transcript: TranscriptReader::NONE,
};

/// It lets no settings file set its session's id or the workspace for a hook.
const VARIABLES: AgentVariables = AgentVariables {
    marks: &[SESSION, "GROK_AGENT"],
    inside: &["GROK_AGENT", SESSION],
    given_to_hooks: &[SESSION, WORKSPACE],
    started_with: &[FOLDER],
    project: &[WORKSPACE],
    folder: &[FOLDER],
    tool_session: &[SESSION],
    ..AgentVariables::NONE
};

/// Told to hooks and tools alike.
const SESSION: &str = "GROK_SESSION_ID";
const WORKSPACE: &str = "GROK_WORKSPACE_ROOT";
const FOLDER: &str = "GROK_HOME";
