//! Our own entry in the settings: how it is written and how it is recognised.

use super::command::{is_taut, program_with};
use super::jsonc::{Document, Node};
use crate::settings::CommandForm;
use serde_json::{Value, json};

/// Where handlers have their line for a shell.
const LINES: [&str; 2] = ["command", "bash"];

/// The handler on one line, in the style a person would write.
pub(crate) fn render(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let fields: Vec<_> =
                fields.iter().map(|(key, value)| format!("{}: {}", json!(key), render(value))).collect();
            format!("{{ {} }}", fields.join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(render).collect::<Vec<_>>().join(", ")),
        plain => plain.to_string(),
    }
}

/// A handler as the client would read it; comments and form are gone.
pub(crate) fn value(document: &Document<'_>, node: &Node) -> Value {
    use super::jsonc::Value as Shape;
    match &node.value {
        Shape::Text(text) => text.clone().map_or(Value::Null, Value::String),
        Shape::Plain => serde_json::from_str(document.slice(node.span.clone())).unwrap_or_default(),
        Shape::Array(items) => Value::Array(items.iter().map(|item| value(document, item)).collect()),
        Shape::Object(members) => Value::Object(
            members.iter().filter_map(|member| Some((member.key.clone()?, value(document, &member.node)))).collect(),
        ),
    }
}

/// The program of a handler, when it is one of ours with these words, in either form.
pub(crate) fn recognise(handler: &Node, words: &[&str]) -> Option<(String, CommandForm)> {
    if let Some(args) = handler.member("args") {
        let command = handler.member("command")?.node.text()?;
        let args = args.node.items()?;
        let begins = words.iter().enumerate().all(|(at, word)| args.get(at).and_then(Node::text) == Some(*word));
        return (is_taut(command) && begins).then(|| (command.to_owned(), CommandForm::Exec));
    }
    let line = |key| handler.member(key).and_then(|line| program_with(line.node.text()?, words));
    LINES.into_iter().find_map(line).map(|program| (program, CommandForm::Shell))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ours(text: &str) -> Option<(String, CommandForm)> {
        recognise(Document::read(text).unwrap().root.as_ref().unwrap(), crate::hook_file::HOOK_WORDS)
    }

    #[test]
    fn our_entries_are_recognised_in_both_forms_and_at_any_place() {
        let exec = |program: &str| Some((program.to_owned(), CommandForm::Exec));
        let shell = |program: &str| Some((program.to_owned(), CommandForm::Shell));
        assert_eq!(ours(r#"{"command":"/a/taut","args":["hook","--agent","claude-code"]}"#), exec("/a/taut"));
        assert_eq!(ours(r#"{"command":"taut","args":["hook"]}"#), exec("taut"));
        assert_eq!(ours(r#"{"command":"/a/taut hook --agent claude-code"}"#), shell("/a/taut"));
        assert_eq!(ours(r#"{"command":"'/my tools/taut' hook"}"#), shell("/my tools/taut"));
        assert_eq!(ours(r#"{"type":"command","bash":"/a/taut hook --agent copilot"}"#), shell("/a/taut"));
        assert_eq!(ours(r#"{"command":"\"$HOME/bin/taut\" hook"}"#), shell("$HOME/bin/taut"));
    }

    #[test]
    fn what_merely_resembles_ours_is_foreign() {
        for text in [
            r#"{"command":"/a/taut","args":["status"]}"#, r#"{"command":"/a/tauter","args":["hook"]}"#,
            r#"{"command":"/a/taut"}"#, r#"{"command":"/a/taut status; hook"}"#, r#"{"command":"echo taut hook"}"#,
            r#"{"command":"/a/taut","args":"hook"}"#, r#"{"type":"http","url":"http://taut/hook"}"#, r#"{}"#, r#"[]"#,
        ] {
            assert_eq!(ours(text), None, "{text}");
        }
    }
}
