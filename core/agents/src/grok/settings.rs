//! Grok's folder of hooks, and the file of ours in it.

use super::launch::PROGRAM;
use crate::answers;
use crate::hook_file::{EntryShape, HOOK_WORDS, JsonHooks, command_line, plain_json_only};
use crate::settings::{ClientVersions, HookReview, KnownClient, ProofDialect, Registered, SettingsDialect, on_named};
use model::EventKind;
use serde_json::json;

pub const SETTINGS: SettingsDialect = SettingsDialect {
    user_file: "hooks/taut.json",
    project_file: Some(".grok/hooks/taut.json"),
    local_file: None,
    args: &["hook", "--agent", super::ID],
    registered: REGISTERED,
    edit: |text, plan| HOOKS.edit(text, plan),
    remove: |text, allow| HOOKS.remove(text, allow),
    inspect: |text| plain_json_only(text, super::PROFILE.name, HOOKS.inspect(text)?),
    server: None,
    waiting: None,
    versions: ClientVersions {
        program: PROGRAM,
        args: &["--version"],
        parse: KnownClient::parse,
        exec_form: None,
        note: |_| None,
        update: "grok update",
    },
    proof: ProofDialect { payload, farewell, denial: answers::nested_denial },
    status_line: None,
    review: Some(HookReview {
        how: "its user switched these hooks off: `/hooks` in Grok shows them, and Space switches them on again",
        passed: "none of them is switched off",
        file: "disabled-hooks",
        waiting: |record, _, _, _| switched_off(record),
    }),
};

/// Its `timeout` has to be a whole number.
const HOOKS: JsonHooks = JsonHooks {
    holder: Some("hooks"),
    head: &[],
    shape: EntryShape::Group,
    words: HOOK_WORDS,
    registered: REGISTERED,
    handler: |plan, event| json!({"type": "command", "command": command_line(plan, super::ID), "timeout": event.timeout}),
    disabled: &[],
};

const REGISTERED: &[Registered] = &[
    on_named(EventKind::SessionStart, "SessionStart", "opens the session"),
    on_named(EventKind::UserPromptSubmit, "UserPromptSubmit", "heartbeat"),
    on_named(EventKind::PreToolUse, "PreToolUse", "the guard; delivers what is pending"),
    on_named(EventKind::PermissionDenied, "PermissionDenied", "a tool that was refused is no longer in flight"),
    on_named(EventKind::PostToolUse, "PostToolUse", "the tool has ended; delivers what is pending"),
    on_named(EventKind::PostToolUseFailure, "PostToolUseFailure", "the tool has failed; status and record"),
    on_named(EventKind::Notification, "Notification", "an agent needs attention or idles"),
    on_named(EventKind::SubagentStart, "SubagentStart", "tells whose helper a session is"),
    on_named(EventKind::SubagentStop, "SubagentStop", "a helper has ended"),
    on_named(EventKind::Stop, "Stop", "the turn is over; status"),
    on_named(EventKind::Stop, "StopCancelled", "the turn was broken off; status"),
    on_named(EventKind::StopFailure, "StopFailure", "rate limits and failures; status"),
    on_named(EventKind::PreCompact, "PreCompact", "saves what the session knows before it is compacted"),
    on_named(EventKind::PostCompact, "PostCompact", "context usage starts again"),
    on_named(EventKind::SessionEnd, "SessionEnd", "ends the session and releases what the agent held"),
];

/// Our events among the hooks that the user switched off: one a line, as `global/taut:pre_tool_use[0].hooks[0]`.
fn switched_off(record: &str) -> Vec<String> {
    let ours = record.lines().filter_map(|line| line.trim().split_once("/taut:")?.1.split('[').next());
    let known = |own: &str| REGISTERED.iter().find(|event| event.name.eq_ignore_ascii_case(&own.replace('_', "")));
    ours.filter_map(|own| known(own).map(|event| event.name.to_string())).collect()
}

fn payload(cwd: &str, mark: &str, command: &str) -> String {
    let call = json!({
        "hookEventName": "pre_tool_use",
        "hook_event_name": EventKind::PreToolUse.name(),
        "session_id": mark,
        "cwd": cwd,
        "tool_name": "run_terminal_command",
        "tool_input": {"command": command, "description": "taut's own proof; never run"},
        "tool_use_id": mark,
    });
    call.to_string()
}

fn farewell(cwd: &str, mark: &str) -> String {
    let name = EventKind::SessionEnd.name();
    json!({"hookEventName": "session_end", "hook_event_name": name, "session_id": mark, "cwd": cwd, "reason": "other"})
        .to_string()
}
