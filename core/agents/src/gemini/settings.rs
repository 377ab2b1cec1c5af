//! The settings file of Gemini CLI.

use super::ID;
use crate::answers::flat_denial;
use crate::hook_file::jsonc::Document;
use crate::hook_file::{EntryShape, HOOK_WORDS, JsonHooks, command_line};
use crate::settings::{
    ClientVersions, Inspection, KnownClient, ProofDialect, Registered, SettingsDialect, SettingsError, SettingsPlan,
    on_named,
};
use model::EventKind;
use serde_json::{Value, json};

const HOOKS: JsonHooks = JsonHooks {
    holder: Some("hooks"),
    head: &[],
    shape: EntryShape::Group,
    words: HOOK_WORDS,
    registered: REGISTERED,
    handler,
    disabled: &[("hooksConfig.enabled", "false"), ("hooks.enabled", "false")],
};

pub const SETTINGS: SettingsDialect = SettingsDialect {
    user_file: "settings.json",
    project_file: Some(".gemini/settings.json"),
    local_file: None,
    args: &["hook", "--agent", ID],
    registered: REGISTERED,
    edit: |text, plan| HOOKS.edit(text, plan),
    remove: |text, allow| HOOKS.remove(text, allow),
    inspect,
    server: None,
    waiting: None,
    versions: ClientVersions {
        program: super::launch::PROGRAM,
        args: &["--version"],
        parse: KnownClient::parse,
        // It runs every hook through a shell.
        exec_form: None,
        note: |_| None,
        update: "npm install -g @google/gemini-cli",
    },
    proof: ProofDialect { payload, farewell, denial: |said| flat_denial(said, "decision", "reason") },
    status_line: None,
    review: None,
};

/// In the order of a session's life. Left out: `PreCompress`, which comes before every turn, and `BeforeModel`,
/// `AfterModel` and `BeforeToolSelection`, which would wait for us at every request.
const REGISTERED: &[Registered] = &[
    on_named(EventKind::SessionStart, "SessionStart", "opens the session and gives it its context"),
    on_named(EventKind::UserPromptSubmit, "BeforeAgent", "heartbeat; delivers warnings and messages"),
    on_named(EventKind::PreToolUse, "BeforeTool", "the guard"),
    on_named(EventKind::PostToolUse, "AfterTool", "the tool has ended or failed; delivers what is pending"),
    on_named(EventKind::Notification, "Notification", "shows that an agent waits for its user"),
    on_named(EventKind::Stop, "AfterAgent", "the turn is over; status"),
    on_named(EventKind::SessionEnd, "SessionEnd", "ends the session and releases what the agent held"),
];

/// It counts in milliseconds.
fn handler(plan: &SettingsPlan, event: &Registered) -> Value {
    json!({"type": "command", "command": command_line(plan, ID), "timeout": event.timeout.saturating_mul(1000)})
}

/// One hook can be switched off by its command.
fn inspect(text: &str) -> Result<Inspection, SettingsError> {
    let mut found = HOOKS.inspect(text)?;
    let document = Document::read(text)?;
    for holder in ["hooksConfig", "hooks"] {
        let root = document.root.as_ref();
        let list = root.and_then(|root| root.member(holder)).and_then(|holder| holder.node.member("disabled"));
        let listed = list.and_then(|list| serde_json::from_str(document.slice(list.node.span.clone())).ok());
        let off: Vec<String> = listed.unwrap_or_default();
        let ours = |line: &String| found.entries.iter().any(|entry| line.contains(entry.program.as_str()));
        found.hooks_disabled |= off.iter().any(ours);
    }
    Ok(found)
}

fn payload(cwd: &str, mark: &str, command: &str) -> String {
    let call = json!({
        "session_id": mark,
        "cwd": cwd,
        "hook_event_name": "BeforeTool",
        "tool_name": "run_shell_command",
        "tool_input": {"command": command, "description": "taut's own proof; never run"},
    });
    call.to_string()
}

fn farewell(cwd: &str, mark: &str) -> String {
    json!({"session_id": mark, "cwd": cwd, "hook_event_name": "SessionEnd", "reason": "other"}).to_string()
}
