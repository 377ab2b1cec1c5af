//! The settings of Kimi Code. One unknown key or event, and the program refuses the whole file.

use super::ID;
use crate::answers;
use crate::hook_file::{TableValue, TomlHooks, command_line};
use crate::settings::{ClientVersions, KnownClient, ProofDialect, Registered, SettingsDialect, SettingsPlan, on_named};
use model::EventKind;
use serde_json::json;

const HOOKS: TomlHooks = TomlHooks { array: "hooks", registered: REGISTERED, table };

pub const SETTINGS: SettingsDialect = SettingsDialect {
    user_file: "config.toml",
    project_file: None,
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
        exec_form: None,
        note: |_| None,
        update: "kimi upgrade",
    },
    proof: ProofDialect { payload, farewell, denial: answers::nested_denial },
    status_line: None,
    review: None,
};

const REGISTERED: &[Registered] = &[
    on_named(EventKind::SessionStart, "SessionStart", "opens the session"),
    on_named(EventKind::UserPromptSubmit, "UserPromptSubmit", "heartbeat; delivers context and messages"),
    on_named(EventKind::PreToolUse, "PreToolUse", "the guard"),
    on_named(EventKind::PermissionRequest, "PermissionRequest", "shows that an agent waits for its user"),
    on_named(EventKind::PostToolUse, "PostToolUse", "the tool has ended"),
    on_named(EventKind::PostToolUseFailure, "PostToolUseFailure", "the tool has failed; status and record"),
    on_named(EventKind::Notification, "Notification", "an agent needs attention or idles"),
    on_named(EventKind::SubagentStart, "SubagentStart", "opens the helper's session"),
    on_named(EventKind::SubagentStop, "SubagentStop", "ends the helper's session"),
    on_named(EventKind::Stop, "Stop", "the turn is over; status"),
    on_named(EventKind::Stop, "Interrupt", "the user ended the turn; status"),
    on_named(EventKind::StopFailure, "StopFailure", "rate limits and failures; status"),
    on_named(EventKind::PreCompact, "PreCompact", "saves what the session knows before it is compacted"),
    on_named(EventKind::PostCompact, "PostCompact", "context usage starts again"),
    on_named(EventKind::SessionEnd, "SessionEnd", "ends the session and releases what the agent held"),
];

fn table(plan: &SettingsPlan, event: &Registered) -> Vec<(&'static str, TableValue)> {
    vec![
        ("event", TableValue::Text(event.name.into())),
        ("command", TableValue::Text(command_line(plan, ID))),
        ("timeout", TableValue::Number(event.timeout.into())),
    ]
}

fn payload(cwd: &str, mark: &str, command: &str) -> String {
    json!({
        "hook_event_name": "PreToolUse", "session_id": mark, "cwd": cwd, "client_type": "kimi_code_cli",
        "tool_name": "Bash", "tool_input": {"command": command}, "tool_call_id": mark,
    })
    .to_string()
}

fn farewell(cwd: &str, mark: &str) -> String {
    let end = json!({"hook_event_name": "SessionEnd", "session_id": mark, "cwd": cwd, "client_type": "kimi_code_cli"});
    end.to_string()
}
