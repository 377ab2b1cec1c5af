//! The `[context]` section: what a project or user wants told. Absent means
//! off; a wrongly typed value is absent.

use policy::Policy;
use toml::{Table, Value};

/// What is switched on, read from the configuration of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextSettings {
    /// Begins every text of ours that informs; `INFO` in it becomes `WARNING` where one warns.
    pub prefix: String,
    pub core: Vec<CoreFile>,
    /// The session's role and mode are loaded when they have a file.
    pub roles: bool,
    /// Tokens of the whole window, for every model or by the beginning of its name.
    pub window: Option<u64>,
    pub windows: Vec<(String, u64)>,
    /// How many tokens before the end of the window the client compacts.
    pub reserve: u64,
    pub warnings: bool,
    /// One line at each prompt: time, session, skill, phase, heartbeat.
    pub runtime: bool,
    /// A reminder to say what one is doing.
    pub status_reminder: bool,
    /// A background session is asked once to report before it ends.
    pub report: bool,
    /// Something needs to know the usage after every tool call.
    pub follows_usage: bool,
    /// An effort must be activated before anything else.
    pub session_required: bool,
}

/// A file everyone gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoreFile {
    pub path: String,
    /// As it is listed, with its label.
    pub title: String,
}

/// How far before the end of the window the client was seen to compact.
const RESERVE: u64 = 33_000;

const PREFIX: &str = "[TAUT: INFO]";

impl ContextSettings {
    pub fn of(policy: &Policy) -> Self {
        let empty = Table::new();
        let table = policy.section("context").and_then(Value::as_table).unwrap_or(&empty);
        let on = |name: &str| table.get(name).and_then(Value::as_bool).unwrap_or_default();
        let warnings = on("warnings");
        Self {
            prefix: table.get("prefix").and_then(Value::as_str).unwrap_or(PREFIX).to_string(),
            core: core(table),
            roles: table.get("roles").and_then(Value::as_bool).unwrap_or(true),
            window: table.get("window").and_then(tokens),
            windows: windows(table),
            reserve: table.get("reserve").and_then(tokens).unwrap_or(RESERVE),
            warnings,
            runtime: on("runtime"),
            status_reminder: on("status_reminder"),
            report: on("report"),
            follows_usage: warnings
                || on("usage")
                || ["overflow", "skills"].iter().any(|name| policy.section(name).is_some()),
            session_required: session_required(policy),
        }
    }

    pub fn info(&self, text: &str) -> String {
        format!("{}: {text}", self.prefix)
    }

    pub fn warning(&self, text: &str) -> String {
        format!("{}: {text}", self.prefix.replace("INFO", "WARNING"))
    }
}

impl Default for ContextSettings {
    fn default() -> Self {
        Self::of(&Policy::built_in())
    }
}

fn session_required(policy: &Policy) -> bool {
    let section = policy.section("session").and_then(Value::as_table);
    section.and_then(|table| table.get("required")).and_then(Value::as_bool).unwrap_or_default()
}

fn tokens(value: &Value) -> Option<u64> {
    value.as_integer().and_then(|number| u64::try_from(number).ok()).filter(|number| *number > 0)
}

fn windows(table: &Table) -> Vec<(String, u64)> {
    let by_model = table.get("windows").and_then(Value::as_table);
    by_model.into_iter().flatten().filter_map(|(model, value)| Some((model.clone(), tokens(value)?))).collect()
}

/// `"notes.md"`, or `{ path = "notes.md", name = "NOTES", label = "what to know" }`.
fn core(table: &Table) -> Vec<CoreFile> {
    let entries = table.get("core").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    entries.iter().filter_map(core_file).collect()
}

fn core_file(entry: &Value) -> Option<CoreFile> {
    let text = |name: &str| entry.get(name).and_then(Value::as_str);
    let path = entry.as_str().or_else(|| text("path")).filter(|path| !path.is_empty())?;
    let name = text("name").unwrap_or(path);
    let title = match text("label") {
        Some(label) => format!("{name} ({label})"),
        None => name.to_string(),
    };
    Some(CoreFile { path: path.to_string(), title })
}

#[cfg(test)]
mod tests {
    use super::*;
    use policy::{Layer, LayerKind, Trust};

    fn settings(text: &str) -> ContextSettings {
        let layer = Layer { kind: LayerKind::User, file: "c".into(), text: text.into() };
        ContextSettings::of(&Policy::layered(&[layer], Trust::Untrusted).0)
    }

    #[test]
    fn i5_nothing_is_on_by_itself() {
        let quiet = ContextSettings::default();
        assert!(quiet.core.is_empty());
        assert!(!quiet.warnings && !quiet.runtime && !quiet.status_reminder && !quiet.report && !quiet.follows_usage);
        assert_eq!(quiet.info("x"), "[TAUT: INFO]: x");
        assert_eq!(quiet.warning("x"), "[TAUT: WARNING]: x");
    }

    #[test]
    fn a_section_is_read_and_mistakes_in_it_count_as_absent() {
        let read = settings(
            "[context]\nprefix = \"[CLAUDE OS SYS: INFO]\"\nwindow = -3\nwarnings = \"yes\"\nreport = true\n\
             windows = { claude-x = 500000, other = \"big\" }\n\
             core = [\"a.md\", 7, { path = \"D/TODAY.md\", name = \"TODAY.MD\", label = \"daily memory\" }]\n",
        );
        let core = |path: &str, title: &str| CoreFile { path: path.into(), title: title.into() };
        assert_eq!(read.core, [core("a.md", "a.md"), core("D/TODAY.md", "TODAY.MD (daily memory)")]);
        assert_eq!((read.window, read.windows.as_slice()), (None, [("claude-x".to_string(), 500_000)].as_slice()));
        assert!(!read.warnings && read.report);
        assert_eq!(read.warning("x"), "[CLAUDE OS SYS: WARNING]: x");
    }
}
