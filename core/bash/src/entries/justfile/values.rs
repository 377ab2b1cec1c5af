//! Just's expressions, as the text a shell would get.

use super::super::quoted::double_quoted;
use super::super::{DEPTH, GROWTH, unknown};
use super::JustCall;

/// What variables and parameters hold by now: the last of a name counts.
#[derive(Debug, Default)]
pub(super) struct Values {
    held: Vec<(String, String)>,
    overrides: Vec<(String, String)>,
    folder: Option<String>,
    grown: usize,
    depth: usize,
    /// Shell text that ran on the way.
    pub(super) ran: Vec<String>,
}

impl Values {
    pub(super) fn new(call: &JustCall) -> Self {
        Self { overrides: call.overrides.clone(), folder: call.folder.clone(), ..Self::default() }
    }

    pub(super) fn len(&self) -> usize {
        self.held.len()
    }

    pub(super) fn truncate(&mut self, length: usize) {
        self.held.truncate(length);
    }

    pub(super) fn set(&mut self, name: &str, value: String) {
        let given = self.overrides.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        self.held.push((name.to_string(), given.unwrap_or(value)));
    }

    /// A line of a recipe with `{{…}}` put in.
    pub(super) fn filled(&mut self, line: &str) -> String {
        let mut out = String::with_capacity(line.len());
        let mut rest = line;
        while let Some((before, after)) = rest.split_once("{{") {
            out.push_str(before);
            if let Some(behind) = after.strip_prefix("{{") {
                out.push_str("{{");
                rest = behind;
                continue;
            }
            let Some((inside, behind)) = after.split_once("}}") else {
                out.push_str(&unknown("just"));
                return out;
            };
            out.push_str(&self.evaluate(inside));
            rest = behind;
        }
        out.push_str(rest);
        out
    }

    /// The value of an expression. What is not known stays a variable that is not empty.
    pub(super) fn evaluate(&mut self, text: &str) -> String {
        if self.depth >= DEPTH || self.grown > GROWTH {
            return unknown("just");
        }
        self.depth += 1;
        let mut out = String::new();
        let mut rest = text.trim();
        while let Some(first) = rest.chars().next() {
            rest = match first {
                ' ' | '\t' | '+' | ')' => rest.get(1..).unwrap_or_default(),
                '/' => {
                    out.push('/');
                    rest.get(1..).unwrap_or_default()
                }
                '\'' | '"' | '`' => self.literal(rest, first, &mut out),
                '#' => "",
                '(' => {
                    let (inside, behind) = bracketed(rest);
                    let value = self.evaluate(inside);
                    out.push_str(&value);
                    behind
                }
                _ if named(first) => self.named(rest, &mut out),
                _ => {
                    out = unknown("just");
                    ""
                }
            };
        }
        self.depth -= 1;
        self.grown = self.grown.saturating_add(out.len() + 8);
        out
    }

    /// A text in quotes, or what a command in backquotes prints.
    fn literal<'t>(&mut self, text: &'t str, quote: char, out: &mut String) -> &'t str {
        let mark = quote.to_string().repeat(if text.starts_with(&quote.to_string().repeat(3)) { 3 } else { 1 });
        let inside = text.get(mark.len()..).unwrap_or_default();
        let (value, behind) = match quote {
            '"' if mark.len() == 1 => double_quoted(inside),
            _ => inside.split_once(mark.as_str()).map_or((inside.to_string(), ""), |(v, b)| (v.to_string(), b)),
        };
        if quote == '`' {
            self.ran.push(value.clone());
            out.push_str(&format!("$({value})"));
        } else {
            out.push_str(&value);
        }
        behind
    }

    fn named<'t>(&mut self, text: &'t str, out: &mut String) -> &'t str {
        let end = text.find(|letter| !named(letter)).unwrap_or(text.len());
        let (name, behind) = text.split_at(end);
        if name == "if" {
            *out = unknown("just");
            return "";
        }
        // `x'…'`: a text in which the shell's variables stand.
        if name == "x" && behind.starts_with(['\'', '"']) {
            return behind;
        }
        if behind.starts_with('(') {
            let (inside, behind) = bracketed(behind);
            let value = self.function(name, inside);
            out.push_str(&value);
            return behind;
        }
        match self.held.iter().rev().find(|(known, _)| known == name) {
            Some((_, value)) => out.push_str(value),
            None => out.push_str(&unknown(name)),
        }
        behind
    }

    fn function(&mut self, name: &str, args: &str) -> String {
        let parts: Vec<String> = arguments(args).into_iter().map(|part| self.evaluate(part)).collect();
        match (name, parts.as_slice()) {
            ("env_var" | "env", [name]) => format!("${{{name}}}"),
            ("env_var_or_default" | "env", [name, default]) => format!("${{{name}:-{default}}}"),
            ("justfile_directory" | "source_directory" | "invocation_directory", _) => {
                self.folder.clone().unwrap_or_else(|| unknown(name))
            }
            ("home_directory", _) => "${HOME}".to_string(),
            ("quote" | "trim" | "absolute_path" | "canonicalize" | "clean", [value, ..]) => value.clone(),
            ("join", parts) => parts.join("/"),
            ("shell", [command, ..]) => {
                self.ran.push(command.clone());
                format!("$({command})")
            }
            _ => unknown(name),
        }
    }
}

fn named(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-')
}

/// What stands in the brackets that a text begins with, and what comes behind them.
fn bracketed(text: &str) -> (&str, &str) {
    let mut depth = 0usize;
    let mut quote = None;
    for (index, letter) in text.char_indices() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"' | '`') => quote = Some(letter),
            (None, '(') => depth += 1,
            (None, ')') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return (text.get(1..index).unwrap_or_default(), text.get(index + 1..).unwrap_or_default());
                }
            }
            _ => {}
        }
    }
    (text.get(1..).unwrap_or_default(), "")
}

/// Arguments of a call: split at commas outside quotes and brackets.
fn arguments(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut quote, mut start) = (0usize, None, 0);
    for (index, letter) in text.char_indices() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"' | '`') => quote = Some(letter),
            (None, '(') => depth += 1,
            (None, ')') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                parts.push(text.get(start..index).unwrap_or_default());
                start = index + 1;
            }
            _ => {}
        }
    }
    let last = text.get(start..).unwrap_or_default();
    if !last.trim().is_empty() {
        parts.push(last);
    }
    parts
}
