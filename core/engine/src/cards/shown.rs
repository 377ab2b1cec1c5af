//! What a person sees of a call: its input without secrets, and what else the agent's own dialog would show.

use super::bounded::bounded;
use super::diff::{self, MOST_DIFF};
use crate::redact::{text_without_secrets, whole};
use model::card::CardShown;
use model::text::{lines, with_pictures};
use model::{Envelope, ToolKind};
use serde_json::Value;

/// What is known of the world around the call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CardSources {
    /// The file that the call would write, as it stands.
    pub old: OldContent,
    /// What the guard says of the call.
    pub guard: Option<String>,
    pub branch: Option<String>,
}

/// A file before an edit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum OldContent {
    /// Nobody looked, or it is not to be read: too long, no text, not ours.
    #[default]
    Unknown,
    Missing,
    Text(String),
}

/// The file whose content makes the difference that the call would make: as the agent names it.
pub fn file_before(envelope: &Envelope) -> Option<&str> {
    let call = envelope.tool().filter(|call| matches!(call.kind, ToolKind::Write | ToolKind::Edit))?;
    call.written_file()
}

/// So many characters somebody is shown where every character that hides is written out as its number.
const MOST_SEEN: usize = 100_000;

/// What is left of so many characters once all texts of the value are shown; `None` where they do not suffice.
fn left_of(value: &Value, left: usize) -> Option<usize> {
    match value {
        Value::String(text) => left.checked_sub(lines(&with_pictures(text), left.saturating_add(1)).chars().count()),
        Value::Array(items) => items.iter().try_fold(left, |left, item| left_of(item, left)),
        Value::Object(fields) => fields.values().try_fold(left, |left, item| left_of(item, left)),
        _ => Some(left),
    }
}

pub fn shown(envelope: &Envelope, sources: &CardSources) -> CardShown {
    let input = envelope.tool().map(|call| &call.input).unwrap_or(&Value::Null);
    let (seen, all) = bounded(input);
    let clean = whole(&seen);
    let diff = envelope.tool().and_then(|call| diff::of_call(call, &sources.old));
    let all = all && left_of(&seen, MOST_SEEN).is_some();
    let whole_diff = diff.as_ref().is_none_or(|diff| diff.len() <= MOST_DIFF);
    let incomplete = match (all && whole_diff, clean == seen) {
        (true, true) => None,
        (true, false) => Some("a secret was taken out of what is shown"),
        (false, true) => Some("it is too long to be shown whole"),
        (false, false) => Some("it is too long to be shown whole, and a secret was taken out of what is shown"),
    };
    let text = |text: &String| text_without_secrets(text);
    CardShown {
        input: clean,
        incomplete: incomplete.map(str::to_string),
        folder: envelope.cwd.as_ref().map(text),
        mode: envelope.permission_mode.clone(),
        guard: sources.guard.as_ref().map(text),
        diff: diff.map(|diff| text_without_secrets(&diff::cut(diff))),
        branch: sources.branch.clone(),
    }
}
