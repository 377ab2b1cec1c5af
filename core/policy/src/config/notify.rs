//! The `[notify]` section of one file, and what of it a project may say.

use super::diagnostic::{Diagnostic, FileReport};
use super::keys;
use super::values::Fields;
use crate::notify::{KINDS, Notify, Quiet};
use model::row::AgentStatus;
use toml::Spanned;
use toml::de::DeValue;

/// What one file says of notifications. Absent is "as below".
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NotifyLayer {
    pub on: Option<Vec<AgentStatus>>,
    pub terminal: Option<bool>,
    pub desktop: Option<bool>,
    pub command: Option<Vec<String>>,
    pub debounce_ms: Option<i64>,
    pub quiet: Option<Vec<Quiet>>,
    /// All but `on`, where it stands: a project may not say these.
    beyond: Vec<Diagnostic>,
}

/// Longer than an hour is no debounce but a forgotten notification.
const LONGEST_MS: i64 = 3_600_000;

impl NotifyLayer {
    pub(super) fn parse(notify: &Fields<'_, '_>, report: &mut FileReport<'_>) -> Self {
        notify.only(keys::NOTIFY, report);
        Self {
            on: notify.get("on").map(|value| kinds(value, report)),
            terminal: truth(notify, "terminal", report),
            desktop: truth(notify, "desktop", report),
            command: notify.get("command").and_then(|value| command(value, report)),
            debounce_ms: notify.get("debounce").and_then(|value| debounce(value, report)),
            quiet: notify.get("quiet").map(|value| quiet(value, report)),
            beyond: beyond(notify, report),
        }
    }

    /// The user's own file.
    pub(super) fn apply(self, notify: &mut Notify) {
        let Self { on, terminal, desktop, command, debounce_ms, quiet, .. } = self;
        notify.on = on.unwrap_or(std::mem::take(&mut notify.on));
        notify.terminal = terminal.unwrap_or(notify.terminal);
        notify.desktop = desktop.unwrap_or(notify.desktop);
        notify.command = command.unwrap_or(std::mem::take(&mut notify.command));
        notify.debounce_ms = debounce_ms.unwrap_or(notify.debounce_ms);
        notify.quiet = quiet.unwrap_or(std::mem::take(&mut notify.quiet));
    }

    /// A project's file, trusted or not: it may leave kinds out and nothing else.
    /// What is told to a person, and what runs on their machine, is theirs to say.
    pub(super) fn narrow(self, notify: &mut Notify) -> Vec<Diagnostic> {
        if let Some(on) = self.on {
            notify.on.retain(|kind| on.contains(kind));
        }
        self.beyond
    }
}

fn beyond(notify: &Fields<'_, '_>, report: &FileReport<'_>) -> Vec<Diagnostic> {
    let known = notify.table.keys().filter(|key| key.get_ref() != "on");
    let mut aside = FileReport { file: report.file, text: report.text, found: Vec::new() };
    for key in known.filter(|key| keys::NOTIFY.contains(&key.get_ref().as_ref())) {
        let message = format!("`notify.{}` is ignored: a project may only leave kinds out of `on`", key.get_ref());
        aside.push(key.span(), message, Some("set it in your own configuration: `taut notify on`".into()));
    }
    aside.found.sort_by_key(|found| (found.line, found.column));
    aside.found
}

fn kinds(value: &Spanned<DeValue<'_>>, report: &mut FileReport<'_>) -> Vec<AgentStatus> {
    let DeValue::Array(items) = value.get_ref() else {
        report.add(value.span(), "`on` is a list such as [\"attention\", \"error\", \"done\"]");
        return Vec::new();
    };
    let names = KINDS.map(AgentStatus::name);
    let mut kinds = Vec::new();
    for item in items.iter() {
        let name = match item.get_ref() {
            DeValue::String(name) => name.as_ref(),
            other => {
                report.add(item.span(), format!("`on` holds texts, not {}", other.type_str()));
                continue;
            }
        };
        match KINDS.into_iter().find(|kind| kind.name() == name) {
            Some(kind) if kinds.contains(&kind) => {}
            Some(kind) => kinds.push(kind),
            None => report.unknown(item.span(), "kind of notification", name, &names),
        }
    }
    kinds
}

fn truth(fields: &Fields<'_, '_>, name: &str, report: &mut FileReport<'_>) -> Option<bool> {
    let value = fields.get(name)?;
    match value.get_ref() {
        DeValue::Boolean(truth) => Some(*truth),
        _ => {
            report.add(value.span(), format!("`{name}` is true or false"));
            None
        }
    }
}

/// Program and arguments, not a line: what is run must not hang on a shell's
/// reading, nor on a search path that somebody else has set.
fn command(value: &Spanned<DeValue<'_>>, report: &mut FileReport<'_>) -> Option<Vec<String>> {
    let hint = Some("for a line of shell: [\"/bin/sh\", \"-c\", \"…\"]".to_string());
    let DeValue::Array(items) = value.get_ref() else {
        report.push(value.span(), "`command` is a list: [\"/path/to/program\", \"argument\"]".to_string(), hint);
        return None;
    };
    let mut words = Vec::new();
    for item in items.iter() {
        match item.get_ref() {
            DeValue::String(word) if !word.contains('\0') => words.push(word.to_string()),
            _ => {
                report.push(item.span(), "`command` holds texts".to_string(), hint);
                return None;
            }
        }
    }
    if words.first().is_some_and(|program| !program.starts_with('/') && !program.starts_with("~/")) {
        report.push(value.span(), "`command` begins with the full path of a program".to_string(), hint);
        return None;
    }
    Some(words)
}

fn debounce(value: &Spanned<DeValue<'_>>, report: &mut FileReport<'_>) -> Option<i64> {
    let ms = match value.get_ref() {
        DeValue::String(text) => length(text),
        _ => None,
    };
    if ms.is_none() {
        report.add(value.span(), "`debounce` is a length of time up to an hour, such as \"5s\" or \"2m\"");
    }
    ms
}

fn length(text: &str) -> Option<i64> {
    let units = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)];
    let (number, unit) = units.iter().find_map(|(name, unit)| Some((text.trim().strip_suffix(name)?, unit)))?;
    let number = number.trim().parse::<i64>().ok()?;
    number.checked_mul(*unit).filter(|ms| (0..=LONGEST_MS).contains(ms))
}

/// One stretch, or a list of them.
fn quiet(value: &Spanned<DeValue<'_>>, report: &mut FileReport<'_>) -> Vec<Quiet> {
    let one = std::slice::from_ref(value);
    let items: Vec<&Spanned<DeValue<'_>>> = match value.get_ref() {
        DeValue::Array(items) => items.iter().collect(),
        _ => one.iter().collect(),
    };
    let mut stretches = Vec::new();
    for item in items {
        let parsed = match item.get_ref() {
            DeValue::String(text) => Quiet::parse(text),
            _ => None,
        };
        match parsed {
            Some(stretch) => stretches.push(stretch),
            None => {
                report.add(item.span(), "`quiet` is a stretch of the day such as \"22:00-07:00\", or a list of them")
            }
        }
    }
    stretches
}
