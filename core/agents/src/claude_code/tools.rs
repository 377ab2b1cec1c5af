//! Claude Code's tools: what kind each is, and which fields of its input say what it would do.

use crate::tool_input::{self, CommandLanguage, shell_line};
use model::tool::{ToolCall, ToolKind, ToolSubject};
use serde_json::Value;

/// What the client calls its tools, by kind. A name that stands here is known to look only where the second part says so.
const KINDS: &[(ToolKind, &[&str], &[&str])] = &[
    (ToolKind::Shell, &["Bash", "PowerShell", "Monitor", "REPL"], &[]),
    (ToolKind::Write, &["Write"], &[]),
    (ToolKind::Edit, &["Edit", "MultiEdit", "NotebookEdit"], &[]),
    (ToolKind::Read, &[], &["Read", "NotebookRead"]),
    (ToolKind::Search, &[], &["Glob", "Grep", "LS", "WebSearch"]),
    (ToolKind::Fetch, &["WebFetch"], &[]),
    (ToolKind::Ask, &[], &["AskUserQuestion"]),
    (ToolKind::Plan, &["TaskCreate", "TaskUpdate"], &["ExitPlanMode", "TaskGet", "TaskList", "TodoRead", "TodoWrite"]),
    (ToolKind::Task, &["Agent", "Task", "TaskStop"], &["BashOutput", "TaskOutput"]),
    (ToolKind::Mcp, &[], &["ListMcpResourcesTool", "ReadMcpResourceTool"]),
    // Entering the mode for plans puts none before the user.
    (ToolKind::Other, &["EnterPlanMode", "Skill"], &["ToolSearch"]),
];

/// The tools of our own server, and the command of ours that each stands for.
const OWN: &[(&str, &str)] = &[
    ("recall", "recall"),
    ("timeline", "events"),
    ("remember", "remember"),
    ("forget", "forget"),
    ("note", "log"),
    ("tasks_list", "task"),
    ("tasks_claim", "task"),
    ("tasks_done", "task"),
    ("tasks_fail", "task"),
    ("tasks_renew", "task"),
    ("agents", "agents"),
    ("send", "send"),
    ("inbox", "inbox"),
    ("explain_command", "explain"),
];

/// Tools that run something other than a line of the shell in `command`.
const SHELLS: &[(&str, &str, CommandLanguage)] =
    &[("PowerShell", "command", CommandLanguage::PowerShell), ("REPL", "code", CommandLanguage::JavaScript)];

/// A call, without the texts of an edit.
pub fn call(name: String, input: Value) -> ToolCall {
    let (kind, looks_only) = kind(&name, &input);
    let text = |field: &str| input.get(field).and_then(Value::as_str).map(str::to_string);
    let mut subject = ToolSubject { looks_only, ..ToolSubject::default() };
    let file = || text("file_path").or_else(|| text("notebook_path"));
    match (kind, name.as_str()) {
        (ToolKind::Shell, _) => {
            let given = SHELLS
                .iter()
                .find(|(tool, ..)| *tool == name)
                .map_or(("command", CommandLanguage::Shell), |it| (it.1, it.2));
            subject.command = text(given.0).or_else(|| text("command")).map(|line| shell_line(given.1, &line));
        }
        (_, "NotebookEdit") => subject.paths.extend(text("notebook_path")),
        (ToolKind::Write | ToolKind::Edit, _) => subject.paths.extend(text("file_path")),
        (ToolKind::Search, "Grep" | "Glob") => {
            subject.pattern = text("pattern");
            subject.folder = text("path").or(Some(".".into()));
            // The other one looks at names only.
            subject.paths.extend(text("path").filter(|_| name == "Grep"));
        }
        _ if !is_known(&name) => {
            subject.paths.extend(file());
            tool_input::read(&name, &input, &mut subject);
        }
        (_, "Skill") => subject.skill = Some(text("skill").or_else(|| text("command")).unwrap_or_default()),
        _ => subject.paths.extend(file()),
    }
    subject.unread = match (kind, name.as_str()) {
        (ToolKind::Shell, _) if subject.command.is_none() => Some("command"),
        (ToolKind::Edit, "NotebookEdit") if subject.paths.is_empty() => Some("notebook_path"),
        (ToolKind::Write | ToolKind::Edit, _) if subject.paths.is_empty() => Some("file_path"),
        _ => subject.unread,
    };
    ToolCall { name, kind, use_id: None, input, subject }
}

