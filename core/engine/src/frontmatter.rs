//! The head of a Markdown file, of a skill, role or mode, read far enough: maps, lists, plain and quoted words. What is
//! not understood is left out, never guessed.

use serde_json::{Map, Value};

/// Deeper than this no frontmatter goes.
const DEEPEST: usize = 6;

/// What the head says, `Null` where there is none, and what stands below it. Only a file that begins with `---` has a
/// head, and only if it ends.
pub fn part(text: &str) -> (Value, &str) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    let mut at = match lines.next() {
        Some(first) if first.trim_end() == "---" => first.len(),
        _ => return (Value::Null, text.trim()),
    };
    let mut head = Vec::new();
    for line in lines {
        at += line.len();
        if matches!(line.trim_end(), "---" | "...") {
            let read = block(&mut Lines { lines: &head, at: 0 }, 0, DEEPEST);
            return (read, text.get(at..).unwrap_or_default().trim());
        }
        head.push(line.trim_end());
    }
    (Value::Null, text.trim())
}

/// The words of a list, or the one that stands in its place.
pub fn words(value: Option<&Value>) -> Vec<&str> {
    match value {
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(one)) => vec![one],
        _ => Vec::new(),
    }
}

struct Lines<'a> {
    lines: &'a [&'a str],
    at: usize,
}

impl<'a> Lines<'a> {
    /// The next line that says something: its indentation and its text.
    fn peek(&mut self) -> Option<(usize, &'a str)> {
        loop {
            let line = self.lines.get(self.at)?;
            let text = line.trim();
            if !text.is_empty() && !text.starts_with('#') {
                return Some((line.len() - line.trim_start().len(), text));
            }
            self.at += 1;
        }
    }
}

fn block(lines: &mut Lines<'_>, indent: usize, deepest: usize) -> Value {
    match lines.peek() {
        Some((at, text)) if at >= indent && deepest > 0 => {
            if text.starts_with("- ") || text == "-" {
                list(lines, at, deepest)
            } else {
                map(lines, at, deepest)
            }
        }
        _ => Value::Null,
    }
}

fn map(lines: &mut Lines<'_>, indent: usize, deepest: usize) -> Value {
    let mut map = Map::new();
    while let Some((at, text)) = lines.peek() {
        if at != indent {
            if at < indent {
                break;
            }
            lines.at += 1;
            continue;
        }
        let Some((key, rest)) = split(text) else {
            lines.at += 1;
            continue;
        };
        lines.at += 1;
        let value = if rest.is_empty() { below(lines, indent, deepest) } else { scalar(rest) };
        map.insert(key, value);
    }
    Value::Object(map)
}

/// A list may stand as far left as the key it belongs to.
fn below(lines: &mut Lines<'_>, indent: usize, deepest: usize) -> Value {
    match lines.peek() {
        Some((at, text)) if at > indent || (at == indent && text.starts_with("- ")) => {
            block(lines, at, deepest.saturating_sub(1))
        }
        _ => Value::Null,
    }
}

fn list(lines: &mut Lines<'_>, indent: usize, deepest: usize) -> Value {
    let mut items = Vec::new();
    while let Some((at, text)) = lines.peek() {
        if at != indent || !(text.starts_with("- ") || text == "-") {
            break;
        }
        lines.at += 1;
        items.push(match text.get(2..).unwrap_or_default().trim() {
            "" => below(lines, indent, deepest),
            rest if !rest.starts_with(['"', '\'', '[', '{']) && split(rest).is_some() => {
                item(lines, rest, indent, deepest)
            }
            rest => scalar(rest),
        });
    }
    Value::Array(items)
}

/// A map whose first pair stands behind the dash.
fn item(lines: &mut Lines<'_>, first: &str, indent: usize, deepest: usize) -> Value {
    let Some((key, rest)) = split(first) else { return Value::Null };
    let value = if rest.is_empty() { below(lines, indent + 2, deepest) } else { scalar(rest) };
    let mut pairs = Map::from_iter([(key, value)]);
    if lines.peek().is_some_and(|(at, text)| at == indent + 2 && !text.starts_with("- "))
        && let Value::Object(more) = map(lines, indent + 2, deepest.saturating_sub(1))
    {
        pairs.extend(more);
    }
    Value::Object(pairs)
}

/// `key: value`, the key perhaps quoted.
fn split(text: &str) -> Option<(String, &str)> {
    let (key, rest) = text.split_once(": ").or_else(|| text.strip_suffix(':').map(|key| (key, "")))?;
    Some((unquoted(key.trim()).to_string(), rest.trim()))
}

fn scalar(text: &str) -> Value {
    let text = uncommented(text);
    if let Some(inner) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
        return Value::Array(flow(inner).into_iter().map(scalar).collect());
    }
    if let Some(inner) = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')) {
        let pairs = flow(inner).into_iter().filter_map(split);
        return Value::Object(pairs.map(|(key, rest)| (key, scalar(rest))).collect());
    }
    let quoted = unquoted(text);
    if quoted.len() != text.len() {
        return Value::from(quoted);
    }
    match text {
        "true" | "yes" | "on" => Value::from(true),
        "false" | "no" | "off" => Value::from(false),
        "null" | "~" => Value::Null,
        _ => text
            .parse::<i64>()
            .map(Value::from)
            .or_else(|_| text.parse::<f64>().map(Value::from))
            .unwrap_or_else(|_| text.into()),
    }
}

