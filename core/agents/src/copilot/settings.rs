//! Copilot's files of hooks: one of ours beside those of others.

use crate::answers::flat_denial;
use crate::hook_file::{EntryShape, HOOK_WORDS, JsonHooks, command_line};
use crate::settings::{ClientVersions, KnownClient, ProofDialect, Registered, SettingsDialect, SettingsPlan, on_named};
use model::EventKind;
use serde_json::{Value, json};

pub const SETTINGS: SettingsDialect = SettingsDialect {
    user_file: "hooks/taut.json",
    project_file: Some(".github/hooks/taut.json"),
    local_file: None,
    args: &["hook", "--agent", super::ID],
    registered: REGISTERED,
    edit: |text, plan| HOOKS.edit(text, plan),
    remove: |text, allow| HOOKS.remove(text, allow),
    inspect: |text| HOOKS.inspect(text),
    server: None,
    waiting: None,
    versions: ClientVersions {
        program: super::launch::PROGRAM,
        args: &["--version"],
        parse,
        exec_form: None,
        note: |_| None,
        update: "copilot update",
    },
    proof: ProofDialect {
        payload,
        farewell,
        denial: |said| flat_denial(said, "permissionDecision", "permissionDecisionReason"),
    },
    status_line: None,
    review: None,
};

static HOOKS: JsonHooks = JsonHooks {
    holder: Some("hooks"),
    head: &[("version", 1)],
    shape: EntryShape::Plain,
    words: HOOK_WORDS,
    registered: REGISTERED,
    handler,
    disabled: &[("disableAllHooks", "true")],
};

fn handler(plan: &SettingsPlan, event: &Registered) -> Value {
    json!({"type": "command", "bash": command_line(plan, super::ID), "timeoutSec": event.timeout})
}

/// `GitHub Copilot CLI 1.0.102.`: the last sign ends the sentence.
fn parse(text: &str) -> KnownClient {
    let line = text.lines().next().unwrap_or_default();
    KnownClient::parse(line.trim_end().trim_end_matches('.'))
}

/// In the spelling that names the event in its payload. Left out: `PermissionRequest`, which is told of calls that nobody
/// is asked about as well, and denies whatever it cannot read; the notification tells that somebody is asked.
/// `UserPromptTransformed` says nothing new.
pub const REGISTERED: &[Registered] = &[
    on_named(EventKind::SessionStart, "SessionStart", "opens the session and gives it its context"),
    on_named(EventKind::UserPromptSubmit, "UserPromptSubmit", "heartbeat; delivers warnings and messages"),
    on_named(EventKind::PreToolUse, "PreToolUse", "the guard"),
    on_named(EventKind::PostToolUse, "PostToolUse", "the tool has ended; delivers what is pending"),
    on_named(EventKind::PostToolUseFailure, "PostToolUseFailure", "the tool has failed; status and record"),
    on_named(EventKind::Notification, "Notification", "an agent needs attention or idles"),
    on_named(EventKind::SubagentStart, "SubagentStart", "opens the sub-agent's session"),
    on_named(EventKind::SubagentStop, "SubagentStop", "ends the sub-agent's session"),
    on_named(EventKind::Stop, "Stop", "the turn is over; status"),
    on_named(EventKind::StopFailure, "ErrorOccurred", "rate limits and failures; status"),
    on_named(EventKind::PreCompact, "PreCompact", "saves what the session knows before it is compacted"),
    on_named(EventKind::SessionEnd, "SessionEnd", "ends the session and releases what the agent held"),
];

/// A moment that is none: it stands for any.
const MOMENT: &str = "1970-01-01T00:00:00.000Z";

fn payload(cwd: &str, mark: &str, command: &str) -> String {
    let call = json!({
        "hook_event_name": EventKind::PreToolUse.name(),
        "session_id": mark,
        "timestamp": MOMENT,
        "cwd": cwd,
        "tool_name": "Bash",
        "tool_input": {"command": command, "description": "taut's own proof; never run"},
    });
    call.to_string()
}

fn farewell(cwd: &str, mark: &str) -> String {
    let name = EventKind::SessionEnd.name();
    json!({"hook_event_name": name, "session_id": mark, "timestamp": MOMENT, "cwd": cwd, "reason": "complete"})
        .to_string()
}
