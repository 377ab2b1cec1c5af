//! Droid's file of hooks.

use super::launch::PROGRAM;
use crate::answers;
use crate::hook_file::{BeyondJson, EntryShape, HOOK_WORDS, JsonHooks, command_line, ignored_with};
use crate::settings::{ClientVersions, KnownClient, ProofDialect, Registered, SettingsDialect, on};
use model::EventKind;
use serde_json::json;

pub const SETTINGS: SettingsDialect = SettingsDialect {
    user_file: "hooks.json",
    project_file: Some(".factory/hooks.json"),
    local_file: None,
    args: &["hook", "--agent", super::ID],
    registered: REGISTERED,
    edit: |text, plan| HOOKS.edit(text, plan),
    remove: |text, allow| HOOKS.remove(text, allow),
    inspect: |text| ignored_with(UNREAD, text, super::PROFILE.name, HOOKS.inspect(text)?),
    server: None,
    waiting: None,
    versions: ClientVersions {
        program: PROGRAM,
        args: &["--version"],
        parse: KnownClient::parse,
        exec_form: None,
        note: |_| None,
        update: "droid update",
    },
    proof: ProofDialect { payload, farewell, denial: answers::nested_denial },
    status_line: None,
    review: None,
};

/// With one of these in it, it was seen to ignore the whole file; comments it reads.
const UNREAD: &[BeyondJson] = &[BeyondJson::ByteOrderMark, BeyondJson::TrailingComma];

/// The object of the file is keyed by event.
const HOOKS: JsonHooks = JsonHooks {
    holder: None,
    head: &[],
    shape: EntryShape::Group,
    words: HOOK_WORDS,
    registered: REGISTERED,
    handler: |plan, event| json!({"type": "command", "command": command_line(plan, super::ID), "timeout": event.timeout}),
    disabled: &[("hooksDisabled", "true")],
};

const REGISTERED: &[Registered] = &[
    on(EventKind::SessionStart, "opens the session, or that of a helper, and gives it its context"),
    on(EventKind::UserPromptSubmit, "heartbeat; delivers warnings and messages"),
    on(EventKind::PreToolUse, "the guard"),
    on(EventKind::PostToolUse, "the tool has ended; delivers what is pending"),
    on(EventKind::Notification, "an agent needs attention or idles"),
    on(EventKind::SubagentStop, "a helper has ended"),
    on(EventKind::Stop, "the turn is over; status"),
    on(EventKind::PreCompact, "saves what the session knows before it is compacted"),
    on(EventKind::SessionEnd, "ends the session and releases what the agent held"),
];

fn payload(cwd: &str, mark: &str, command: &str) -> String {
    let call = json!({
        "session_id": mark,
        "cwd": cwd,
        "hook_event_name": EventKind::PreToolUse.name(),
        "tool_name": "Execute",
        "tool_input": {"command": command, "summary": "taut's own proof; never run"},
    });
    call.to_string()
}

fn farewell(cwd: &str, mark: &str) -> String {
    let name = EventKind::SessionEnd.name();
    json!({"session_id": mark, "cwd": cwd, "hook_event_name": name, "reason": "other"}).to_string()
}
