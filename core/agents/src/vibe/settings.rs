//! The settings of Mistral Vibe: a file of hooks, and nothing else in it.

use super::ID;
use super::decode::{AFTER, BEFORE, END, PROOF_END};
use crate::hook_file::{TableValue, TomlHooks, command_line};
use crate::settings::{
    ClientVersions, GuardFailure, KnownClient, ProofDialect, Registered, SettingsDialect, SettingsPlan, Version,
};
use model::EventKind;
use serde_json::{Value, json};

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
    versions: ClientVersions {
        program: super::launch::PROGRAM,
        args: &["--version"],
        parse: KnownClient::parse,
        exec_form: None,
        note: |_| None,
        update: "vibe update",
    },
    proof: ProofDialect { payload, farewell, denial },
    review: None,
};

const REGISTERED: &[Registered] = &[
    on(EventKind::PreToolUse, BEFORE, "the guard"),
    on(EventKind::PostToolUse, AFTER, "the tool has ended; delivers what is pending"),
    on(EventKind::Stop, END, "the turn is over; status"),
];

const fn on(kind: EventKind, name: &'static str, reason: &'static str) -> Registered {
    Registered { kind, name, since: Version(0, 0, 0), timeout: 10, reason }
}

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

fn denial(stdout: &str) -> Option<String> {
    let answer: Value = serde_json::from_str(stdout.trim()).ok()?;
    let denied = answer.get("decision")? == "deny";
    denied.then(|| answer.get("reason")?.as_str().map(str::to_owned)).flatten()
}
