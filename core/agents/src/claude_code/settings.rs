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
mod proof;
mod registered;
mod server;
mod splice;
mod step;

#[cfg(test)]
mod tests;

pub use crate::settings::{
    CommandForm, Edited, GuardFailure, HookEntry, Inspection, KnownClient, Leaves, Registered, SettingsError,
    SettingsPlan, Version,
};
pub use registered::REGISTERED;

use crate::settings::{ClientVersions, ProofDialect, SettingsDialect};
use jsonc::Document;
use step::{SettingsEdit, add_missing, add_rules, drop_last, drop_rule, drop_stale, replace_outdated};

/// The files, and all that is done to them.
pub const SETTINGS: SettingsDialect = SettingsDialect {
    user_file: "settings.json",
    project_file: Some(".claude/settings.json"),
    local_file: Some(".claude/settings.local.json"),
    args: &entry::ARGS,
    registered: REGISTERED,
    edit,
    remove,
    inspect,
    server: Some(server::SERVER),
    versions: ClientVersions {
        program: "claude",
        args: &["--version"],
        parse: KnownClient::parse,
        exec_form: Version::EXEC_FORM,
        note: client::note,
        update: "claude update",
    },
    proof: ProofDialect { payload: proof::payload, farewell: proof::farewell, denial: crate::answers::nested_denial },
    review: None,
};

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
