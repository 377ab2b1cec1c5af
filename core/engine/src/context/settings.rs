//! What a project or user wants shown: the `[context]` section, and what of others decides how usage is measured.

use policy::Policy;
use policy::config::sections::CoreEntry;
use policy::config::types::TextOr;

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

impl ContextSettings {
    pub fn of(policy: &Policy) -> Self {
        let sections = &policy.sections;
        let section = &sections.context;
        Self {
            prefix: section.prefix.clone(),
            core: section.core.iter().filter_map(core_file).collect(),
            roles: section.roles,
            window: section.window,
            windows: section.windows.iter().map(|(model, tokens)| (model.clone(), *tokens)).collect(),
            reserve: section.reserve,
            warnings: section.warnings,
            runtime: section.runtime,
            status_reminder: section.status_reminder,
            report: section.report,
            follows_usage: section.warnings
                || section.usage
                || sections.overflow.is_some()
                || !sections.skills.is_empty(),
            session_required: sections.session.required,
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

/// `"notes.md"`, or `{ path = "notes.md", name = "NOTES", label = "what to know" }`.
fn core_file(entry: &TextOr<CoreEntry>) -> Option<CoreFile> {
    let (path, name, label) = match entry {
        TextOr::Text(path) => (path, None, None),
        TextOr::Table(entry) => (&entry.path, entry.name.as_ref(), entry.label.as_ref()),
    };
    let name = name.unwrap_or(path);
    let title = label.map_or_else(|| name.clone(), |label| format!("{name} ({label})"));
    (!path.is_empty()).then(|| CoreFile { path: path.clone(), title })
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
