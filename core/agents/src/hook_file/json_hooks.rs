//! Hooks in a file of JSON, also with comments: an object keyed by event, each with a list of entries.

use super::entry;
use super::jsonc::{BeyondJson, Document, Member};
use super::place;
use super::step::{add_missing, drop_last, drop_stale, replace_outdated};
use crate::settings::{Edited, HookEntry, Inspection, Registered, SettingsError, SettingsPlan};
use serde_json::Value;

/// How an agent writes its hooks in JSON.
#[derive(Debug)]
pub struct JsonHooks {
    /// The member of the root that holds the events; `None` where the root itself does.
    pub holder: Option<&'static str>,
    /// Members that such a file has to have, as `version: 1`. Those that are missing come in with the holder, behind it
    /// on its line, and go with it.
    pub head: &'static [(&'static str, u64)],
    pub shape: EntryShape,
    /// The words of our command by which an entry is known as one of these: `hook`.
    pub words: &'static [&'static str],
    /// Every event that is registered, in the order of a session's life.
    pub registered: &'static [Registered],
    /// What calls us for one event.
    pub handler: fn(&SettingsPlan, &Registered) -> Value,
    /// Members that switch hooks off: the way to each (`a.b`), and the value that does it, as JSON.
    pub disabled: &'static [(&'static str, &'static str)],
}

/// What stands in an event's list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryShape {
    /// `{"hooks": [handler]}`.
    Group,
    /// The handler itself.
    Plain,
}

impl JsonHooks {
    /// Puts our entries in, or brings those that are there up to date.
    pub fn edit(&self, text: &str, plan: &SettingsPlan) -> Result<Edited, SettingsError> {
        let planned = plan.events(self.registered);
        let mut edited = Edited::unchanged(text);
        while let Some(step) = drop_stale(self, &edited.text, &planned)? {
            edited.take(step);
        }
        while let Some(step) = replace_outdated(self, &edited.text, plan, &planned)? {
            edited.take(step);
        }
        while let Some(step) = add_missing(self, &edited.text, plan, &planned)? {
            edited.take(step);
        }
        Ok(edited)
    }

    /// Takes our entries out. The rules are for agents that keep permissions in the same file.
    pub fn remove(&self, text: &str, _allow: &[String]) -> Result<Edited, SettingsError> {
        let mut edited = Edited::unchanged(text);
        while let Some(step) = drop_last(self, &edited.text)? {
            edited.take(step);
        }
        Ok(edited)
    }

    /// Says what the settings hold of ours.
    pub fn inspect(&self, text: &str) -> Result<Inspection, SettingsError> {
        let document = Document::read(text)?;
        let entries = place::all(self, &document).into_iter().map(|place| HookEntry {
            event: place.event.to_owned(),
            program: place.program,
            form: place.form,
            matcher: place.matcher.map(str::to_owned),
            line: SettingsError::at(text, place.handler.span.start, "").line,
        });
        let entries = entries.collect();
        Ok(Inspection { entries, hooks_disabled: self.is_disabled(&document), ..Inspection::default() })
    }

    /// One of our entries as it is written into an event's list.
    pub(super) fn entry(&self, plan: &SettingsPlan, event: &Registered) -> String {
        let handler = entry::render(&(self.handler)(plan, event));
        match self.shape {
            EntryShape::Group => format!("{{ \"hooks\": [{handler}] }}"),
            EntryShape::Plain => handler,
        }
    }

    /// The members of the head that the file lacks, as they are written behind the holder.
    pub(super) fn missing_head(&self, document: &Document<'_>) -> String {
        let lacks = |key: &str| document.root.as_ref().is_none_or(|root| root.member(key).is_none());
        self.head.iter().filter(|(key, _)| lacks(key)).map(|(key, value)| head_member(key, *value)).collect()
    }

    /// How many members of the head stand behind the first of these members as we write them. The user's own stand
    /// elsewhere: the holder is put in behind everything.
    pub(super) fn head_behind(&self, document: &Document<'_>, members: &[Member]) -> usize {
        let is_ours = |(before, member): &(&Member, &Member)| {
            let written = document.slice(before.node.span.end..member.node.span.end);
            self.head.iter().any(|(key, value)| written == head_member(key, *value))
        };
        members.iter().zip(members.iter().skip(1)).take_while(is_ours).count()
    }

    fn is_disabled(&self, document: &Document<'_>) -> bool {
        self.disabled.iter().any(|(path, value)| {
            let root = document.root.as_ref();
            let found = path.split('.').try_fold(root, |node, key| Some(node?.member(key).map(|member| &member.node)));
            found.flatten().is_some_and(|node| document.slice(node.span.clone()) == *value)
        })
    }
}

fn head_member(key: &str, value: u64) -> String {
    format!(", \"{key}\": {value}")
}

/// Marks what was found in a file that has more than plain JSON, for an agent that was seen to ignore such a file
/// altogether.
pub fn plain_json_only(text: &str, agent: &str, found: Inspection) -> Result<Inspection, SettingsError> {
    ignored_with(BeyondJson::SYNTAX, text, agent, found)
}

/// The same for an agent that ignores a file for these.
pub fn ignored_with(
    kinds: &[BeyondJson],
    text: &str,
    agent: &str,
    mut found: Inspection,
) -> Result<Inspection, SettingsError> {
    found.ignored_for = Document::read(text)?.first_beyond_json(kinds).map(|(at, kind)| {
        let json = if kinds.contains(&BeyondJson::Comment) { "plain JSON only" } else { "JSON with comments" };
        let why = format!("{agent} reads {json} and ignores the whole file because of this {}", kind.name());
        SettingsError::at(text, at, why)
    });
    Ok(found)
}
