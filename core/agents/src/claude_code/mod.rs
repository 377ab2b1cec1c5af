//! Claude Code.

mod answer;
mod decode;
mod encode;
mod forms;
mod launch;
mod screen;
mod session_file;
mod settings;
mod status_line;
mod stream;
pub mod tools;
mod transcript;

use crate::answers;
use crate::dialect::{ClientProgram, Dialect, EditsMode, LaunchDialect, ScreenDialect, Tried};
use model::Environment;
use model::agent::{AgentProfile, AgentVariables, EventSet, Expresses, HelperSessions};

const ID: &str = "claude-code";

pub static DIALECT: Dialect = Dialect {
    profile: &PROFILE,
    aliases: &[launch::PROGRAM],
    program: ClientProgram {
        names: &[launch::PROGRAM, "claude.exe"],
        scripts: &["/claude-code/cli.js", "/claude-code/cli.mjs"],
        folders: &["/claude/versions"],
        packages: &[],
    },
    tried: Tried::OnTheRealAgent("2.1.325"),
    limits: &[],
    recognises: None,
    event_fields: &["hook_event_name"],
    input_fields: &["tool_input", "toolInput"],
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
    screen: Some(ScreenDialect {
        prompt: screen::prompt,
        typed: screen::typed,
        shows: screen::shows,
        works: screen::works,
        is_words: screen::is_words,
    }),
    status_line: Some(status_line::read),
    session_file: Some(session_file::SESSION_FILE),
    answer: Some(answer::encode),
    answer_forms: forms::ANSWER_FORMS,
};

pub static PROFILE: AgentProfile = AgentProfile {
    id: ID,
    name: "Claude Code",
    folder: ".claude",
    instructions: "CLAUDE.md",
    expresses: Expresses {
        ask: true,
        context: EventSet::Every,
        block: EventSet::Every,
        halt: true,
        user_line: true,
        rewrite: true,
    },
    helpers: HelperSessions::Marked,
    tells_batches: true,
    variables: VARIABLES,
    windows: &[
        ("claude-opus-5", LARGE),
        ("claude-sonnet-5", LARGE),
        ("claude-", USUAL),
        ("opus", USUAL),
        ("sonnet", USUAL),
        ("haiku", USUAL),
    ],
    transcript: transcript::TRANSCRIPT,
};

const USUAL: u64 = 200_000;
const LARGE: u64 = 1_000_000;

const VARIABLES: AgentVariables = AgentVariables {
    marks: &["CLAUDECODE", "CLAUDE_CODE_CHILD_SESSION"],
    inside: &["CLAUDECODE", ENTRYPOINT],
    given_to_hooks: &["CLAUDE_PID", "CLAUDE_PROJECT_DIR", "CLAUDECODE", ENTRYPOINT, ATTENDED],
    started_with: &[
        "CLAUDE_SESSION_ID", "CLAUDE_SESSION_ROLE", "CLAUDE_SESSION_MODE", "CLAUDE_CONVERSATION_ID",
        "CLAUDE_PARENT_SESSION_ID", "CLAUDE_CONFIG_DIR",
    ],
    process: &["CLAUDE_PID"],
    project: &["CLAUDE_PROJECT_DIR"],
    folder: &["CLAUDE_CONFIG_DIR"],
    above: &[],
    session: &["CLAUDE_SESSION_ID"],
    tool_session: &["CLAUDE_CODE_SESSION_ID"],
    role: &["CLAUDE_SESSION_ROLE"],
    mode: &["CLAUDE_SESSION_MODE"],
    conversation: &["CLAUDE_CONVERSATION_ID"],
    started_by: &["CLAUDE_PARENT_SESSION_ID"],
    unattended,
};

const ENTRYPOINT: &str = "CLAUDE_CODE_ENTRYPOINT";
const ATTENDED: &str = "CLAUDE_CODE_SESSION_ATTENDED";

/// It says so, or it prints.
fn unattended(env: &Environment) -> bool {
    matches!(env.get(ATTENDED), Some("0" | "false")) || env.get(ENTRYPOINT).is_some_and(|how| how.starts_with("sdk"))
}
