//! Our own entry in the settings: how it is written and how it is recognised.

use super::client::form;
use super::jsonc::{Document, Node};
use super::{CommandForm, GuardFailure, Registered, SettingsPlan, Version};
use model::EventKind;
use serde_json::{Map, Value, json};

/// The arguments of our command; they stay the same across upgrades.
pub(super) const ARGS: [&str; 3] = ["hook", "--agent", super::super::ID];

/// The handler a plan wants for an event.
pub(super) fn wanted(plan: &SettingsPlan, registered: &Registered) -> Value {
    let mut handler = Map::new();
    handler.insert("type".into(), json!("command"));
    match form(plan.client) {
        CommandForm::Exec => {
            handler.insert("command".into(), json!(plan.command));
            handler.insert("args".into(), json!(ARGS));
        }
        CommandForm::Shell => {
            let line = format!("{} {}", quoted(&plan.command), ARGS.join(" "));
            handler.insert("command".into(), json!(line));
        }
    }
    handler.insert("timeout".into(), json!(registered.timeout));
    // Only the guard may stop an agent by failing; whatever else fails is state.
    let closed = plan.on_failure == GuardFailure::Block && plan.client.has(Version::ON_FAILURE);
    if closed && registered.kind == EventKind::PreToolUse {
        handler.insert("onFailure".into(), json!("block"));
    }
    Value::Object(handler)
}

/// The handler on one line, in the style a person would write.
pub(super) fn render(value: &Value) -> String {
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
pub(super) fn value(document: &Document<'_>, node: &Node) -> Value {
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

/// The program and arguments of a handler, when it is one of ours in either form.
pub(super) fn recognise(handler: &Node) -> Option<(String, CommandForm)> {
    let command = handler.member("command")?.node.text()?;
    if let Some(args) = handler.member("args") {
        let first = args.node.items()?.first()?.text()?;
        return (is_taut(command) && first == "hook").then(|| (command.to_owned(), CommandForm::Exec));
    }
    let mut words = shell_words(command).into_iter();
    let program = words.next()?;
    (is_taut(&program) && words.next().as_deref() == Some("hook")).then_some((program, CommandForm::Shell))
}

pub(super) fn is_taut(program: &str) -> bool {
    program.rsplit('/').next() == Some("taut")
}

/// A word as a shell reads it back unchanged.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%:,=".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The words of a simple shell line. Only good enough to recognise our own:
/// expansions stay as they are written.
fn shell_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(chars.next()),
            (None, _) if c.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ours(text: &str) -> Option<(String, CommandForm)> {
        recognise(Document::read(text).unwrap().root.as_ref().unwrap())
    }

    #[test]
    fn our_entries_are_recognised_in_both_forms_and_at_any_place() {
        let exec = |program: &str| Some((program.to_owned(), CommandForm::Exec));
        let shell = |program: &str| Some((program.to_owned(), CommandForm::Shell));
        assert_eq!(ours(r#"{"command":"/a/taut","args":["hook","--agent","claude-code"]}"#), exec("/a/taut"));
        assert_eq!(ours(r#"{"command":"taut","args":["hook"]}"#), exec("taut"));
        assert_eq!(ours(r#"{"command":"/a/taut hook --agent claude-code"}"#), shell("/a/taut"));
        assert_eq!(ours(r#"{"command":"'/my tools/taut' hook"}"#), shell("/my tools/taut"));
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

    #[test]
    fn a_quoted_word_is_read_back_as_it_was() {
        for path in ["/a/taut", "/my tools/taut", "/it's/taut", "/a$b/`c`/\"d\"/taut", "/ü/taut"] {
            assert_eq!(shell_words(&format!("{} hook", quoted(path))), [path, "hook"]);
        }
    }
}
