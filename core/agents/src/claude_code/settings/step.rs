//! The single steps an edit is made of. Each reads the text anew, so that each
//! removal is the exact inverse of one insertion.

use super::jsonc::{Document, Node};
use super::place::{self, Removal};
use super::splice::{self, Layout, Row, Splice};
use super::{Leaves, Registered, SettingsError, SettingsPlan, entry};

/// One step of an edit and what it concerned.
pub(super) struct SettingsEdit {
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

/// Removes the last of our entries that no longer belongs: an event that is not
/// registered any more, or the second entry of one.
pub(super) fn drop_stale(text: &str, planned: &[&Registered]) -> Result<Option<SettingsEdit>, SettingsError> {
    let document = Document::read(text)?;
    let places = place::all(&document);
    let stale = places.iter().enumerate().rfind(|(index, place)| {
        let known = planned.iter().any(|event| event.name == place.event);
        !known || places.iter().take(*index).any(|earlier| earlier.event == place.event)
    });
    Ok(stale.map(|(_, place)| SettingsEdit::removing(&document, place.removal(&document)).with_event(place.event)))
}

pub(super) fn drop_last(text: &str) -> Result<Option<SettingsEdit>, SettingsError> {
    let document = Document::read(text)?;
    let places = place::all(&document);
    Ok(places.last().map(|place| SettingsEdit::removing(&document, place.removal(&document)).with_event(place.event)))
}

pub(super) fn drop_rule(text: &str, allow: &[String]) -> Result<Option<SettingsEdit>, SettingsError> {
    let document = Document::read(text)?;
    let rules = place::allowed(&document, allow);
    Ok(rules.last().map(|found| {
        let mut step = SettingsEdit::removing(&document, found.removal(&document));
        step.allow.push(found.rule.to_owned());
        step
    }))
}

pub(super) fn replace_outdated(
    text: &str,
    plan: &SettingsPlan,
    planned: &[&Registered],
) -> Result<Option<SettingsEdit>, SettingsError> {
    let document = Document::read(text)?;
    Ok(place::all(&document).into_iter().find_map(|place| {
        let event = planned.iter().find(|event| event.name == place.event)?;
        let wanted = entry::wanted(plan, event);
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
    text: &str,
    plan: &SettingsPlan,
    planned: &[&Registered],
) -> Result<Option<SettingsEdit>, SettingsError> {
    let document = Document::read(text)?;
    let present = place::all(&document);
    let missing = planned.iter().filter(|event| !present.iter().any(|place| place.event == event.name));
    let missing: Vec<&Registered> = missing.copied().collect();
    if missing.is_empty() {
        return Ok(None);
    }
    let layout = Layout::of(&document);
    let group = |event: &Registered| format!("{{ \"hooks\": [{}] }}", entry::render(&entry::wanted(plan, event)));
    let hooks = object_member(&document, "hooks")?;
    for event in &missing {
        let name = event.name;
        if let Some(list) = hooks.and_then(|hooks| hooks.member(name)) {
            let row = list_row(&document, &list.node, &format!("hooks.{name}"))?;
            let splices = row.append(&document, &layout, |_| group(event));
            return Ok(Some(SettingsEdit::of(text, splices).with_event(name)));
        }
    }
    let members = |indent: &str| {
        let lines = missing.iter().map(|event| format!("\"{}\": [ {} ]", event.name, group(event)));
        lines.collect::<Vec<_>>().join(&format!(",{}{indent}", layout.line_end))
    };
    let mut step = match hooks.and_then(Row::of) {
        Some(row) => {
            let indent_of = |indent: &str| splice::inner_indent(&row, indent, &layout);
            SettingsEdit::of(text, row.append(&document, &layout, |indent| members(&indent_of(indent))))
        }
        None => SettingsEdit::of(text, put_member(&document, &layout, "hooks", members)),
    };
    step.events = missing.iter().map(|event| event.name.to_owned()).collect();
    Ok(Some(step))
}

pub(super) fn add_rules(text: &str, rules: &[String]) -> Result<Option<SettingsEdit>, SettingsError> {
    let document = Document::read(text)?;
    let present = place::allowed(&document, rules);
    let missing: Vec<_> = rules.iter().filter(|rule| !present.iter().any(|found| found.rule == *rule)).collect();
    if missing.is_empty() {
        return Ok(None);
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
    let mut step = SettingsEdit::of(text, splices);
    step.allow = missing.into_iter().cloned().collect();
    Ok(Some(step))
}

/// A member of the root that has to be an object if it is there.
pub(super) fn object_member<'d>(document: &'d Document<'_>, key: &str) -> Result<Option<&'d Node>, SettingsError> {
    let Some(root) = &document.root else {
        return Ok(None);
    };
    if root.members().is_none() {
        let why = format!("the settings have to be an object, but this is {}", root.kind());
        return Err(SettingsError::at(document.text, root.span.start, why));
    }
    let node = root.member(key).map(|member| &member.node);
    match node {
        Some(node) if node.members().is_none() => {
            let why = format!("`{key}` has to be an object, but this is {}", node.kind());
            Err(SettingsError::at(document.text, node.span.start, why))
        }
        node => Ok(node),
    }
}

fn list_row(document: &Document<'_>, node: &Node, name: &str) -> Result<Row, SettingsError> {
    node.items().and_then(|_| Row::of(node)).ok_or_else(|| {
        let why = format!("`{name}` has to be a list, but this is {}", node.kind());
        SettingsError::at(document.text, node.span.start, why)
    })
}

/// Adds an object to the root, which is made if the text has none.
pub(super) fn put_member(
    document: &Document<'_>,
    layout: &Layout,
    key: &str,
    inside: impl FnOnce(&str) -> String,
) -> Vec<Splice> {
    let (line_end, unit) = (layout.line_end, &layout.indent);
    let member = move |indent: &str| {
        let inner = format!("{indent}{unit}");
        format!("\"{key}\": {{{line_end}{inner}{}{line_end}{indent}}}", inside(&inner))
    };
    match document.root.as_ref().and_then(Row::of) {
        Some(row) => row.append(document, layout, member),
        None => vec![splice::put_root(document, layout, &member(unit))],
    }
}
