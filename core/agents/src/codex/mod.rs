//! Codex, the command line client of OpenAI.

mod decode;
mod encode;
mod forms;
mod launch;
mod review;
mod settings;
mod stream;
mod tools;
mod transcript;

use crate::answers;
use crate::dialect::{ClientProgram, Dialect, EditsMode, LaunchDialect, Tried};
use model::agent::{AgentProfile, AgentVariables, EventSet, Expresses, HelperSessions};
use model::event::EventKind::{self, *};

const ID: &str = "codex";

pub static DIALECT: Dialect = Dialect {
    profile: &PROFILE,
    aliases: &["codex-cli", "openai-codex"],
    program: ClientProgram {
        names: &[launch::PROGRAM, "codex.exe"],
        scripts: &["/@openai/codex/bin/codex.js"],
        folders: &[],
        packages: &["/@openai/codex/"],
    },
    tried: Tried::OnTheRealAgent("0.166.0"),
    limits: &[
        "Codex runs no hook before you have agreed to it: type `/hooks` in Codex once, and again whenever the line has changed.",
        "Codex cannot put a hook's question to you: what Taut would ask about is denied, and `taut allow` is the way to agree.",
        "What is typed into a shell that is already open (`write_stdin`) is told to no hook.",
        "The end of a patch that is applied through the shell is told to no hook.",
        "A compaction that Taut refuses ends the turn.",
    ],
    recognises: Some(decode::recognises),
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
            "whatever runs in its own sandbox: it writes the project but not `.git`, so it cannot commit, and reaches no network",
        ),
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
    name: "Codex",
    folder: ".codex",
    instructions: "AGENTS.md",
    expresses: Expresses {
        ask: false,
        context: EventSet::Only(WITH_CONTEXT),
        block: EventSet::Only(BLOCKED),
        halt: false,
        user_line: false,
        rewrite: true,
    },
    helpers: HelperSessions::Marked,
    tells_batches: false,
    variables: VARIABLES,
    windows: &[("gpt-daybreak-red", 372_000), ("gpt-", USUAL), ("codex-", USUAL)],
    transcript: transcript::TRANSCRIPT,
};

const USUAL: u64 = 272_000;

const WITH_CONTEXT: &[EventKind] = &[SessionStart, UserPromptSubmit, PreToolUse, PostToolUse, SubagentStart];
const BLOCKED: &[EventKind] = &[PermissionRequest, PostToolUse, SubagentStop, Stop, PreCompact];

/// Its hooks get nothing of its own, so there is no mark: its process is found by its name.
const VARIABLES: AgentVariables = AgentVariables {
    marks: &[],
    inside: &["CODEX_THREAD_ID", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED"],
    given_to_hooks: &[],
    started_with: &["CODEX_HOME"],
    process: &[],
    project: &[],
    folder: &["CODEX_HOME"],
    above: &[],
    session: &[],
    tool_session: &["CODEX_SESSION_ID", "CODEX_THREAD_ID"],
    role: &[],
    mode: &[],
    conversation: &[],
    started_by: &[],
    unattended: |_| false,
};
