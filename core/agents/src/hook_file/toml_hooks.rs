//! Hooks in a file of TOML: tables of one list, ours put behind everything.
//!
//! A table of ours is put in with the line end before it, and so taken out: whether the file ended with one, and what
//! others wrote behind it since, is as it was.

use super::command::hook_program;
use super::splice::{self, Splice};
use super::toml_document::{HookTable, line_end, tables, written};
use crate::settings::{CommandForm, Edited, HookEntry, Inspection, Leaves, Registered, SettingsError, SettingsPlan};

/// How an agent writes its hooks in TOML.
#[derive(Debug)]
pub struct TomlHooks {
    /// The name of the list, `hooks` for `[[hooks]]`.
    pub array: &'static str,
    pub registered: &'static [Registered],
    /// The fields of the table that calls us for one event: its name, and our line as `command`, are among them.
    pub table: fn(&SettingsPlan, &Registered) -> Vec<(&'static str, TableValue)>,
}

/// A value of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TableValue {
    Text(String),
    Number(u64),
    Flag(bool),
}

const LINE: &str = "command";
/// What narrows a hook to some tools.
const MATCHERS: [&str; 2] = ["matcher", "match"];

impl TomlHooks {
    /// Puts our tables in, or brings those that are there up to date.
    pub fn edit(&self, text: &str, plan: &SettingsPlan) -> Result<Edited, SettingsError> {
        let planned = plan.events(self.registered);
        let mut edited = Edited::unchanged(text);
        while let Some((event, text)) = self.without_stale(&edited.text, &planned)? {
            edited.text = text;
            edited.events.push(event);
        }
        for event in planned {
            let present = self.ours(&edited.text)?.into_iter().find(|ours| ours.event == event.name);
            let after = match present {
                Some(ours) => self.up_to_date(&edited.text, &ours.table, plan, event),
                None => self.with_table(&edited.text, plan, event),
            };
            if after != edited.text {
                edited.text = after;
                edited.events.push(event.name.to_owned());
            }
        }
        // What was put in has to be read as what it is.
        self.ours(&edited.text)?;
        Ok(edited)
    }

    /// Takes our tables out.
    pub fn remove(&self, text: &str, _allow: &[String]) -> Result<Edited, SettingsError> {
        let mut edited = Edited::unchanged(text);
        while let Some(ours) = self.ours(&edited.text)?.pop() {
            edited.text = without(&edited.text, &ours.table);
            edited.events.push(ours.event);
        }
        if !edited.events.is_empty() && edited.text.trim().is_empty() {
            edited.leaves = Leaves::Nothing;
        }
        Ok(edited)
    }

    pub fn inspect(&self, text: &str) -> Result<Inspection, SettingsError> {
        let entries = self.ours(text)?.into_iter().map(|ours| HookEntry {
            matcher: MATCHERS.iter().find_map(|key| ours.table.text(key)).map(str::to_owned),
            line: SettingsError::at(text, ours.table.span.start, "").line,
            event: ours.event,
            program: ours.program,
            form: CommandForm::Shell,
        });
        Ok(Inspection { entries: entries.collect(), ..Inspection::default() })
    }

    fn ours(&self, text: &str) -> Result<Vec<OurTable>, SettingsError> {
        let ours = |table: HookTable| {
            let program = hook_program(table.text(LINE)?).filter(|_| table.is_flat)?;
            let name = |text: &String| self.registered.iter().any(|event| event.name == text);
            let event = table.fields.iter().filter_map(|field| field.text.clone()).find(name).unwrap_or_default();
            Some(OurTable { table, program, event })
        };
        Ok(tables(text, self.array)?.into_iter().filter_map(ours).collect())
    }

    /// Without the last of our tables that no longer belongs: of an event that is not registered any more, or the
    /// second one of an event.
    fn without_stale(&self, text: &str, planned: &[&Registered]) -> Result<Option<(String, String)>, SettingsError> {
        let ours = self.ours(text)?;
        let stale = ours.iter().enumerate().rfind(|(index, found)| {
            let known = planned.iter().any(|event| event.name == found.event);
            !known || ours.iter().take(*index).any(|earlier| earlier.event == found.event)
        });
        Ok(stale.map(|(_, found)| (found.event.clone(), without(text, &found.table))))
    }

    /// Only what differs is written anew.
    fn up_to_date(&self, text: &str, table: &HookTable, plan: &SettingsPlan, event: &Registered) -> String {
        let mut splices = Vec::new();
        let mut added = String::new();
        for (key, value) in (self.table)(plan, event) {
            match table.field(key) {
                Some(field) if value.is(field.text.as_deref(), written(text, &field.value)) => {}
                Some(field) => splices.push(Splice { span: field.value.clone(), with: value.render() }),
                None => added += &format!("{key} = {}{}", value.render(), eol(text)),
            }
        }
        if !added.is_empty() {
            // A last line may have no end yet.
            let open = !written(text, &table.span).ends_with('\n');
            let with = if open { format!("{}{added}", eol(text)) } else { added };
            splices.push(Splice { span: table.span.end..table.span.end, with });
        }
        splice::apply(text, splices)
    }

    fn with_table(&self, text: &str, plan: &SettingsPlan, event: &Registered) -> String {
        let eol = eol(text);
        let before = if text.is_empty() { "" } else { eol };
        let mut after = format!("{text}{before}[[{}]]{eol}", self.array);
        for (key, value) in (self.table)(plan, event) {
            after += &format!("{key} = {}{eol}", value.render());
        }
        after
    }
}

struct OurTable {
    table: HookTable,
    program: String,
    event: String,
}

/// The text without that table: its header and its fields, with the line end before it. Comments between them stay.
fn without(text: &str, table: &HookTable) -> String {
    let lines = table.fields.iter().map(|field| line_start(text, field.value.start)..line_end(text, field.value.end));
    let header = line_end_before(text, table)..line_end(text, table.span.start);
    splice::apply(text, lines.chain(Some(header)).map(|span| Splice { span, with: String::new() }).collect())
}

/// Where the line end before a table begins, if it was put in with the table; else where the table's line begins.
fn line_end_before(text: &str, table: &HookTable) -> usize {
    let start = line_start(text, table.span.start);
    let before = text.get(..start).unwrap_or_default();
    let Some(cut) = before.strip_suffix('\n') else { return start };
    let cut = cut.strip_suffix('\r').unwrap_or(cut);
    // Otherwise what stands before the table and what stands behind it would come to stand on one line.
    let follows_blank = cut.is_empty() || cut.ends_with('\n');
    if follows_blank || table.span.end == text.len() { cut.len() } else { start }
}

fn line_start(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |newline| newline + 1)
}

fn eol(text: &str) -> &'static str {
    let crlf = text.find('\n').is_some_and(|at| text.get(..at).is_some_and(|line| line.ends_with('\r')));
    if crlf { "\r\n" } else { "\n" }
}

impl TableValue {
    /// A JSON text is a TOML text too, but for one character.
    fn render(&self) -> String {
        match self {
            Self::Text(text) => serde_json::Value::from(text.as_str()).to_string().replace('\u{7f}', "\\u007f"),
            Self::Number(number) => number.to_string(),
            Self::Flag(flag) => flag.to_string(),
        }
    }

    /// Whether a field says this already, however it is written.
    fn is(&self, text: Option<&str>, written: &str) -> bool {
        match self {
            Self::Text(wanted) => text == Some(wanted),
            Self::Number(_) | Self::Flag(_) => written == self.render(),
        }
    }
}

impl From<&str> for TableValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for TableValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<u32> for TableValue {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

impl From<bool> for TableValue {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}
