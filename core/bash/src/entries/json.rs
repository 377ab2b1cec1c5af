//! JSON files that list commands: the texts by their names, with the lines they stand on.

use serde_json::Value;

/// A JSON text, comments and all.
pub(super) fn parse(text: &str) -> Option<Value> {
    let text = text.trim_start_matches('\u{feff}');
    serde_json::from_str(text).or_else(|_| serde_json::from_str(&without_comments(text))).ok()
}

/// The line of the value under `section` → `key`, from one.
pub(super) fn line_of(text: &str, section: &str, key: &str) -> usize {
    let named = |from: usize, name: &str| {
        let wanted = Value::from(name).to_string();
        let tail = text.get(from..)?;
        let found = tail.match_indices(&wanted).find(|(at, _)| {
            let behind = tail.get(at + wanted.len()..).unwrap_or_default();
            behind.trim_start().starts_with(':')
        });
        found.map(|(at, _)| from + at)
    };
    let at = named(0, section).and_then(|start| named(start, key)).unwrap_or_default();
    text.get(..at).unwrap_or_default().matches('\n').count() + 1
}

/// `//`, `/* */` and commas before a closing bracket, as JSONC has them, taken out.
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
