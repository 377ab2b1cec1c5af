//! The settings of Mistral Vibe: a file of hooks, and nothing else in it.

use super::ID;
use super::decode::{AFTER, BEFORE, END, PROOF_END};
use crate::answers::flat_denial;
use crate::hook_file::{TableValue, TomlHooks, command_line};
use crate::settings::{
    ClientVersions, GuardFailure, KnownClient, ProofDialect, Registered, SettingsDialect, SettingsPlan, on_named,
};
use model::EventKind;
use serde_json::json;

const HOOKS: TomlHooks = TomlHooks { array: "hooks", registered: REGISTERED, table };

pub const SETTINGS: SettingsDialect = SettingsDialect {
    user_file: "hooks.toml",
    project_file: Some(".vibe/hooks.toml"),
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
        update: "vibe update",
    },
    proof: ProofDialect { payload, farewell, denial: |said| flat_denial(said, "decision", "reason") },
    status_line: None,
    review: None,
};

const REGISTERED: &[Registered] = &[
    on_named(EventKind::PreToolUse, BEFORE, "the guard"),
    on_named(EventKind::PostToolUse, AFTER, "the tool has ended; delivers what is pending"),
    on_named(EventKind::Stop, END, "the turn is over; status"),
];

fn table(plan: &SettingsPlan, event: &Registered) -> Vec<(&'static str, TableValue)> {
    // A second hook of the same name is dropped.
    let name = format!("taut-{}", event.name.replace('_', "-"));
    let closed = plan.on_failure == GuardFailure::Block && event.kind == EventKind::PreToolUse;
    let mut fields = vec![
        ("name", TableValue::Text(name)),
        ("type", TableValue::Text(event.name.into())),
        ("command", TableValue::Text(command_line(plan, ID))),
        ("timeout", TableValue::Number(event.timeout.into())),
    ];
    fields.extend(closed.then_some(("strict", TableValue::Flag(true))));
    fields
}

fn payload(cwd: &str, mark: &str, command: &str) -> String {
    json!({
        "hook_event_name": BEFORE, "session_id": mark, "parent_session_id": null, "cwd": cwd,
        "tool_name": "file_system.bash", "tool_call_id": mark, "tool_input": {"command": command},
    })
    .to_string()
}

fn farewell(cwd: &str, mark: &str) -> String {
    json!({"hook_event_name": PROOF_END, "session_id": mark, "parent_session_id": null, "cwd": cwd}).to_string()
}
