//! Which fields of an event's detail leave at the full level: commands and paths. All others stay, for what an agent was
//! asked, what it wrote into a file and what it said last stand among them.

use super::{LINE, SHORT, line, lines};
use serde_json::{Map, Value};

/// So much of a command or of a path.
const MOST: usize = 2_000;
/// So many words of a command that is a list.
const MOST_WORDS: usize = 100;
/// What `call` and the others hold is short.
const MARKS: [&str; 4] = ["call", "status", "kind", "trigger"];
const PLACES: [&str; 5] = ["file_path", "path", "notebook_path", "url", "pattern"];
/// How a patch begins, which is the text of files.
const PATCH: &str = "*** Begin Patch";
const LONGEST_TOOL: usize = 64;

/// Of the stored detail what may leave; `None` where nothing of it does.
pub fn detail(stored: &Value) -> Option<Value> {
    let mut fields = Map::new();
    for name in MARKS {
        if let Some(mark) = stored.get(name).and_then(mark) {
            fields.insert(name.into(), mark);
        }
    }
    if let Some(input) = stored.get("input").map(input).filter(|input| !input.is_empty()) {
        fields.insert("input".into(), Value::Object(input));
    }
    (!fields.is_empty()).then_some(Value::Object(fields))
}

/// The plain beginning of a tool's name: a client may put anything there.
pub fn tool(name: &str) -> String {
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
    let plain: String = name.chars().take_while(is_plain).take(LONGEST_TOOL).collect();
    let plain = line(&plain, LONGEST_TOOL);
    if plain.is_empty() { "unnamed".into() } else { plain }
}

/// A word, or from which to which status.
fn mark(value: &Value) -> Option<Value> {
    let word = |value: &Value| value.as_str().map(|word| Value::from(line(word, SHORT)));
    let Some(parts) = value.as_object() else { return word(value) };
    let known = ["from", "to"].into_iter().filter_map(|name| Some((name.to_string(), word(parts.get(name)?)?)));
    Some(Value::Object(known.collect()))
}

fn input(input: &Value) -> Map<String, Value> {
    let mut fields = Map::new();
    for name in PLACES {
        let most = if name == "pattern" { LINE } else { MOST };
        if let Some(place) = input.get(name).and_then(Value::as_str) {
            fields.insert(name.into(), line(place, most).into());
        }
    }
    let asked = match input.get("command") {
        Some(Value::String(asked)) => Some(command(asked).into()),
        Some(Value::Array(words)) => {
            Some(words.iter().filter_map(Value::as_str).take(MOST_WORDS).map(command).collect())
        }
        _ => None,
    };
    fields.extend(asked.map(|asked| ("command".to_string(), asked)));
    fields
}

/// Without the texts of files that stand in it.
fn command(asked: &str) -> String {
    let begins = asked.split(PATCH).next().unwrap_or_default();
    // What follows a `<<` is no command but what it is fed.
    let fed = begins.split_inclusive('\n').position(|line| line.contains("<<")).map_or(usize::MAX, |at| at + 1);
    let kept: String = begins.split_inclusive('\n').take(fed).collect();
    let clean = lines(kept.trim_end(), MOST);
    if kept.len() < asked.len() { format!("{clean} …") } else { clean }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn x3_of_an_input_leave_commands_and_places_bounded_and_without_the_texts_of_files() {
        let sent = |input: Value| detail(&json!({"input": input})).map(|detail| detail["input"].clone());
        assert_eq!(sent(json!({"content": "x", "prompt": "y", "command": {"a": "b"}, "path": ["z"]})), None);
        assert_eq!(
            sent(json!({"command": "a\ncat <<E >b\nsecret\nE", "path": "/p"})),
            Some(json!({"command": "a\ncat <<E >b …", "path": "/p"}))
        );
        let patch = format!("apply_patch\n{PATCH}\n+text");
        assert_eq!(sent(json!({"command": [patch, "b"]})), Some(json!({"command": ["apply_patch …", "b"]})));
        let long = sent(json!({"command": "x".repeat(1 << 20), "pattern": "y".repeat(1 << 20)})).unwrap();
        assert!(long.to_string().len() < 3_000, "{}", long.to_string().len());
        assert_eq!(detail(&json!({"prompt": "x", "command": "review", "args": "x", "calls": [1], "call": 7})), None);
        let marks =
            json!({"call": "c", "status": {"from": "idle", "to": "working", "why": "x"}, "kind": "k", "trigger": "t"});
        let known = json!({"call": "c", "status": {"from": "idle", "to": "working"}, "kind": "k", "trigger": "t"});
        assert_eq!(detail(&marks), Some(known));
    }

    #[test]
    fn x3_of_the_name_of_a_tool_its_plain_beginning_leaves() {
        assert_eq!(tool("mcp__desk__send"), "mcp__desk__send");
        assert_eq!(tool("Run /home/ben/secret"), "Run");
        assert_eq!(tool("/home/ben"), "unnamed");
        assert_eq!(tool(&"x".repeat(500)).chars().filter(|c| *c == 'x').count(), LONGEST_TOOL);
    }
}
