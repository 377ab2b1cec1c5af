//! JSON, with the comments and commas that some tools take besides.

use serde_json::Value;

use super::tree::{TreeNode, TreeValue};

/// A JSON text, each value with its line.
pub(super) fn json(text: &str) -> Option<TreeNode> {
    let text = text.trim_start_matches('\u{feff}');
    let value: Value = serde_json::from_str(text).or_else(|_| serde_json::from_str(&without_comments(text))).ok()?;
    Some(Lines { text, at: 0, line: 1, missed: 0 }.node(&value))
}

/// Finds the lines again that the parser does not tell: keys come in the order in which they are written.
struct Lines<'t> {
    text: &'t str,
    at: usize,
    line: usize,
    missed: usize,
}

/// So many texts may be written otherwise than expected before no more are looked for.
const MISSED: usize = 16;

impl Lines<'_> {
    fn node(&mut self, value: &Value) -> TreeNode {
        let line = self.line;
        let value = match value {
            Value::String(text) => {
                self.advance(value);
                TreeValue::Text(text.clone())
            }
            Value::Array(items) => TreeValue::List(items.iter().map(|item| self.node(item)).collect()),
            Value::Object(entries) => TreeValue::Map(
                entries
                    .iter()
                    .map(|(key, value)| {
                        self.advance(&Value::from(key.as_str()));
                        (key.clone(), self.node(value))
                    })
                    .collect(),
            ),
            Value::Null => TreeValue::Nothing,
            other => TreeValue::Plain(other.to_string()),
        };
        let line = if matches!(value, TreeValue::Text(_)) { self.line } else { line };
        TreeNode::new(line, value)
    }

    /// Goes behind the next text that is written so.
    fn advance(&mut self, text: &Value) {
        let Some(rest) = self.text.get(self.at..) else { return };
        let written = text.to_string();
        match rest.find(&written) {
            Some(found) => {
                self.line += rest.get(..found).unwrap_or_default().matches('\n').count();
                self.at += found + written.len();
            }
            None if self.missed < MISSED => self.missed += 1,
            None => self.at = self.text.len(),
        }
    }
}

/// `//`, `/* */` and commas before a closing bracket taken out.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    let mut inside = false;
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if inside => {
                out.push(letter);
                out.extend(letters.next());
            }
            '"' => {
                inside = !inside;
                out.push(letter);
            }
            '/' if !inside && letters.peek() == Some(&'/') => {
                letters.by_ref().take_while(|letter| *letter != '\n').for_each(drop);
                out.push('\n');
            }
            '/' if !inside && letters.peek() == Some(&'*') => {
                let mut star = false;
                for letter in letters.by_ref().skip(1) {
                    if star && letter == '/' {
                        break;
                    }
                    star = letter == '*';
                }
            }
            '}' | ']' if !inside => {
                let kept = out.trim_end();
                if let Some(kept) = kept.strip_suffix(',') {
                    out.truncate(kept.len());
                }
                out.push(letter);
            }
            _ => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_know_their_lines_and_comments_are_skipped() {
        let tree =
            json("{\n  // a: \"x\"\n  \"name\": \"x\",\n  \"scripts\": {\n    \"x\": \"rm\",\n  },\n}\n").unwrap();
        let script = tree.at(&["scripts", "x"]).unwrap();
        assert_eq!((script.line, script.text()), (5, Some("rm")));
        assert!(json("{").is_none());
        assert!(json(&"[".repeat(10_000)).is_none());
    }
}
