//! A file of ours in the folder of hooks that VS Code shares with the command line of Copilot.

use super::ID;
use crate::answers;
use crate::hook_file::{EntryShape, HOOK_WORDS, JsonHooks, command_line};
use crate::settings::{ClientVersions, KnownClient, ProofDialect, Registered, SettingsDialect, SettingsPlan, on};
use model::EventKind;
use serde_json::{Value, json};

const HOOKS: JsonHooks = JsonHooks {
    holder: Some("hooks"),
    head: &[],
    shape: EntryShape::Plain,
    words: HOOK_WORDS,
    registered: REGISTERED,
    handler,
    disabled: &[],
};

pub const SETTINGS: SettingsDialect = SettingsDialect {
    user_file: "hooks/taut-vscode.json",
    project_file: Some(".github/hooks/taut-vscode.json"),
    local_file: None,
    args: &["hook", "--agent", ID],
    registered: REGISTERED,
    edit: |text, plan| HOOKS.edit(text, plan),
    remove: |text, allow| HOOKS.remove(text, allow),
    inspect: |text| HOOKS.inspect(text),
    server: None,
    waiting: None,
    versions: ClientVersions {
        program: super::PROGRAM,
        args: &["--version"],
        parse: KnownClient::parse,
        exec_form: None,
        note: |_| None,
        update: "code --update-extensions",
    },
    proof: ProofDialect { payload, farewell, denial: answers::nested_denial },
    status_line: None,
    review: None,
};

const REGISTERED: &[Registered] = &[
    on(EventKind::SessionStart, "opens the session and gives it its context"),
    on(EventKind::UserPromptSubmit, "heartbeat"),
    on(EventKind::PreToolUse, "the guard"),
    on(EventKind::PostToolUse, "the tool has ended; delivers what is pending"),
    on(EventKind::SubagentStart, "opens the helper's session"),
    on(EventKind::SubagentStop, "ends the helper's session"),
    on(EventKind::PreCompact, "saves what the session knows before it is compacted"),
    on(EventKind::Stop, "the turn is over; status"),
];

fn handler(plan: &SettingsPlan, event: &Registered) -> Value {
    json!({"type": "command", "command": command_line(plan, ID), "timeout": event.timeout})
}

const MOMENT: &str = "1970-01-01T00:00:00.000Z";

fn payload(cwd: &str, mark: &str, command: &str) -> String {
    json!({
        "hook_event_name": "PreToolUse", "session_id": mark, "timestamp": MOMENT, "cwd": cwd,
        "transcript_path": format!("{cwd}/workspaceStorage/transcript.json"), "tool_name": "run_in_terminal",
        "tool_input": {"command": command, "explanation": "taut's own proof; never run"}, "tool_use_id": mark,
    })
    .to_string()
}

fn farewell(cwd: &str, mark: &str) -> String {
    let path = format!("{cwd}/workspaceStorage/transcript.json");
    let end = json!({
        "hook_event_name": "SessionEnd", "session_id": mark, "timestamp": MOMENT, "cwd": cwd, "transcript_path": path,
    });
    end.to_string()
}
