//! An agent's tools as a table: what kind each is, and which fields of its input say what it would do. What a table does
//! not know is read by the usual names of such fields, and acts.

use crate::patch;
use crate::tool_input;
use model::tool::{ToolCall, ToolKind, ToolSubject};
use serde_json::Value;

/// All tools of an agent that are known by name.
#[derive(Debug)]
pub struct AgentTools {
    pub tools: &'static [KnownTool],
    /// Whether a name is a server's tool.
    pub is_servers: fn(&str) -> bool,
}

/// One tool. Of each list of fields the first that holds a text counts.
#[derive(Debug, Clone, Copy)]
pub struct KnownTool {
    pub name: &'static str,
    pub kind: ToolKind,
    /// It is known to only look, ask, or note something down for the agent itself.
    pub looks_only: bool,
    /// What a shell would run: a line, or a list of lines.
    pub command: &'static [&'static str],
    /// The folder it would run in, or look for names in.
    pub folder: &'static [&'static str],
    /// The files, each field one or a list.
    pub paths: &'static [&'static str],
    /// What it looks for.
    pub pattern: &'static [&'static str],
    /// What it takes out of a file, and puts in.
    pub removed: &'static [&'static str],
    pub added: &'static [&'static str],
    /// The skill it starts.
    pub skill: &'static [&'static str],
    /// A patch in the form of `*** Begin Patch`, which names its files itself.
    pub patch: &'static [&'static str],
}

impl KnownTool {
    /// A tool with nothing to read.
    pub const fn of(kind: ToolKind, name: &'static str) -> Self {
        let none: &[&str] = &[];
        Self {
            name,
            kind,
            looks_only: false,
            command: none,
            folder: none,
            paths: none,
            pattern: none,
            removed: none,
            added: none,
            skill: none,
            patch: none,
        }
    }

