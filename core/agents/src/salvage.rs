//! Saving what can be saved from a payload that is not whole JSON: truncated,
//! nested deeper than a parser follows, or followed by other bytes.
//!
//! The scan walks the bytes once, keeps the texts and numbers of the top level and
//! the texts of the tool's input, and ignores everything else. A string that was cut off is kept
//! as far as it goes: a destructive command is judged even when its end is missing.

use serde_json::{Map, Value};

/// How much of a string is kept by the scan.
const LONGEST: usize = 256 * 1024;

/// What could be read.
pub struct SalvagedFields {
    pub fields: Map<String, Value>,
    /// Something of the tool's input was more than a text, and is not here.
    pub dropped: bool,
}

/// The fields that could be read, or `None` when there is not even one. `inputs` are the names a tool's input may have.
pub fn salvage(bytes: &[u8], inputs: &[&str]) -> Option<SalvagedFields> {
    let text = String::from_utf8_lossy(bytes);
    let mut scan =
        Scan { rest: text.as_ref(), path: Vec::new(), key: None, inputs, fields: Map::new(), dropped: false };
    scan.run();
    (!scan.fields.is_empty()).then_some(SalvagedFields { fields: scan.fields, dropped: scan.dropped })
}

/// The JSON text with a sign in place of every half of a character: agents pass them on, parsers refuse them, and what is
/// run has that sign.
pub fn mended(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let (mut rest, mut changed) = (text, false);
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let whole = match unit(escape) {
            Some(0xd800..=0xdbff) if matches!(escape.get(6..).and_then(unit), Some(0xdc00..=0xdfff)) => 12,
            Some(0xd800..=0xdfff) => {
                out.push_str("\\ufffd");
                changed = true;
                rest = escape.get(6..).unwrap_or_default();
                continue;
            }
            Some(_) => 6,
            // What follows the sign is part of it, whatever it is.
            None => 1 + escape.chars().nth(1).map_or(0, char::len_utf8),
        };
        out.push_str(escape.get(..whole).unwrap_or_default());
        rest = escape.get(whole..).unwrap_or_default();
    }
    out.push_str(rest);
    changed.then_some(out)
}

/// The number of an escape `\uXXXX` that the text begins with.
fn unit(text: &str) -> Option<u16> {
    u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok()
}

/// Gives a tool's input the first of its names: which of them is read is not told here.
pub fn rename(fields: &mut Map<String, Value>, inputs: &[&str]) {
    if let Some((first, others)) = inputs.split_first().filter(|(first, _)| !fields.contains_key(**first))
        && let Some(input) = others.iter().find_map(|name| fields.remove(*name))
    {
        fields.insert((*first).to_string(), input);
    }
}

/// Whether a text of the tool's input was longer than is kept.
pub fn shortened(fields: &Map<String, Value>, inputs: &[&str]) -> bool {
    let input = inputs.iter().find_map(|name| fields.get(*name)).and_then(Value::as_object);
    let mut texts = input.into_iter().flat_map(Map::values).filter_map(Value::as_str);
    // A cut falls on a character's boundary, up to three bytes before the limit.
    texts.any(|text| text.len() + 4 > LONGEST)
}

struct Scan<'a> {
    rest: &'a str,
    /// The key that opened each object or array we are inside of.
    path: Vec<Option<String>>,
    /// A string that may turn out to be a key.
    key: Option<String>,
    /// What the tool's input is called.
    inputs: &'a [&'a str],
    fields: Map<String, Value>,
    dropped: bool,
}

