//! As much of YAML as lists of commands are written in: maps and lists by their indentation, plain and quoted texts,
//! block texts, lists and maps in brackets. Anchors, tags and the rest of it are read as text or not at all.

use super::quoted::double_quoted;
use super::tree::{TreeNode, TreeValue};

/// How deep values may stand in each other.
const DEPTH: usize = 24;

/// A YAML text; what is not understood is left out.
pub(super) fn yaml(text: &str) -> TreeNode {
    let lines = text.lines().enumerate().map(|(index, line)| Line {
        number: index + 1,
        indent: line.len() - line.trim_start_matches(' ').len(),
        text: line.trim_start_matches(' '),
        whole: line,
    });
    let mut reader = Reader { lines: lines.collect(), at: 0 };
    reader.block(0, 0)
}

#[derive(Debug, Clone, Copy)]
struct Line<'t> {
    number: usize,
    indent: usize,
    text: &'t str,
    whole: &'t str,
}

struct Reader<'t> {
    lines: Vec<Line<'t>>,
    at: usize,
}

impl<'t> Reader<'t> {
    /// The next line that says something.
    fn peek(&mut self) -> Option<Line<'t>> {
        while let Some(line) = self.lines.get(self.at) {
            let text = line.text.trim_end();
            if !text.is_empty() && !text.starts_with('#') && text != "---" {
                return Some(*line);
            }
            self.at += 1;
        }
        None
    }

    /// What stands at least that far to the right.
    fn block(&mut self, indent: usize, depth: usize) -> TreeNode {
        let Some(first) = self.peek().filter(|line| line.indent >= indent && depth < DEPTH) else {
            return TreeNode::default();
        };
        if is_item(first.text) { self.list(first.indent, depth) } else { self.map(first.indent, depth) }
    }

    fn list(&mut self, indent: usize, depth: usize) -> TreeNode {
        let mut items = Vec::new();
        let number = self.peek().map_or(0, |line| line.number);
        while let Some(line) = self.peek().filter(|line| line.indent == indent && is_item(line.text)) {
            let inner = line.text.get(1..).unwrap_or_default();
            let text = inner.trim_start();
            let offset = indent + 1 + (inner.len() - text.len());
            if key(text).is_some() && !text.starts_with(['{', '[', '"', '\'']) {
                // `- key: value`: a map whose first line begins behind the dash.
                if let Some(slot) = self.lines.get_mut(self.at) {
                    *slot = Line { indent: offset, text, ..line };
                }
                items.push(self.map(offset, depth + 1));
            } else {
                self.at += 1;
                items.push(self.value(text, line.number, indent, depth + 1));
            }
        }
        TreeNode::new(number, TreeValue::List(items))
    }

    fn map(&mut self, indent: usize, depth: usize) -> TreeNode {
        let mut entries = Vec::new();
        let number = self.peek().map_or(0, |line| line.number);
        while let Some(line) = self.peek().filter(|line| line.indent == indent) {
            let Some((name, rest)) = key(line.text).filter(|_| depth < DEPTH) else {
                self.at += 1;
                continue;
            };
            self.at += 1;
            let node = self.value(rest.trim_start(), line.number, indent, depth + 1);
            entries.push((name, node));
        }
        // What stands further to the right than anything it could belong to.
        while self.peek().is_some_and(|line| line.indent > indent) {
            self.at += 1;
        }
        TreeNode::new(number, TreeValue::Map(entries))
    }

    /// What stands behind a key or a dash, and below it.
    fn value(&mut self, text: &str, number: usize, indent: usize, depth: usize) -> TreeNode {
        let text = text.trim_end();
        match text.chars().next() {
            None | Some('#') => {
                // A list may stand as far left as the key it belongs to.
                let below =
                    self.peek().filter(|line| line.indent > indent || (line.indent == indent && is_item(line.text)));
                match below {
                    Some(line) if line.indent > indent || depth > 0 => {
                        let node = if is_item(line.text) {
                            self.list(line.indent, depth)
                        } else {
                            self.block(line.indent, depth)
                        };
                        TreeNode { line: number, ..node }
                    }
                    _ => TreeNode::new(number, TreeValue::Nothing),
                }
            }
            Some('|' | '>') => self.block_text(indent, text.starts_with('>')),
            Some('[' | '{') => {
                let whole = self.bracketed(text);
                flow(&mut Flow { rest: whole.trim(), line: number }, depth)
            }
            Some('&' | '!') => {
                let rest = text.split_once(' ').map_or("", |(_, rest)| rest.trim_start());
                if rest.starts_with(['&', '!']) || depth >= DEPTH {
                    return TreeNode::new(number, TreeValue::Nothing);
                }
                self.value(rest, number, indent, depth + 1)
            }
            Some(_) => {
                let mut whole = scalar(text);
                // A plain text may go on below, further to the right.
                if !text.starts_with(['"', '\'']) {
                    while let Some(more) = self.peek().filter(|line| line.indent > indent) {
                        whole.push(' ');
                        whole.push_str(&scalar(more.text));
                        self.at += 1;
                    }
                }
                TreeNode::new(number, TreeValue::Text(whole))
            }
        }
    }

    /// A text in brackets, to the line on which they are closed.
    fn bracketed(&mut self, first: &str) -> String {
        let mut whole = first.to_string();
        let mut open = balance(first);
        while open > 0
            && let Some(line) = self.lines.get(self.at)
        {
            whole.push(' ');
            whole.push_str(line.text);
            open += balance(line.text);
            self.at += 1;
        }
        whole
    }

    /// `|` and `>`: the lines that stand further to the right, as they are.
    fn block_text(&mut self, indent: usize, folded: bool) -> TreeNode {
        let mut out: Vec<&str> = Vec::new();
        let number = self.lines.get(self.at).map_or(0, |line| line.number);
        let own = self.lines.get(self.at..).unwrap_or_default().iter().find(|line| !line.text.trim().is_empty());
        let own = own.map_or(0, |line| line.indent);
        if own <= indent {
            return TreeNode::new(number, TreeValue::Text(String::new()));
        }
        while let Some(line) = self.lines.get(self.at).filter(|line| line.indent >= own || line.text.trim().is_empty())
        {
            out.push(line.whole.get(own..).unwrap_or_default());
            self.at += 1;
        }
        let text = out.join(if folded { " " } else { "\n" });
        TreeNode::new(number, TreeValue::Text(text.trim_end().to_string()))
    }
}

