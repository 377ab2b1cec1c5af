//! Modes: who works without a person in front of it does not write to people,
//! and who has one writes only to those who agreed to it.

use crate::memory::path::matches;
use model::tool::ToolCall;
use model::{Finding, RuleKind};
use policy::Policy;
use policy::config::sections::ContactTag;
use policy::config::types::TextOr;
use serde_json::Value;

pub const RULE: &str = "communication";

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
        file: None,
        writes_only: Vec::new(),
    };
    if let Some(mode) = mode.filter(|mode| *mode != "interactive") {
        return Some(deny(format!(
            "communication tools are only for interactive sessions; this one is in mode {mode}."
        )));
    }
    let field = tool.contact?;
    let contacts = contacts_of(call, field);
    let needed = if tool.draft { "claude_direct or claude_draft" } else { ContactTag::Direct.name() };
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
    policy.sections.communication.tools.iter().find_map(|entry| {
        let (name, contact, draft) = match entry {
            TextOr::Text(name) => (name, None, false),
            TextOr::Table(tool) => (&tool.tool, tool.contact.as_deref(), tool.draft),
        };
        matches(name, &call.name).then_some(Tool { contact, draft })
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
    let tags = policy.sections.contacts.iter().find(|(name, _)| name.eq_ignore_ascii_case(contact));
    tags.is_some_and(|(_, tags)| tags.contains(&ContactTag::Direct) || (draft && tags.contains(&ContactTag::Draft)))
}
