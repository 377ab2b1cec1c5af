//! Modes: who works without a person in front of it does not write to people,
//! and who has one writes only to those who agreed to it.

use crate::memory::path::matches;
use crate::memory::settings::Section;
use model::tool::ToolCall;
use model::{Finding, RuleKind};
use policy::Policy;
use serde_json::Value;

pub const RULE: &str = "communication";

const DIRECT: &str = "claude_direct";
const DRAFT: &str = "claude_draft";

/// A tool that reaches people.
struct Tool<'a> {
    /// The input field that holds the contact.
    contact: Option<&'a str>,
    /// It only prepares a message that a person sends.
    draft: bool,
}

pub fn judge(call: &ToolCall, mode: Option<&str>, policy: &Policy) -> Option<Finding> {
    let tool = tool(call, policy)?;
    let deny = |reason: String| Finding {
        rule: RULE.to_string(),
        kind: RuleKind::Deny,
        reason,
        subject: call.name.clone(),
        instead: Some("Write down what you would have sent and tell the user.".to_string()),
        intent: None,
    };
    if let Some(mode) = mode.filter(|mode| *mode != "interactive") {
        return Some(deny(format!(
            "communication tools are only for interactive sessions; this one is in mode {mode}."
        )));
    }
    let field = tool.contact?;
    let contacts = contacts_of(call, field);
    let needed = if tool.draft { "claude_direct or claude_draft" } else { DIRECT };
    if contacts.is_empty() {
        return Some(deny(format!("the input has no `{field}`, so nobody can tell whom this reaches.")));
    }
    let closed: Vec<&String> = contacts.iter().filter(|contact| !may(contact, tool.draft, policy)).collect();
    if closed.is_empty() {
        return None;
    }
    let names: Vec<&str> = closed.iter().map(|name| name.as_str()).collect();
    Some(deny(format!(
        "{} is not tagged {needed}; the user tags contacts under [contacts] in the configuration.",
        names.join(", ")
    )))
}

fn tool<'a>(call: &ToolCall, policy: &'a Policy) -> Option<Tool<'a>> {
    let tools = Section::of(policy, "communication").get("tools")?.as_array()?;
    tools.iter().find_map(|entry| {
        let name = entry.as_str().or_else(|| entry.get("tool").and_then(toml::Value::as_str))?;
        matches(name, &call.name).then(|| Tool {
            contact: entry.get("contact").and_then(toml::Value::as_str),
            draft: entry.get("draft").and_then(toml::Value::as_bool).unwrap_or_default(),
        })
    })
}

fn contacts_of(call: &ToolCall, field: &str) -> Vec<String> {
    match call.input.get(field) {
        Some(Value::String(one)) => {
            one.split([',', ';']).map(|name| name.trim().to_string()).filter(|name| !name.is_empty()).collect()
        }
        Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).map(str::to_string).collect(),
        _ => Vec::new(),
    }
}

fn may(contact: &str, draft: bool, policy: &Policy) -> bool {
    let known = policy.section("contacts").and_then(toml::Value::as_table);
    let tags = known.into_iter().flatten().find(|(name, _)| name.eq_ignore_ascii_case(contact)).map(|(_, tags)| tags);
    let tags: Vec<&str> =
        tags.and_then(toml::Value::as_array).into_iter().flatten().filter_map(toml::Value::as_str).collect();
    tags.contains(&DIRECT) || (draft && tags.contains(&DRAFT))
}
