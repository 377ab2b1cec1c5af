//! OpenCode: no hooks, but plugins in JavaScript that it runs inside itself.

mod decode;
mod launch;
mod settings;
#[cfg(test)]
mod tests;

use crate::answer_form::AnswerForm;
use crate::dialect::{ClientProgram, Dialect, EditsMode, LaunchDialect, Tried};
use crate::shim;
use model::agent::{AgentProfile, AgentVariables, EventSet, Expresses, HelperSessions, TranscriptReader};
use model::event::EventKind::{self, *};

const ID: &str = "opencode";

pub static DIALECT: Dialect = Dialect {
    profile: &PROFILE,
    aliases: &["open-code"],
    program: ClientProgram {
        names: &[launch::PROGRAM, ".opencode"],
        scripts: &["/opencode-ai/bin/opencode"],
        folders: &[],
        packages: &["/opencode-ai/"],
    },
    tried: Tried::OnTheRealAgent("1.18.33"),
    limits: &[
        "Nobody can be asked: what would be a question is a denial.",
        "`opencode run` ends with its turn: an agent cannot be told to go on there.",
        "With `--pure` it loads no plugin, and nothing is guarded.",
        "Another plugin that is loaded after Taut's can change a call that Taut has let through.",
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
        edits: EditsMode::Instead(
            "what its own settings let it do, which is edits and commands unless they say otherwise",
        ),
        prices: &[],
    },
    screen: None,
    status_line: None,
    session_file: None,
    answer: None,
    answer_forms: &[],
};

/// Where the plugin can put something before the model: beside the next prompt, or after what a tool gave back.
const WITH_CONTEXT: &[EventKind] = &[SessionStart, UserPromptSubmit, SubagentStart, PostToolUse];

const FORMS: &[AnswerForm] =
    &[shim::text(&[PreToolUse], "deny"), shim::text(WITH_CONTEXT, "context"), shim::text(&[Stop], "block")];

pub static PROFILE: AgentProfile = AgentProfile {
    id: ID,
    name: "OpenCode",
    folder: ".config/opencode",
    instructions: "AGENTS.md",
    expresses: Expresses {
        ask: false,
        context: EventSet::Only(WITH_CONTEXT),
        block: EventSet::Only(&[Stop]),
        halt: false,
        user_line: false,
        rewrite: true,
    },
    helpers: HelperSessions::Marked,
    tells_batches: false,
    variables: AgentVariables {
        marks: &["OPENCODE", PROCESS],
        inside: &["OPENCODE"],
        given_to_hooks: &["OPENCODE", PROCESS, shim::ATTENDED],
        started_with: &[CONFIGURATION],
        process: &[PROCESS],
        above: &[(CONFIGURATION, "opencode")],
        unattended: shim::unattended,
        ..AgentVariables::NONE
    },
    windows: &[],
    transcript: TranscriptReader::NONE,
};

/// It follows the XDG specification.
const CONFIGURATION: &str = "XDG_CONFIG_HOME";
const PROCESS: &str = "OPENCODE_PID";
