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
mod registered;
mod splice;

#[cfg(test)]
mod tests;

pub use client::{Client, Form, Version};
pub use entry::ARGS;
pub use registered::{REGISTERED, Registered};

use jsonc::{Document, Node};
use place::Removal;
use splice::{Layout, Row, Splice};
use std::fmt;

/// What is to be in the settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Absolute path of the `taut` that is called.
    pub command: String,
    /// The client that will read the settings.
    pub client: Client,
    pub on_failure: OnFailure,
    /// Rules for `permissions.allow`, for presets whose gates need a way out.
    pub allow: Vec<String>,
}

/// What the client does when the guard itself fails.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnFailure {
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
    pub entries: Vec<Entry>,
    /// `disableAllHooks` is set: nothing of ours runs.
    pub hooks_disabled: bool,
}

/// One of our entries as it stands in the settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub event: String,
    /// The program that is called.
    pub program: String,
    pub form: Form,
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
pub fn edit(text: &str, plan: &Plan) -> Result<Edited, SettingsError> {
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
    let entries = place::all(&document).into_iter().map(|place| Entry {
        event: place.event.to_owned(),
        program: place.program,
        form: place.form,
        matcher: place.matcher.map(str::to_owned),
        line: SettingsError::at(text, place.handler.span.start, "").line,
    });
    let disabled = document.root.as_ref().and_then(|root| root.member("disableAllHooks"));
    Ok(Inspection {
        entries: entries.collect(),
        hooks_disabled: disabled.is_some_and(|member| document.slice(member.node.span.clone()) == "true"),
    })
}

/// One step of an edit and what it concerned.
struct Step {
    text: String,
    leaves: Leaves,
    events: Vec<String>,
    allow: Vec<String>,
}

impl Edited {
    fn unchanged(text: &str) -> Self {
        Self { text: text.to_owned(), leaves: Leaves::Settings, events: Vec::new(), allow: Vec::new() }
    }

    fn take(&mut self, step: Step) {
        self.text = step.text;
        self.leaves = step.leaves;
        self.events.extend(step.events);
        self.allow.extend(step.allow);
    }
}

impl Step {
    fn of(text: &str, splices: Vec<Splice>) -> Self {
        let text = splice::apply(text, splices);
        Self { text, leaves: Leaves::Settings, events: Vec::new(), allow: Vec::new() }
    }

    fn removing(document: &Document<'_>, removal: Removal) -> Self {
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
fn drop_stale(text: &str, planned: &[&Registered]) -> Result<Option<Step>, SettingsError> {
    let document = Document::read(text)?;
    let places = place::all(&document);
    let stale = places.iter().enumerate().rfind(|(index, place)| {
        let known = planned.iter().any(|event| event.kind.name() == place.event);
        !known || places.iter().take(*index).any(|earlier| earlier.event == place.event)
    });
    Ok(stale.map(|(_, place)| Step::removing(&document, place.removal(&document)).with_event(place.event)))
}

fn drop_last(text: &str) -> Result<Option<Step>, SettingsError> {
    let document = Document::read(text)?;
    let places = place::all(&document);
    Ok(places.last().map(|place| Step::removing(&document, place.removal(&document)).with_event(place.event)))
}

fn drop_rule(text: &str, allow: &[String]) -> Result<Option<Step>, SettingsError> {
    let document = Document::read(text)?;
    let rules = place::allowed(&document, allow);
    Ok(rules.last().map(|found| {
        let mut step = Step::removing(&document, found.removal(&document));
        step.allow.push(found.rule.to_owned());
        step
    }))
}

fn replace_outdated(text: &str, plan: &Plan, planned: &[&Registered]) -> Result<Option<Step>, SettingsError> {
    let document = Document::read(text)?;
    Ok(place::all(&document).into_iter().find_map(|place| {
        let event = planned.iter().find(|event| event.kind.name() == place.event)?;
        let wanted = entry::wanted(plan, event);
        if entry::value(&document, place.handler) == wanted {
            return None;
        }
        let splice = Splice { span: place.handler.span.clone(), with: entry::render(&wanted) };
        Some(Step::of(text, vec![splice]).with_event(place.event))
    }))
}

/// Adds groups to lists that are there, one list at a time, then all events that
/// have no list yet at once.
fn add_missing(text: &str, plan: &Plan, planned: &[&Registered]) -> Result<Option<Step>, SettingsError> {
    let document = Document::read(text)?;
    let present = place::all(&document);
    let missing = planned.iter().filter(|event| !present.iter().any(|place| place.event == event.kind.name()));
    let missing: Vec<&Registered> = missing.copied().collect();
    if missing.is_empty() {
        return Ok(None);
    }
    let layout = Layout::of(&document);
    let group = |event: &Registered| format!("{{ \"hooks\": [{}] }}", entry::render(&entry::wanted(plan, event)));
    let hooks = object_member(&document, "hooks")?;
    for event in &missing {
        let name = event.kind.name();
        if let Some(list) = hooks.and_then(|hooks| hooks.member(name)) {
            let row = list_row(&document, &list.node, &format!("hooks.{name}"))?;
            let splices = row.append(&document, &layout, |_| group(event));
            return Ok(Some(Step::of(text, splices).with_event(name)));
        }
    }
    let members = |indent: &str| {
        let lines = missing.iter().map(|event| format!("\"{}\": [ {} ]", event.kind.name(), group(event)));
        lines.collect::<Vec<_>>().join(&format!(",{}{indent}", layout.line_end))
    };
    let mut step = match hooks.and_then(Row::of) {
        Some(row) => {
            let indent_of = |indent: &str| splice::inner_indent(&row, indent, &layout);
            Step::of(text, row.append(&document, &layout, |indent| members(&indent_of(indent))))
        }
        None => Step::of(text, put_member(&document, &layout, "hooks", members)),
    };
    step.events = missing.iter().map(|event| event.kind.name().to_owned()).collect();
    Ok(Some(step))
}

fn add_rules(text: &str, rules: &[String]) -> Result<Option<Step>, SettingsError> {
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
    let mut step = Step::of(text, splices);
    step.allow = missing.into_iter().cloned().collect();
    Ok(Some(step))
}

/// A member of the root that has to be an object if it is there.
fn object_member<'d>(document: &'d Document<'_>, key: &str) -> Result<Option<&'d Node>, SettingsError> {
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
fn put_member(document: &Document<'_>, layout: &Layout, key: &str, inside: impl FnOnce(&str) -> String) -> Vec<Splice> {
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
