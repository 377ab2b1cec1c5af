//! Modes: who works without a person in front of it does not write to people,
//! and who has one writes only to those who agreed to it.

use super::contacts;
use crate::memory::path::matches;
use model::tool::ToolCall;
use model::{Finding, RuleKind};
use policy::Policy;
use policy::config::sections::ContactTag;
use policy::config::types::TextOr;

pub const RULE: &str = "communication";

/// A tool that reaches people.
struct Tool<'a> {
    /// The input fields that hold contacts, besides the usual ones.
    fields: Vec<&'a String>,
    /// No field of it names anybody.
    nobody: bool,
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
    if tool.nobody {
        return None;
    }
    let named: Vec<String> = tool.fields.iter().map(|field| (*field).clone()).collect();
    let reached = contacts::contacts(&call.input, &named);
    if reached.len() > contacts::MOST {
        return Some(deny(format!("it names more than {} people, which nobody can look through.", contacts::MOST)));
    }
    if reached.is_empty() {
        // A tool of which it is said where its contacts stand, and they do not.
        let fields = named.iter().map(|field| format!("`{field}`")).collect::<Vec<_>>().join(" or ");
        return (!named.is_empty())
            .then(|| deny(format!("the input has no {fields}, so nobody can tell whom this reaches.")));
    }
    let needed = if tool.draft { "claude_direct or claude_draft" } else { ContactTag::Direct.name() };
    let mut closed: Vec<&str> =
        reached.iter().filter(|contact| !may(contact, &tool, policy)).map(String::as_str).collect();
    closed.dedup();
    (!closed.is_empty()).then(|| {
        deny(format!(
            "{} is not tagged {needed}; the user tags contacts under [contacts] in the configuration.",
            closed.join(", ")
        ))
    })
}

/// What all entries that name the tool say of it together: the strictest holds.
fn tool<'a>(call: &ToolCall, policy: &'a Policy) -> Option<Tool<'a>> {
    let name = call.name.to_lowercase();
    let mut found: Option<Tool<'a>> = None;
    for entry in &policy.sections.communication.tools {
        let (pattern, contact, draft) = match entry {
            TextOr::Text(pattern) => (pattern, None, false),
            TextOr::Table(tool) => (&tool.tool, tool.contact.as_ref(), tool.draft),
        };
        if !matches(&pattern.to_lowercase(), &name) {
            continue;
        }
        let fields: Vec<&String> = match contact {
            Some(TextOr::Text(field)) => vec![field],
            Some(TextOr::Table(fields)) => fields.iter().collect(),
            None => Vec::new(),
        };
        let nobody = contact.is_some() && fields.is_empty();
        let tool = found.get_or_insert(Tool { fields: Vec::new(), nobody, draft });
        tool.fields.extend(fields);
        tool.nobody &= nobody;
        tool.draft &= draft;
    }
    found
}

fn may(contact: &str, tool: &Tool<'_>, policy: &Policy) -> bool {
    let contact = contact.to_lowercase();
    let tags = policy.sections.contacts.iter().find(|(name, _)| name.to_lowercase() == contact);
    let drafts = |tags: &[ContactTag]| tool.draft && tags.contains(&ContactTag::Draft);
    tags.is_some_and(|(_, tags)| tags.contains(&ContactTag::Direct) || drafts(tags))
}
