//! The settings file of Qwen Code.

use super::ID;
use crate::answers::nested_denial;
use crate::hook_file::{EntryShape, HOOK_WORDS, JsonHooks, command_line};
use crate::settings::{ClientVersions, KnownClient, ProofDialect, Registered, SettingsDialect, SettingsPlan, on};
use model::EventKind;
use serde_json::{Value, json};

const HOOKS: JsonHooks = JsonHooks {
    holder: Some("hooks"),
    head: &[],
    shape: EntryShape::Group,
    words: HOOK_WORDS,
    registered: REGISTERED,
    handler,
    disabled: &[("disableAllHooks", "true")],
};

pub const SETTINGS: SettingsDialect = SettingsDialect {
    user_file: "settings.json",
    project_file: Some(".qwen/settings.json"),
    local_file: None,
    args: &["hook", "--agent", ID],
    registered: REGISTERED,
    edit: |text, plan| HOOKS.edit(text, plan),
    remove: |text, allow| HOOKS.remove(text, allow),
    inspect: |text| HOOKS.inspect(text),
    server: None,
    waiting: None,
    versions: ClientVersions {
        program: super::launch::PROGRAM,
        args: &["--version"],
        parse: KnownClient::parse,
        // It runs every hook through a shell.
        exec_form: None,
        note: |_| None,
        update: "npm install -g @qwen-code/qwen-code",
    },
    proof: ProofDialect { payload, farewell, denial: nested_denial },
    status_line: None,
    review: None,
};

/// In the order of a session's life. Left out, because nothing follows from them: `InstructionsLoaded`,
/// `MessageDisplay`, which delays what is shown, `UserPromptExpansion`, and those of its lists and of deleted sessions.
const REGISTERED: &[Registered] = &[
    on(EventKind::SessionStart, "opens the session and gives it its context"),
    on(EventKind::UserPromptSubmit, "heartbeat; delivers warnings and messages"),
    on(EventKind::PreToolUse, "the guard"),
    on(EventKind::PermissionRequest, "shows that an agent waits for its user"),
    on(EventKind::PermissionDenied, "a tool that was refused is no longer in flight"),
    on(EventKind::PostToolUse, "the tool has ended; delivers what is pending"),
    on(EventKind::PostToolUseFailure, "the tool has failed; status and record"),
    on(EventKind::PostToolBatch, "a denial has been delivered: strikes open after it"),
    on(EventKind::Notification, "an agent needs attention or idles"),
    on(EventKind::SubagentStart, "opens the sub-agent's session"),
    on(EventKind::SubagentStop, "ends the sub-agent's session"),
    on(EventKind::Stop, "the turn is over; status"),
    on(EventKind::StopFailure, "rate limits and failures; status"),
    on(EventKind::PreCompact, "saves what the session knows before it is compacted"),
    on(EventKind::PostCompact, "context usage starts again"),
    on(EventKind::SessionEnd, "ends the session and releases what the agent held"),
];

fn handler(plan: &SettingsPlan, event: &Registered) -> Value {
    json!({"type": "command", "command": command_line(plan, ID), "timeout": event.timeout})
}

fn payload(cwd: &str, mark: &str, command: &str) -> String {
    json!({
        "session_id": mark, "cwd": cwd, "hook_event_name": EventKind::PreToolUse.name(),
        "tool_name": "run_shell_command", "tool_input": {"command": command, "description": "taut's own proof; never run"},
        "tool_use_id": mark,
    })
    .to_string()
}

fn farewell(cwd: &str, mark: &str) -> String {
    let name = EventKind::SessionEnd.name();
    json!({"session_id": mark, "cwd": cwd, "hook_event_name": name, "reason": "other"}).to_string()
}