fn is_item(text: &str) -> bool {
    text == "-" || text.starts_with("- ")
}

/// `key: rest`, the key without its quotes.
fn key(text: &str) -> Option<(String, &str)> {
    if let Some(quote) = text.chars().next().filter(|letter| matches!(letter, '"' | '\'')) {
        let (name, rest) = text.get(1..)?.split_once(quote)?;
        let rest = rest.trim_start().strip_prefix(':')?;
        return Some((name.to_string(), rest));
    }
    let mut from = 0;
    loop {
        let colon = from + text.get(from..)?.find(':')?;
        let rest = text.get(colon + 1..)?;
        if rest.is_empty() || rest.starts_with([' ', '\t']) {
            let name = text.get(..colon)?.trim_end();
            return (!name.contains(" #")).then(|| (name.to_string(), rest));
        }
        from = colon + 1;
    }
}

/// A text without its quotes or the comment behind it.
fn scalar(text: &str) -> String {
    let text = text.trim();
    if let Some(rest) = text.strip_prefix('"') {
        return double_quoted(rest).0;
    }
    if let Some(rest) = text.strip_prefix('\'') {
        return single_quoted(rest).0;
    }
    text.split(" #").next().unwrap_or(text).trim_end().to_string()
}

fn single_quoted(text: &str) -> (String, &str) {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\'') {
        out.push_str(before);
        rest = after;
        match after.strip_prefix('\'') {
            Some(more) => {
                out.push('\'');
                rest = more;
            }
            None => return (out, rest),
        }
    }
    out.push_str(rest);
    (out, "")
}

