//! The file of hooks of Cursor.

use super::ID;
use crate::answers::flat_denial;
use crate::hook_file::{EntryShape, HOOK_WORDS, JsonHooks, command_line};
use crate::settings::{
    ClientVersions, GuardFailure, KnownClient, ProofDialect, Registered, SettingsDialect, SettingsPlan, on_named,
};
use model::EventKind;
use serde_json::{Value, json};

const HOOKS: JsonHooks = JsonHooks {
    holder: Some("hooks"),
    head: &[("version", 1)],
    shape: EntryShape::Plain,
    words: HOOK_WORDS,
    registered: REGISTERED,
    handler,
    disabled: &[],
};

pub const SETTINGS: SettingsDialect = SettingsDialect {
    user_file: "hooks.json",
    project_file: Some(".cursor/hooks.json"),
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
        update: "cursor-agent update",
    },
    proof: ProofDialect { payload, farewell, denial: |said| flat_denial(said, "permission", "agent_message") },
    status_line: None,
    review: None,
};

/// One call of a shell tells two events: the general one is enough.
const REGISTERED: &[Registered] = &[
    on_named(EventKind::SessionStart, "sessionStart", "opens the session and gives it its context"),
    on_named(EventKind::UserPromptSubmit, "beforeSubmitPrompt", "heartbeat"),
    on_named(EventKind::PreToolUse, "preToolUse", "the guard"),
    on_named(EventKind::PostToolUse, "postToolUse", "the tool has ended; delivers what is pending"),
    on_named(EventKind::PostToolUseFailure, "postToolUseFailure", "the tool has failed; status and record"),
    on_named(EventKind::SubagentStart, "subagentStart", "opens the helper's session"),
    on_named(EventKind::SubagentStop, "subagentStop", "ends the helper's session"),
    on_named(EventKind::PreCompact, "preCompact", "saves what the session knows before it is compacted"),
    on_named(EventKind::Stop, "stop", "the turn is over; status"),
    on_named(EventKind::SessionEnd, "sessionEnd", "ends the session and releases what the agent held"),
];

/// Documents disagree on the unit of a time-out: it is left out, and ours hold.
fn handler(plan: &SettingsPlan, event: &Registered) -> Value {
    let line = command_line(plan, ID);
    if plan.on_failure == GuardFailure::Block && event.kind == EventKind::PreToolUse {
        return json!({"command": line, "failClosed": true});
    }
    json!({ "command": line })
}

fn payload(cwd: &str, mark: &str, command: &str) -> String {
    json!({
        "conversation_id": mark, "hook_event_name": "preToolUse", "cursor_version": "", "workspace_roots": [cwd],
        "cwd": cwd, "tool_name": "Shell", "tool_input": {"command": command}, "tool_use_id": mark,
    })
    .to_string()
}

fn farewell(cwd: &str, mark: &str) -> String {
    let end = json!({"conversation_id": mark, "hook_event_name": "sessionEnd", "workspace_roots": [cwd]});
    end.to_string()
}