pub fn own_command(name: &str) -> Option<&'static str> {
    let name = name.strip_prefix("mcp__taut__")?;
    OWN.iter().find(|(tool, _)| *tool == name).map(|(_, command)| *command)
}

/// A call of our own server. It runs nothing but our own command, so nothing in its input is a command: what is asked
/// about with `explain_command` is not run.
pub fn own(name: String, input: Value, command: &'static str) -> ToolCall {
    let subject = ToolSubject { own: Some(command), ..ToolSubject::default() };
    ToolCall { name, kind: ToolKind::Mcp, use_id: None, input, subject }
}

/// The call with what it takes out of a file and puts in. It may be long, so it is read only where it is judged.
pub fn with_texts(mut call: ToolCall) -> ToolCall {
    let text = |field: &str| call.text(field).map(str::to_string);
    let (removed, added) = match call.name.as_str() {
        "Edit" => (text("old_string"), text("new_string")),
        "MultiEdit" => (Some(joined(&call, "old_string")), Some(joined(&call, "new_string"))),
        "Write" => (None, text("content")),
        "NotebookEdit" => (None, text("new_source")),
        _ => return call,
    };
    (call.subject.removed, call.subject.added) = (removed, added.unwrap_or_default());
    call.subject.everywhere = call.input.get("replace_all").and_then(Value::as_bool).unwrap_or_default();
    call
}

fn is_known(name: &str) -> bool {
    KINDS.iter().any(|(_, acts, looks)| acts.contains(&name) || looks.contains(&name))
}

/// A call whose name was lost is one of the shell if it has a command.
fn kind(name: &str, input: &Value) -> (ToolKind, bool) {
    let known = KINDS.iter().find_map(|(kind, acts, looks)| {
        let looks_only = looks.contains(&name);
        (looks_only || acts.contains(&name)).then_some((*kind, looks_only))
    });
    match known {
        Some(known) => known,
        None if name.is_empty() && input.get("command").is_some_and(Value::is_string) => (ToolKind::Shell, false),
        None if name.starts_with("mcp__") => (ToolKind::Mcp, false),
        None => (ToolKind::Other, false),
    }
}

fn joined(call: &ToolCall, field: &str) -> String {
    let edits = call.input.get("edits").and_then(Value::as_array);
    let texts = edits.into_iter().flatten().filter_map(|edit| edit.get(field)).filter_map(Value::as_str);
    texts.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_tool_has_one_kind_and_an_unheard_one_acts() {
        let names: Vec<&str> = KINDS.iter().flat_map(|(_, acts, looks)| acts.iter().chain(*looks)).copied().collect();
        for (at, name) in names.iter().enumerate() {
            assert!(!names[..at].contains(name), "{name} stands twice");
        }
        for (name, kind) in [("mcp__x__run", ToolKind::Mcp), ("Unheard", ToolKind::Other), ("", ToolKind::Other)] {
            let call = call(name.into(), json!({}));
            assert_eq!((call.kind, call.acts()), (kind, true), "{name}");
        }
    }

    #[test]
    fn a_call_whose_name_was_lost_is_judged_by_its_command() {
        assert_eq!(call(String::new(), json!({"command": "rm -rf /"})).command(), Some("rm -rf /"));
        assert_eq!(call("Agent".into(), json!({"command": "rm -rf /"})).command(), None);
    }

    #[test]
    fn what_an_edit_takes_out_and_puts_in_is_read_from_each_edit_tool() {
        let texts = |name: &str, input| {
            let call = with_texts(call(name.into(), input));
            (call.written_file().map(str::to_string), call.subject.removed, call.subject.added)
        };
        let path = Some("/a".to_string());
        let edits = json!({"file_path": "/a", "edits": [{"old_string": "a", "new_string": "b"}, {"old_string": "c"}]});
        assert_eq!(texts("MultiEdit", edits), (path.clone(), Some("a\nc".into()), "b".into()));
        let edit = json!({"file_path": "/a", "old_string": "a", "new_string": "b"});
        assert_eq!(texts("Edit", edit), (path.clone(), Some("a".into()), "b".into()));
        assert_eq!(texts("Write", json!({"file_path": "/a", "content": "b"})), (path.clone(), None, "b".into()));
        assert_eq!(texts("NotebookEdit", json!({"notebook_path": "/a", "new_source": "b"})), (path, None, "b".into()));
    }
}