impl Scan<'_> {
    fn run(&mut self) {
        let mut awaiting = None;
        while let Some(c) = self.rest.chars().next() {
            self.rest = self.rest.get(c.len_utf8()..).unwrap_or_default();
            match c {
                '"' => {
                    let text = self.string();
                    match awaiting.take() {
                        Some(key) => self.keep(key, Value::String(text)),
                        None => self.key = Some(text),
                    }
                }
                ':' => awaiting = self.key.take(),
                '{' | '[' => {
                    self.dropped |= self.path.len() >= 2 && self.is_in_input();
                    self.path.push(awaiting.take());
                }
                '}' | ']' => {
                    self.path.pop();
                }
                ',' => awaiting = None,
                '-' | '0'..='9' if self.path.len() == 1 => {
                    let number = self.number(c);
                    if let Some(key) = awaiting.take() {
                        self.keep(key, number);
                    }
                }
                _ => {}
            }
        }
    }

    fn is_in_input(&self) -> bool {
        self.path.get(1).and_then(Option::as_deref).is_some_and(|name| self.inputs.contains(&name))
    }

    fn keep(&mut self, key: String, value: Value) {
        let inside = self.path.get(1).and_then(Option::as_deref).filter(|name| self.inputs.contains(name));
        match (self.path.len(), inside) {
            (1, _) => {
                self.fields.entry(key).or_insert(value);
            }
            (2, Some(name)) => {
                let input = self.fields.entry(name).or_insert_with(|| Value::Object(Map::new()));
                if let Value::Object(input) = input {
                    input.entry(key).or_insert(value);
                }
            }
            _ => {}
        }
    }

    /// The number that has just begun, or nothing where it is none.
    fn number(&mut self, first: char) -> Value {
        let end = self.rest.find(|c: char| !matches!(c, '0'..='9' | '+' | '-' | '.' | 'e' | 'E'));
        let (rest, after) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = after;
        serde_json::from_str(&format!("{first}{rest}")).unwrap_or_default()
    }

    /// The string that has just been opened, up to its end or the end of the bytes.
    fn string(&mut self) -> String {
        let mut escaped = false;
        let mut end = self.rest.len();
        let mut next = self.rest.len();
        for (at, c) in self.rest.char_indices() {
            if escaped {
                escaped = false;
            } else if c == '\\' {
                escaped = true;
            } else if c == '"' {
                (end, next) = (at, at + 1);
                break;
            }
        }
        let raw = self.rest.get(..end).unwrap_or_default();
        self.rest = self.rest.get(next..).unwrap_or_default();
        unescape(raw)
    }
}

fn unescape(raw: &str) -> String {
    let parse = |raw: &str| serde_json::from_str::<String>(&format!("\"{raw}\"")).ok();
    // The bytes may end in the middle of a sign.
    let short = || raw.rfind('\\').and_then(|at| raw.get(..at));
    let whole = parse(raw).or_else(|| parse(&mended(raw)?));
    let whole = whole.or_else(|| parse(short()?)).or_else(|| parse(&mended(short()?)?));
    let mut text = whole.unwrap_or_else(|| raw.to_string());
    if text.len() > LONGEST {
        let cut = (0..=LONGEST).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
        text.truncate(cut);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const INPUT: &[&str] = &["tool_input"];

    #[test]
    fn a_truncated_payload_keeps_its_event_and_command() {
        let bytes = br#"{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"git push --force","descr"#;
        let fields = salvage(bytes, INPUT).unwrap().fields;
        assert_eq!(fields["hook_event_name"], "PreToolUse");
        assert_eq!(fields["tool_input"]["command"], "git push --force");
    }

    #[test]
    fn a_cut_string_is_kept_as_far_as_it_goes() {
        let fields = salvage(br#"{"tool_input":{"command":"rm -rf / --no-pre"#, INPUT).unwrap().fields;
        assert_eq!(fields["tool_input"]["command"], "rm -rf / --no-pre");
    }

    #[test]
    fn a_field_deep_inside_is_not_taken_for_one_at_the_top() {
        let fields = salvage(br#"{"a":{"b":{"hook_event_name":"Stop"}},"cwd":"/x""#, INPUT).unwrap().fields;
        assert!(!fields.contains_key("hook_event_name"));
        assert_eq!(fields["cwd"], "/x");
    }

    #[test]
    fn g1_half_a_character_hides_nothing_that_stands_beside_it() {
        for (raw, wanted) in [
            (r#"a\ud800\n\"b\""#, "a\u{fffd}\n\"b\""),
            (r"\udc00\ud83d\ude00", "\u{fffd}\u{1f600}"),
            (r"\ud800\ud83d\ude00", "\u{fffd}\u{1f600}"),
            (r"\\ud800", "\\ud800"),
            (r"a\nb\", "a\nb"),
            (r"a\nb\u00", "a\nb"),
            (r"a\nb\ud800\u1", "a\nb\u{fffd}"),
        ] {
            assert_eq!(unescape(raw), wanted, "{raw}");
        }
    }

    #[test]
    fn g1_what_of_an_input_is_not_kept_is_said() {
        let dropped = |text: &str| salvage(text.as_bytes(), INPUT).unwrap().dropped;
        assert!(dropped(r#"{"cwd":"/","tool_input":{"paths":["/home"]}"#));
        assert!(dropped(r#"{"cwd":"/","tool_input":{"a":{"b":1}}"#));
        assert!(!dropped(r#"{"other":{"paths":["/home"]},"tool_input":{"command":"ls"}"#));
    }

    #[test]
    fn noise_gives_nothing() {
        assert!(salvage(b"\xff\xfe\x00 hello {[}", INPUT).is_none());
        assert!(salvage(b"", INPUT).is_none());
    }
}