    pub const fn shell(name: &'static str, command: &'static [&'static str], folder: &'static [&'static str]) -> Self {
        Self { command, folder, ..Self::of(ToolKind::Shell, name) }
    }

    pub const fn write(name: &'static str, paths: &'static [&'static str], added: &'static [&'static str]) -> Self {
        Self { paths, added, ..Self::of(ToolKind::Write, name) }
    }

    pub const fn edit(
        name: &'static str,
        paths: &'static [&'static str],
        removed: &'static [&'static str],
        added: &'static [&'static str],
    ) -> Self {
        Self { paths, removed, added, ..Self::of(ToolKind::Edit, name) }
    }

    pub const fn patch(name: &'static str, patch: &'static [&'static str]) -> Self {
        Self { patch, ..Self::of(ToolKind::Edit, name) }
    }

    pub const fn read(name: &'static str, paths: &'static [&'static str]) -> Self {
        Self { paths, looks_only: true, ..Self::of(ToolKind::Read, name) }
    }

    /// Looks for files or for text: where, and for what.
    pub const fn search(name: &'static str, paths: &'static [&'static str], pattern: &'static [&'static str]) -> Self {
        Self { paths, pattern, looks_only: true, ..Self::of(ToolKind::Search, name) }
    }

    /// Looks at names only, not at what is in the files.
    pub const fn names(name: &'static str, folder: &'static [&'static str], pattern: &'static [&'static str]) -> Self {
        Self { folder, pattern, looks_only: true, ..Self::of(ToolKind::Search, name) }
    }

    /// Looks, asks or notes something down.
    pub const fn looks(kind: ToolKind, name: &'static str) -> Self {
        Self { looks_only: true, ..Self::of(kind, name) }
    }
}

impl AgentTools {
    /// A call of the tool of that name. One whose name was lost is read by the usual names of fields.
    pub fn call(&self, name: String, input: Value, use_id: Option<String>) -> ToolCall {
        let mut subject = ToolSubject::default();
        let kind = match self.tools.iter().find(|tool| tool.name == name) {
            Some(tool) => {
                read(tool, &input, &mut subject);
                tool.kind
            }
            None => {
                tool_input::read(&name, &input, &mut subject);
                match subject.command {
                    Some(_) if name.is_empty() => ToolKind::Shell,
                    _ if (self.is_servers)(&name) => ToolKind::Mcp,
                    _ => ToolKind::Other,
                }
            }
        };
        ToolCall { name, kind, use_id, input, subject }
    }
}

fn read(tool: &KnownTool, input: &Value, subject: &mut ToolSubject) {
    let text = |fields: &[&str]| fields.iter().find_map(|field| input.get(*field)?.as_str()).map(str::to_string);
    subject.looks_only = tool.looks_only;
    for value in tool.paths.iter().filter_map(|field| input.get(*field)) {
        let listed = value.as_array().into_iter().flatten().take(tool_input::MOST_PATHS);
        subject.paths.extend(listed.chain([value]).filter_map(Value::as_str).flat_map(tool_input::spellings));
    }
    subject.pattern = tool.pattern.iter().find_map(|field| tool_input::text_lines(input, field));
    if tool.kind == ToolKind::Search {
        subject.folder = text(tool.folder).or_else(|| subject.paths.first().cloned()).or(Some(".".into()));
    }
    subject.skill = (!tool.skill.is_empty()).then(|| text(tool.skill).unwrap_or_default());
    (subject.removed, subject.added) = (text(tool.removed), text(tool.added).unwrap_or_default());
    if let Some(given) = text(tool.patch) {
        patch::read(&given, subject);
    }
    subject.command = tool.command.iter().find_map(|field| tool_input::lines(input, field));
    if let (Some(line), Some(folder)) = (&subject.command, text(tool.folder)) {
        subject.command = Some(tool_input::line_in(&folder, line));
    }
    let is_too_long = |field: &&&str| {
        input.get(**field).and_then(Value::as_array).is_some_and(|list| list.len() > tool_input::MOST_PATHS)
    };
    subject.unread = match tool.kind {
        _ if tool.paths.iter().any(|field| is_too_long(&field)) => tool.paths.first().copied(),
        ToolKind::Shell if subject.command.is_none() => tool.command.first().copied(),
        ToolKind::Write | ToolKind::Edit if subject.paths.is_empty() => {
            tool.paths.iter().chain(tool.patch).next().copied()
        }
        _ => None,
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const TABLE: AgentTools = AgentTools {
        tools: &[
            KnownTool::shell("run", &["command", "commands"], &["dir"]),
            KnownTool::write("put", &["path"], &["text"]),
            KnownTool::patch("patch", &["input"]),
            KnownTool::search("find", &["path"], &["pattern"]),
        ],
        is_servers: |name| name.contains("__"),
    };

    fn call(name: &str, input: Value) -> ToolCall {
        TABLE.call(name.into(), input, None)
    }

    #[test]
    fn a_shells_line_is_read_from_any_of_its_fields_and_runs_where_it_says() {
        assert_eq!(call("run", json!({"command": "ls"})).command(), Some("ls"));
        assert_eq!(call("run", json!({"commands": ["cd /", "rm x"]})).command(), Some("cd /\nrm x"));
        assert_eq!(call("run", json!({"command": ["rm", "-rf", "/"]})).command(), Some("rm -rf /"));
        assert_eq!(call("run", json!({"command": "rm -rf .", "dir": "/etc"})).command(), Some("cd /etc\nrm -rf ."));
        assert_eq!(call("run", json!({"command": "ls", "dir": ""})).command(), Some("ls"));
    }

    #[test]
    fn what_would_be_done_and_cannot_be_read_is_named() {
        for (name, input, field) in [
            ("run", json!({"command": 7}), "command"),
            ("run", json!({}), "command"),
            ("put", json!({"path": 7}), "path"),
            ("patch", json!({"input": "nothing of a patch"}), "input"),
        ] {
            assert_eq!(call(name, input.clone()).subject.unread, Some(field), "{name} {input}");
        }
    }

    #[test]
    fn g1_a_path_is_judged_in_every_spelling_that_an_agent_may_take_it_in() {
        let paths = |path: &str| call("put", json!({ "path": path })).written_files().to_vec();
        for (path, meant) in [
            (" ~/.bashrc\n", "~/.bashrc"),
            ("\u{a0}/h/.zshrc", "/h/.zshrc"),
            ("@~/.bashrc", "~/.bashrc"),
            ("@/.x/settings.json", ".x/settings.json"),
            ("file:///h/.profile", "/h/.profile"),
        ] {
            assert!(paths(path).contains(&meant.to_string()), "{path:?}: {:?}", paths(path));
        }
        assert_eq!(paths("src/a.rs"), ["src/a.rs"]);
    }

    #[test]
    fn g1_of_a_list_that_is_too_long_nobody_knows_what_is_written() {
        let many = vec!["a"; tool_input::MOST_PATHS + 1];
        assert_eq!(call("put", json!({ "path": many })).subject.unread, Some("path"));
        assert_eq!(call("mcp__fs__write_files", json!({ "paths": many })).subject.unread, Some("paths"));
    }

    #[test]
    fn an_unheard_tool_acts_and_is_read_by_the_usual_names() {
        let run = call("mcp__box__shell", json!({"cmd": "rm -rf x"}));
        assert_eq!((run.kind, run.run_line(), run.acts()), (ToolKind::Mcp, Some("rm -rf x"), true));
        assert_eq!(call("", json!({"command": "rm -rf /"})).command(), Some("rm -rf /"));
        assert_eq!(call("new_tool", json!({})).kind, ToolKind::Other);
    }
}