/// Without a comment at the end, which begins outside quotes.
fn uncommented(text: &str) -> &str {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''));
    let from = quote.and_then(|quote| text.get(1..)?.find(quote)).map_or(0, |end| end + 1);
    let comment = text.get(from..).and_then(|rest| rest.find(" #")).map(|at| from + at);
    comment.and_then(|at| text.get(..at)).unwrap_or(text).trim_end()
}

fn unquoted(text: &str) -> &str {
    let inner = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    inner('"').or_else(|| inner('\'')).unwrap_or(text)
}

/// The items between commas that stand outside brackets and quotes.
fn flow(text: &str) -> Vec<&str> {
    let (mut items, mut from, mut depth, mut quote) = (Vec::new(), 0, 0_i32, None);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth -= 1,
            (None, ',') if depth == 0 => {
                items.extend(text.get(from..at));
                from = at + 1;
            }
            _ => {}
        }
    }
    items.extend(text.get(from..));
    items.into_iter().map(str::trim).filter(|item| !item.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn a_skill_says_what_it_needs_in_its_own_file() {
        let text = "---\nname: implement\ndescription: \"Build: it\"\ntaut:\n\
                    \x20 phases: [\"1: Plan\", '2: Build, test']\n  preload:\n    - docs/a.md # first\n    - docs/b.md\n\
                    \x20 log: true\n  heartbeat: {warn: 3, block: 10}\n  guards:\n  - ruleId: x\n    condition: {op: gte}\n\
                    ---\n# Body\n";
        let (read, _) = part(text);
        assert_eq!(read["description"], "Build: it");
        assert_eq!(
            read["taut"],
            json!({
                "phases": ["1: Plan", "2: Build, test"],
                "preload": ["docs/a.md", "docs/b.md"],
                "log": true,
                "heartbeat": {"warn": 3, "block": 10},
                "guards": [{"ruleId": "x", "condition": {"op": "gte"}}],
            })
        );
    }

    #[test]
    fn a_list_in_the_deepest_list_is_left_out() {
        let nested = (0..12).map(|depth| " ".repeat(4 * depth)).map(|margin| format!("{margin}- a: 1\n{margin}  b:\n"));
        let text = format!("---\ntop:\n{}---\nbody", nested.collect::<String>());
        let (head, body) = part(&text);
        assert!(head["top"].is_array() && body == "body", "{head}");
    }

    #[test]
    fn a_file_without_frontmatter_says_nothing_and_nonsense_never_hangs() {
        for text in ["", "# Title\n---\n", "---\nunended: 1\n", "---\n---\n"] {
            assert!(part(text).0.is_null(), "{text:?}");
        }
        for text in [
            "---\n- - - a\n   b\n : \n\t\n---\n", "---\na:\n    b:\n  c\n---\n", "---\n[[[\n---\n",
            "---\nx: [1, {a: 2}\n---\n",
        ] {
            part(text);
        }
    }

    #[test]
    fn s2_a_list_in_any_of_its_spellings_is_read() {
        let wanted = ["Desktop/identity.md", ".engine/SYSTEM-SPEC.md"];
        let spellings = [
            "---\nauto_include:\n  - Desktop/identity.md\n  - .engine/SYSTEM-SPEC.md\n---\n\n<session-role>\n",
            "---\nname: x\nauto_include:\n- \"Desktop/identity.md\" # who\n\n# more\n- '.engine/SYSTEM-SPEC.md'\nnext: 1\n- no\n---\n<session-role>",
            "---\r\nauto_include: [Desktop/identity.md, \".engine/SYSTEM-SPEC.md\"] # both\r\n---\r\n<session-role>",
            "\u{feff}---\nauto_include : [ Desktop/identity.md , .engine/SYSTEM-SPEC.md ]\n...\n<session-role>",
        ];
        for text in spellings {
            let (head, body) = part(text);
            assert_eq!(words(head.get("auto_include")), wanted, "{text}");
            assert_eq!(body, "<session-role>", "{text}");
        }
        let (head, _) = part("---\nauto_include: one.md\n---\n");
        assert_eq!(words(head.get("auto_include")), ["one.md"]);
    }

    #[test]
    fn s2_a_file_without_a_head_or_with_half_of_one_is_all_body() {
        for text in ["# Chief", "---\nauto_include:\n  - a.md\n", " ---\nauto_include: a\n---\n", "", "----\n---\n"] {
            assert_eq!(part(text), (Value::Null, text.trim()), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_taken_apart(text in "(---\n)?(auto_include:|- a|[ \\[\\]\"'#,:a\n-]|\\PC){0,80}") {
            part(&text);
        }
    }
}