/// Brackets opened less brackets closed.
fn balance(text: &str) -> i64 {
    let count = |letters: [char; 2]| text.matches(letters).count() as i64;
    count(['[', '{']) - count([']', '}'])
}

struct Flow<'t> {
    rest: &'t str,
    line: usize,
}

impl Flow<'_> {
    fn skip(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn take(&mut self, letter: char) -> bool {
        self.skip();
        match self.rest.strip_prefix(letter) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn word(&mut self, ends: &[char]) -> String {
        self.skip();
        let (text, rest) = if let Some(rest) = self.rest.strip_prefix('"') {
            double_quoted(rest)
        } else if let Some(rest) = self.rest.strip_prefix('\'') {
            single_quoted(rest)
        } else {
            let end = self.rest.find(ends).unwrap_or(self.rest.len());
            let (word, rest) = self.rest.split_at(end);
            (word.trim_end().to_string(), rest)
        };
        self.rest = rest;
        text
    }
}

fn flow(from: &mut Flow<'_>, depth: usize) -> TreeNode {
    let line = from.line;
    if depth >= DEPTH {
        from.rest = "";
        return TreeNode::new(line, TreeValue::Nothing);
    }
    if from.take('[') {
        let mut items = Vec::new();
        while !from.take(']') && !from.rest.is_empty() {
            items.push(flow(from, depth + 1));
            if !from.take(',') && !from.rest.starts_with(']') {
                break;
            }
        }
        return TreeNode::new(line, TreeValue::List(items));
    }
    if from.take('{') {
        let mut entries = Vec::new();
        while !from.take('}') && !from.rest.is_empty() {
            let name = from.word(&[':', ',', '}']);
            let value = if from.take(':') { flow(from, depth + 1) } else { TreeNode::default() };
            entries.push((name, value));
            if !from.take(',') && !from.rest.starts_with('}') {
                break;
            }
        }
        return TreeNode::new(line, TreeValue::Map(entries));
    }
    TreeNode::new(line, TreeValue::Text(from.word(&[',', ']', '}'])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_lists_and_texts_are_found_with_their_lines() {
        let text = "version: '3'\ntasks:\n  a:\n    desc: \"x: y\" # no\n    cmds:\n      - rm -rf x # no\n      - cmd: ls\n        \
                    silent: true\n      - |\n        one\n          two\n    deps: [b, {task: c}]\n  b: echo 'a'\n";
        let tree = yaml(text);
        let task = tree.at(&["tasks", "a"]).unwrap();
        let commands = task.get("cmds").unwrap().items();
        assert_eq!((commands[0].line, commands[0].text()), (6, Some("rm -rf x")));
        assert_eq!(commands[1].get("cmd").map(|node| (node.line, node.text())), Some((7, Some("ls"))));
        assert_eq!((commands[2].line, commands[2].text()), (10, Some("one\n  two")));
        assert_eq!(task.get("desc").and_then(TreeNode::text), Some("x: y"));
        assert_eq!(task.get("deps").unwrap().items()[1].get("task").and_then(TreeNode::text), Some("c"));
        assert_eq!(tree.at(&["tasks", "b"]).and_then(TreeNode::text), Some("echo 'a'"));
    }

    #[test]
    fn a_list_may_stand_below_its_key() {
        let tree = yaml("a:\n- x\n- y: 1\n  z: 2\nb: q\n");
        assert_eq!(tree.get("a").unwrap().items().len(), 2);
        assert_eq!(tree.get("b").and_then(TreeNode::text), Some("q"));
    }

    #[test]
    fn hostile_texts_end() {
        for text in ["- ".repeat(5000), "[".repeat(5000), "a: {".repeat(3000), "a:\n ".repeat(2000), "&a ".repeat(3000)]
        {
            yaml(&text);
        }
        yaml(&(0..200).map(|n| format!("{}a:\n", " ".repeat(n))).collect::<String>());
    }
}
