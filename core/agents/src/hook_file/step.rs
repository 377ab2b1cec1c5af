//! The single steps an edit is made of. Each reads the text anew, so that each
//! removal is the exact inverse of one insertion.

use super::entry;
use super::json_hooks::JsonHooks;
use super::jsonc::{Document, Node};
use super::place::{self, Removal};
use super::splice::{self, Layout, Row, Splice};
use crate::settings::{Edited, Leaves, Registered, SettingsError, SettingsPlan};

/// One step of an edit and what it concerned.
pub(crate) struct SettingsEdit {
    pub text: String,
    pub leaves: Leaves,
    pub events: Vec<String>,
    pub allow: Vec<String>,
}

impl SettingsEdit {
    pub fn of(text: &str, splices: Vec<Splice>) -> Self {
        let text = splice::apply(text, splices);
        Self { text, leaves: Leaves::Settings, events: Vec::new(), allow: Vec::new() }
    }

    pub fn removing(document: &Document<'_>, removal: Removal) -> Self {
        match removal {
            Removal::Splices(splices) => Self::of(document.text, splices),
            Removal::Everything => {
                let mut step = Self::of(document.text, vec![splice::cut_root(document)]);
                step.leaves = Leaves::Nothing;
                step
            }
        }
    }

    fn with_event(mut self, event: &str) -> Self {
        self.events.push(event.to_owned());
        self
    }
}

impl Edited {
    pub(crate) fn unchanged(text: &str) -> Self {
        Self { text: text.to_owned(), leaves: Leaves::Settings, events: Vec::new(), allow: Vec::new() }
    }

    pub(crate) fn take(&mut self, step: SettingsEdit) {
        self.text = step.text;
        self.leaves = step.leaves;
        self.events.extend(step.events);
        self.allow.extend(step.allow);
    }
}

/// Removes the last of our entries that no longer belongs: an event that is not
/// registered any more, or the second entry of one.
pub(super) fn drop_stale(
    hooks: &JsonHooks,
    text: &str,
    planned: &[&Registered],
) -> Result<Option<SettingsEdit>, SettingsError> {
    let document = Document::read(text)?;
    let places = place::all(hooks, &document);
    let stale = places.iter().enumerate().rfind(|(index, place)| {
        let known = planned.iter().any(|event| event.name == place.event);
        !known || places.iter().take(*index).any(|earlier| earlier.event == place.event)
    });
    Ok(stale.map(|(_, place)| SettingsEdit::removing(&document, place.removal(&document)).with_event(place.event)))
}

pub(super) fn drop_last(hooks: &JsonHooks, text: &str) -> Result<Option<SettingsEdit>, SettingsError> {
    let document = Document::read(text)?;
    let places = place::all(hooks, &document);
    Ok(places.last().map(|place| SettingsEdit::removing(&document, place.removal(&document)).with_event(place.event)))
}

pub(super) fn replace_outdated(
    hooks: &JsonHooks,
    text: &str,
    plan: &SettingsPlan,
    planned: &[&Registered],
) -> Result<Option<SettingsEdit>, SettingsError> {
    let document = Document::read(text)?;
    Ok(place::all(hooks, &document).into_iter().find_map(|place| {
        let event = planned.iter().find(|event| event.name == place.event)?;
        let wanted = (hooks.handler)(plan, event);
        if entry::value(&document, place.handler) == wanted {
            return None;
        }
        let splice = Splice { span: place.handler.span.clone(), with: entry::render(&wanted) };
        Some(SettingsEdit::of(text, vec![splice]).with_event(place.event))
    }))
}

