//! The settings file of Claude Code: puts our hooks in and takes them out again,
//! leaving every other byte as it is.
//!
//! Taking out is the inverse of putting in and needs no record of it: the form
//! of what we insert says which lists and objects were made by us. So edits
//! that others make in between survive, and without them the text is restored
//! byte for byte.

mod client;
mod entry;
mod jsonc;
mod place;
pub mod proof;
mod registered;
mod splice;
mod step;

#[cfg(test)]
mod tests;

pub use client::{CommandForm, KnownClient, Version};
pub use entry::ARGS;
pub use registered::{REGISTERED, Registered};

use jsonc::Document;
use std::fmt;
use step::{SettingsEdit, add_missing, add_rules, drop_last, drop_rule, drop_stale, replace_outdated};

/// What is to be in the settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsPlan {
    /// Absolute path of the `taut` that is called.
    pub command: String,
    /// The client that will read the settings.
    pub client: KnownClient,
    pub on_failure: GuardFailure,
    /// Rules for `permissions.allow`, for presets whose gates need a way out.
    pub allow: Vec<String>,
}

/// What the client does when the guard itself fails.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum GuardFailure {
    #[default]
    Continue,
    /// Stops the tool: `guard.on_failure = "closed"`.
    Block,
}

/// The settings after an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    pub text: String,
    pub leaves: Leaves,
    /// Events whose entry was added, replaced or removed.
    pub events: Vec<String>,
    /// Permission rules that were added (or removed); those that were already
    /// there are the user's own.
    pub allow: Vec<String>,
}

/// What is left of the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leaves {
    Settings,
    /// Nothing but what was in the file before it held any settings: a file
    /// that was made by us may go.
    Nothing,
}

/// What the settings say about us.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inspection {
    pub entries: Vec<HookEntry>,
    /// `disableAllHooks` is set: nothing of ours runs.
    pub hooks_disabled: bool,
    /// The first thing that is not plain JSON. We read and keep it, but the real
    /// client was seen to ignore the whole file then, without a word.
    pub ignored_for: Option<SettingsError>,
}

/// One of our entries as it stands in the settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookEntry {
    pub event: String,
    /// The program that is called.
    pub program: String,
    pub form: CommandForm,
    /// Someone narrowed the entry to some tools or kinds.
    pub matcher: Option<String>,
    pub line: usize,
}

/// Why the settings cannot be edited. Nothing is ever half edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsError {
    pub line: usize,
    pub column: usize,
    pub why: String,
}

/// Puts our entries in, or brings those that are there up to date.
pub fn edit(text: &str, plan: &SettingsPlan) -> Result<Edited, SettingsError> {
    let planned: Vec<_> = REGISTERED.iter().filter(|event| plan.client.has(event.since)).collect();
    let mut edited = Edited::unchanged(text);
    while let Some(step) = drop_stale(&edited.text, &planned)? {
        edited.take(step);
    }
    while let Some(step) = replace_outdated(&edited.text, plan, &planned)? {
        edited.take(step);
    }
    while let Some(step) = add_missing(&edited.text, plan, &planned)? {
        edited.take(step);
    }
    if let Some(step) = add_rules(&edited.text, &plan.allow)? {
        edited.take(step);
    }
    Ok(edited)
}

/// Takes our entries out, and those of the given permission rules that are there.
pub fn remove(text: &str, allow: &[String]) -> Result<Edited, SettingsError> {
    let mut edited = Edited::unchanged(text);
    // What was put in last goes first: only then is each step the inverse of one.
    while let Some(step) = drop_rule(&edited.text, allow)? {
        edited.take(step);
    }
    while let Some(step) = drop_last(&edited.text)? {
        edited.take(step);
    }
    Ok(edited)
}

/// Says what the settings hold of ours.
pub fn inspect(text: &str) -> Result<Inspection, SettingsError> {
    let document = Document::read(text)?;
    let entries = place::all(&document).into_iter().map(|place| HookEntry {
        event: place.event.to_owned(),
        program: place.program,
        form: place.form,
        matcher: place.matcher.map(str::to_owned),
        line: SettingsError::at(text, place.handler.span.start, "").line,
    });
    let disabled = document.root.as_ref().and_then(|root| root.member("disableAllHooks"));
    Ok(Inspection {
        entries: entries.collect(),
        ignored_for: document.first_beyond_json().map(|(at, what)| {
            let why = format!("Claude Code reads plain JSON only and ignores the whole file because of this {what}");
            SettingsError::at(text, at, why)
        }),
        hooks_disabled: disabled.is_some_and(|member| document.slice(member.node.span.clone()) == "true"),
    })
}

impl Edited {
    fn unchanged(text: &str) -> Self {
        Self { text: text.to_owned(), leaves: Leaves::Settings, events: Vec::new(), allow: Vec::new() }
    }

    fn take(&mut self, step: SettingsEdit) {
        self.text = step.text;
        self.leaves = step.leaves;
        self.events.extend(step.events);
        self.allow.extend(step.allow);
    }
}

impl SettingsError {
    fn at(text: &str, offset: usize, why: impl Into<String>) -> Self {
        let before = text.get(..offset).unwrap_or_default();
        let before = before.strip_prefix('\u{feff}').unwrap_or(before);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Self { line, column, why: why.into() }
    }
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.why)
    }
}

impl std::error::Error for SettingsError {}
