//! The JSON of a hook call: the common fields, and placeholders filled in.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::path::Path;

use serde_json::{Value, json};

/// Events the real client sends with the permission mode (observed on 2.1.325).
const WITH_PERMISSION_MODE: [&str; 9] = [
    "UserPromptSubmit", "UserPromptExpansion", "PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure",
    "PostToolBatch", "SubagentStop", "Stop",
];

/// What a payload is filled with.
pub(super) struct Fill<'a> {
    pub session_id: &'a str,
    pub prompt_id: Option<&'a str>,
    pub cwd: &'a Path,
    pub home: &'a Path,
    pub permission_mode: &'a str,
    pub tool_use_id: &'a str,
}

/// The common fields of an event with `fields` over them.
pub(super) fn event(event: &str, fields: &Value, with: &Fill<'_>) -> Value {
    let cwd = with.cwd.to_string_lossy();
    let mut payload = json!({
        "session_id": with.session_id,
        "transcript_path": transcript(with, &cwd),
        "cwd": cwd,
    });
    if let Some(prompt_id) = with.prompt_id {
        payload["prompt_id"] = json!(prompt_id);
    }
    if WITH_PERMISSION_MODE.contains(&event) {
        payload["permission_mode"] = json!(with.permission_mode);
    }
    payload["hook_event_name"] = json!(event);
    for (key, value) in fields.as_object().into_iter().flatten() {
        payload[key] = value.clone();
    }
    payload
}

/// The template with every placeholder in every string replaced.
pub(super) fn fill(template: &Value, with: &Fill<'_>) -> Value {
    match template {
        Value::String(text) => Value::String(
            text.replace("{session_id}", with.session_id)
                .replace("{prompt_id}", with.prompt_id.unwrap_or_default())
                .replace("{cwd}", &with.cwd.to_string_lossy())
                .replace("{tool_use_id}", with.tool_use_id),
        ),
        Value::Array(values) => values.iter().map(|value| fill(value, with)).collect(),
        Value::Object(fields) => {
            let filled = fields.iter().map(|(key, value)| (key.clone(), fill(value, with)));
            Value::Object(filled.collect())
        }
        other => other.clone(),
    }
}

/// An id in the shape of a random UUID, from the randomness the standard library seeds its maps with.
#[must_use]
pub fn fresh_id() -> String {
    let random = || RandomState::new().build_hasher().finish();
    let (high, low) = (random(), random());
    format!(
        "{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xffff,
        high & 0xfff,
        low >> 52,
        low & 0xffff_ffff_ffff,
    )
}

fn transcript(with: &Fill<'_>, cwd: &str) -> String {
    let dashed = cwd.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let file = format!("{}.jsonl", with.session_id);
    let path = with.home.join(".claude/projects").join(dashed).join(file);
    path.to_string_lossy().into_owned()
}
