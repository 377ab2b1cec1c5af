//! Qwen Code: the nearest to Claude Code, from Gemini CLI's source.

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

const ID: &str = "qwen";

pub static DIALECT: Dialect = Dialect {
    profile: &PROFILE,
    aliases: &["qwen-code"],
    program: ClientProgram {
        names: &[launch::PROGRAM],
        scripts: &["/qwen-code/cli.js", "/qwen-code/cli-entry.js", "/qwen-code/dist/index.js"],
        folders: &[],
        packages: &["/@qwen-code/qwen-code/"],
    },
    tried: Tried::OnTheRealAgent("0.24.4"),
    limits: &[
        "Without a terminal it does not tell when its session ends: that is seen when its process is gone.",
        "Where it asks you itself, it asks before the guard is heard, and a call you allowed may still be denied.",
        "Context is not given before a tool runs, nor to sub-agents.",
        "A run cannot be ended from a hook.",
    ],
    recognises: None,
    event_fields: &["hook_event_name"],
    input_fields: &["tool_input"],
    gate_event: "PreToolUse",
    decode: decode::decode,
    encode: encode::encode,
    forms: forms::FORMS,
    stop_unread: encode::stop_unread,
    unjudged: answers::ASK_UNJUDGED,
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
    name: "Qwen Code",
    folder: ".qwen",
    instructions: "QWEN.md",
    expresses: Expresses {
        ask: true,
        context: EventSet::Only(forms::WITH_CONTEXT),
        block: EventSet::Only(&[
            EventKind::PreToolUse,
            EventKind::PermissionRequest,
            EventKind::Stop,
            EventKind::SubagentStop,
        ]),
        halt: false,
        user_line: false,
        rewrite: false,
    },
    helpers: HelperSessions::Marked,
    tells_batches: true,
    variables: VARIABLES,
    windows: &[("qwen3-coder", 1_000_000), ("coder-model", 1_000_000), ("qwen", 131_072)],
    transcript: transcript::TRANSCRIPT,
};

/// Hooks and tools get the first mark, tools the second. It starts itself anew with the third, and with what a project's
/// own files set: what it was started with is what the process above was.
const VARIABLES: AgentVariables = AgentVariables {
    marks: &["QWEN_CODE_SESSION_ID", "QWEN_CODE", "QWEN_CODE_NO_RELAUNCH"],
    inside: &["QWEN_CODE_SESSION_ID", "QWEN_CODE"],
    given_to_hooks: &["QWEN_CODE_SESSION_ID", "QWEN_PROJECT_DIR"],
    started_with: &["QWEN_HOME"],
    project: &["QWEN_PROJECT_DIR"],
    folder: &["QWEN_HOME"],
    tool_session: &["QWEN_CODE_SESSION_ID"],
    ..AgentVariables::NONE
};
