//! Pi: no hooks, but extensions in TypeScript that it runs inside itself.

mod decode;
mod launch;
mod settings;
#[cfg(test)]
mod tests;
mod transcript;

use crate::answer_form::AnswerForm;
use crate::dialect::{ClientProgram, Dialect, EditsMode, LaunchDialect, Tried};
use crate::shim;
use model::agent::{AgentProfile, AgentVariables, EventSet, Expresses, HelperSessions};
use model::event::EventKind::{self, *};

const ID: &str = "pi";

pub static DIALECT: Dialect = Dialect {
    profile: &PROFILE,
    aliases: &["pi-coding-agent"],
    program: ClientProgram {
        names: &[launch::PROGRAM, "pi-rpc"],
        scripts: &[],
        folders: &[],
        packages: &["/pi-coding-agent/"],
    },
    tried: Tried::OnTheRealAgent("0.87.1"),
    limits: &[
        "With `--no-extensions` it loads no extension, and nothing is guarded.",
        "It has no helpers of its own: what an extension starts as one is a session like any other.",
        "Another extension that is loaded after Taut's can change a call that Taut has let through.",
        "Commands that you type yourself after `!` are yours, and are not judged.",
    ],
    recognises: None,
    event_fields: &["hook_event_name"],
    input_fields: &["tool_input"],
    gate_event: "PreToolUse",
    decode: decode::decode,
    encode: |envelope, reply| shim::encode(&DIALECT, envelope, reply),
    forms: FORMS,
    stop_unread: |stop| shim::stop_unread(&DIALECT, &stop),
    unjudged: shim::DENY_UNJUDGED,
    settings: settings::SETTINGS,
    launch: LaunchDialect {
        program: launch::PROGRAM,
        line: launch::line,
        begin: launch::begin,
        resume: launch::resume,
        hear: launch::hear,
        edits: EditsMode::NeverAsks("everything: it asks for no permissions"),
        prices: &[],
    },
    screen: None,
    status_line: None,
    session_file: None,
    answer: None,
    answer_forms: &[],
};

/// Where the extension can put something before the model: before its next turn, or after what a tool gave back.
const WITH_CONTEXT: &[EventKind] = &[SessionStart, UserPromptSubmit, PostToolUse, PostToolUseFailure];

const FORMS: &[AnswerForm] = &[
    shim::text(&[PreToolUse], "deny"),
    shim::text(&[PreToolUse], "ask"),
    shim::text(WITH_CONTEXT, "context"),
    shim::text(&[Stop], "block"),
];

pub static PROFILE: AgentProfile = AgentProfile {
    id: ID,
    name: "Pi",
    folder: ".pi/agent",
    instructions: "AGENTS.md",
    expresses: Expresses {
        ask: true,
        context: EventSet::Only(WITH_CONTEXT),
        block: EventSet::Only(&[Stop]),
        halt: false,
        user_line: false,
        rewrite: true,
    },
    helpers: HelperSessions::Marked,
    tells_batches: false,
    variables: AgentVariables {
        marks: &[MARK],
        inside: &[MARK],
        given_to_hooks: &[MARK, shim::ATTENDED],
        started_with: &[FOLDER],
        folder: &[FOLDER],
        tool_session: &["PI_SESSION_ID"],
        unattended: shim::unattended,
        ..AgentVariables::NONE
    },
    windows: &[],
    transcript: transcript::TRANSCRIPT,
};

const MARK: &str = "PI_CODING_AGENT";
const FOLDER: &str = "PI_CODING_AGENT_DIR";
