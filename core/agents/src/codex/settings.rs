//! Codex's `hooks.json`: which events are registered, and how its user agrees to them.

use super::review::{REVIEW, SHORT};
use crate::answers::nested_denial;
use crate::hook_file::{BeyondJson, EntryShape, HOOK_WORDS, JsonHooks, command_line, ignored_with};
use crate::settings::{
    ClientVersions, KnownClient, ProofDialect, Registered, SettingsDialect, SettingsPlan, Version, on,
};
use model::EventKind;
use serde_json::{Value, json};

pub const SETTINGS: SettingsDialect = SettingsDialect {
    user_file: "hooks.json",
    project_file: Some(".codex/hooks.json"),
    local_file: None,
    args: &["hook", "--agent", super::ID],
    registered: REGISTERED,
    edit: |text, plan| HOOKS.edit(text, plan),
    remove: |text, allow| HOOKS.remove(text, allow),
    inspect: |text| ignored_with(UNREAD, text, super::PROFILE.name, HOOKS.inspect(text)?),
    server: None,
    waiting: None,
    versions: ClientVersions {
        program: super::launch::PROGRAM,
        args: &["--version"],
        parse: KnownClient::parse,
        exec_form: None,
        note: |_| None,
        update: "npm install -g @openai/codex",
    },
    proof: ProofDialect { payload, farewell, denial: nested_denial },
    status_line: None,
    review: Some(REVIEW),
};

/// With any of these in it, it was seen to ignore the whole file.
const UNREAD: &[BeyondJson] = &[BeyondJson::ByteOrderMark, BeyondJson::Comment, BeyondJson::TrailingComma];

static HOOKS: JsonHooks = JsonHooks {
    holder: Some("hooks"),
    head: &[],
    shape: EntryShape::Group,
    words: HOOK_WORDS,
    registered: REGISTERED,
    handler,
    disabled: &[],
};

/// Whatever stands here is part of what the user agrees to: another line, and Codex runs it no more.
fn handler(plan: &SettingsPlan, event: &Registered) -> Value {
    json!({"type": "command", "command": command_line(plan, super::ID), "timeout": event.timeout})
}

/// Older clients pass over an event that they do not know.
const ALWAYS: Version = Version(0, 0, 0);

pub const REGISTERED: &[Registered] = &[
    on(EventKind::SessionStart, "opens the session and gives it its context"),
    on(EventKind::UserPromptSubmit, "heartbeat; delivers warnings and messages"),
    on(EventKind::PreToolUse, "the guard"),
    on(EventKind::PermissionRequest, "shows that an agent waits for its user"),
    on(EventKind::PostToolUse, "the tool has ended; delivers what is pending"),
    on(EventKind::SubagentStart, "opens the sub-agent's session"),
    on(EventKind::SubagentStop, "ends the sub-agent's session"),
    on(EventKind::Stop, "the turn is over; status"),
    Registered {
        kind: EventKind::Stop,
        name: "Interrupt",
        since: ALWAYS,
        timeout: SHORT,
        reason: "the user has ended the turn; status",
        after_calls: false,
    },
    on(EventKind::PreCompact, "saves what the session knows before it is compacted"),
    on(EventKind::PostCompact, "context usage starts again"),
    Registered {
        kind: EventKind::SessionEnd,
        name: EventKind::SessionEnd.name(),
        since: ALWAYS,
        timeout: SHORT,
        reason: "ends the session and releases what the agent held",
        after_calls: false,
    },
];

fn payload(cwd: &str, mark: &str, command: &str) -> String {
    let call = json!({
        "session_id": mark,
        "turn_id": mark,
        "transcript_path": null,
        "cwd": cwd,
        "hook_event_name": EventKind::PreToolUse.name(),
        "model": "none",
        "permission_mode": "default",
        "tool_name": "Bash",
        "tool_input": {"command": command},
        "tool_use_id": mark,
    });
    call.to_string()
}

fn farewell(cwd: &str, mark: &str) -> String {
    let name = EventKind::SessionEnd.name();
    json!({"session_id": mark, "transcript_path": null, "cwd": cwd, "hook_event_name": name, "reason": "other"})
        .to_string()
}