/// Adds groups to lists that are there, one list at a time, then all events that
/// have no list yet at once.
pub(super) fn add_missing(
    hooks: &JsonHooks,
    text: &str,
    plan: &SettingsPlan,
    planned: &[&Registered],
) -> Result<Option<SettingsEdit>, SettingsError> {
    let document = Document::read(text)?;
    let present = place::all(hooks, &document);
    let missing = planned.iter().filter(|event| !present.iter().any(|place| place.event == event.name));
    let missing: Vec<&Registered> = missing.copied().collect();
    if missing.is_empty() {
        return Ok(None);
    }
    let layout = Layout::of(&document);
    let holder = match hooks.holder {
        Some(key) => object_member(&document, key)?,
        None => root_object(&document)?,
    };
    for event in &missing {
        let name = event.name;
        if let Some(list) = holder.and_then(|holder| holder.member(name)) {
            let shown = hooks.holder.map_or_else(|| name.to_owned(), |key| format!("{key}.{name}"));
            let row = list_row(&document, &list.node, &shown)?;
            let splices = row.append(&document, &layout, |_| hooks.entry(plan, event));
            return Ok(Some(SettingsEdit::of(text, splices).with_event(name)));
        }
    }
    let members = |indent: &str| {
        let lines = missing.iter().map(|event| format!("\"{}\": [ {} ]", event.name, hooks.entry(plan, event)));
        lines.collect::<Vec<_>>().join(&format!(",{}{indent}", layout.line_end))
    };
    let splices = match (holder.and_then(Row::of), hooks.holder) {
        (Some(row), _) => {
            let indent_of = |indent: &str| splice::inner_indent(&row, indent, &layout);
            row.append(&document, &layout, |indent| members(&indent_of(indent)))
        }
        (None, Some(key)) => {
            let head = hooks.missing_head(&document);
            put_in_root(&document, &layout, |indent| object_text(&layout, key, indent, members) + &head)
        }
        (None, None) => put_in_root(&document, &layout, members),
    };
    let mut step = SettingsEdit::of(text, splices);
    step.events = missing.iter().map(|event| event.name.to_owned()).collect();
    Ok(Some(step))
}

/// A member of the root that has to be an object if it is there.
pub(crate) fn object_member<'d>(document: &'d Document<'_>, key: &str) -> Result<Option<&'d Node>, SettingsError> {
    let Some(root) = root_object(document)? else { return Ok(None) };
    let node = root.member(key).map(|member| &member.node);
    match node {
        Some(node) if node.members().is_none() => {
            let why = format!("`{key}` has to be an object, but this is {}", node.kind());
            Err(SettingsError::at(document.text, node.span.start, why))
        }
        node => Ok(node),
    }
}

/// The root, which has to be an object if it is there.
fn root_object<'d>(document: &'d Document<'_>) -> Result<Option<&'d Node>, SettingsError> {
    match &document.root {
        Some(root) if root.members().is_none() => {
            let why = format!("the settings have to be an object, but this is {}", root.kind());
            Err(SettingsError::at(document.text, root.span.start, why))
        }
        root => Ok(root.as_ref()),
    }
}

pub(crate) fn list_row(document: &Document<'_>, node: &Node, name: &str) -> Result<Row, SettingsError> {
    node.items().and_then(|_| Row::of(node)).ok_or_else(|| {
        let why = format!("`{name}` has to be a list, but this is {}", node.kind());
        SettingsError::at(document.text, node.span.start, why)
    })
}

/// Adds an object to the root, which is made if the text has none.
pub(crate) fn put_member(
    document: &Document<'_>,
    layout: &Layout,
    key: &str,
    inside: impl FnOnce(&str) -> String,
) -> Vec<Splice> {
    put_in_root(document, layout, |indent| object_text(layout, key, indent, inside))
}

/// Adds members to the root, which is made if the text has none.
fn put_in_root(document: &Document<'_>, layout: &Layout, members: impl FnOnce(&str) -> String) -> Vec<Splice> {
    match document.root.as_ref().and_then(Row::of) {
        Some(row) => row.append(document, layout, members),
        None => vec![splice::put_root(document, layout, &members(&layout.indent))],
    }
}

/// A member that is an object with something inside, on lines of their own.
fn object_text(layout: &Layout, key: &str, indent: &str, inside: impl FnOnce(&str) -> String) -> String {
    let (line_end, inner) = (layout.line_end, format!("{indent}{}", layout.indent));
    format!("\"{key}\": {{{line_end}{inner}{}{line_end}{indent}}}", inside(&inner))
}
