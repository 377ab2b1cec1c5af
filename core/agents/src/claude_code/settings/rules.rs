//! Rules of `permissions.allow`: put in for presets whose gates need a way out, and taken out again.

use super::{Edited, SettingsError};
use crate::hook_file::jsonc::Document;
use crate::hook_file::place::{self, NodePlace};
use crate::hook_file::splice::{Layout, Row};
use crate::hook_file::step::{SettingsEdit, list_row, object_member, put_member};

const LIST: [&str; 2] = ["permissions", "allow"];

/// Adds those of the rules that are not there.
pub(super) fn add(mut edited: Edited, rules: &[String]) -> Result<Edited, SettingsError> {
    let text = edited.text.clone();
    let document = Document::read(&text)?;
    let present = allowed(&document, rules);
    let missing = rules.iter().filter(|rule| !present.iter().any(|found| found.node.text() == Some(rule.as_str())));
    let missing: Vec<_> = missing.cloned().collect();
    if missing.is_empty() {
        return Ok(edited);
    }
    let layout = Layout::of(&document);
    let quoted: Vec<_> = missing.iter().map(|rule| serde_json::Value::from(rule.as_str()).to_string()).collect();
    let (items, member) = (quoted.join(", "), format!("\"allow\": [ {} ]", quoted.join(", ")));
    let permissions = object_member(&document, "permissions")?;
    let splices = match (permissions, permissions.and_then(|node| node.member("allow"))) {
        (_, Some(allow)) => {
            list_row(&document, &allow.node, "permissions.allow")?.append(&document, &layout, |_| items)
        }
        (Some(permissions), None) => {
            Row::of(permissions).map(|row| row.append(&document, &layout, |_| member)).unwrap_or_default()
        }
        (None, None) => put_member(&document, &layout, "permissions", |_| member),
    };
    let mut step = SettingsEdit::of(&text, splices);
    step.allow = missing;
    edited.take(step);
    Ok(edited)
}

/// Takes out the last of the given rules that are there.
pub(super) fn drop_last(text: &str, rules: &[String]) -> Result<Option<SettingsEdit>, SettingsError> {
    let document = Document::read(text)?;
    Ok(allowed(&document, rules).last().map(|found| {
        let mut step = SettingsEdit::removing(&document, found.removal(&document));
        step.allow.extend(found.node.text().map(str::to_owned));
        step
    }))
}

fn allowed<'d>(document: &'d Document<'_>, rules: &[String]) -> Vec<NodePlace<'d>> {
    let is_meant = |place: &NodePlace<'_>| place.node.text().is_some_and(|text| rules.iter().any(|rule| rule == text));
    place::items(document, LIST).into_iter().filter(is_meant).collect()
}
