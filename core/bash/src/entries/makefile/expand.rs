//! Make's variables and functions, as the text a shell would get.

use std::collections::HashMap;

use super::super::{DEPTH, GROWTH, unknown};
use super::Make;

/// What make knows by itself.
const BUILT_IN: &[(&str, &str)] = &[
    ("RM", "rm -f"),
    ("MAKE", "make"),
    ("MAKE_COMMAND", "make"),
    ("SHELL", "/bin/sh"),
    ("CC", "cc"),
    ("CXX", "c++"),
    ("CPP", "cc -E"),
    ("AR", "ar"),
    ("AS", "as"),
    ("LD", "ld"),
    ("LEX", "lex"),
    ("YACC", "yacc"),
    ("MAKEFILE_LIST", "Makefile"),
    ("MAKEFLAGS", ""),
    ("MFLAGS", ""),
    ("MAKECMDGOALS", ""),
    ("CFLAGS", ""),
    ("CXXFLAGS", ""),
    ("CPPFLAGS", ""),
    ("LDFLAGS", ""),
    ("LDLIBS", ""),
    ("ARFLAGS", "rv"),
];

/// Functions that give their argument, or near enough.
const SAME: &[&str] = &["strip", "sort", "wildcard", "abspath", "realpath", "value"];

#[derive(Debug, Clone)]
struct Variable {
    text: String,
    /// Expanded already (`:=`), not at each use.
    simple: bool,
    /// Whether the value is certain.
    sure: bool,
    /// Set on the line: the file does not change it.
    fixed: bool,
}

#[derive(Debug, Default)]
pub(super) struct Variables {
    table: HashMap<String, Variable>,
    /// Variables that hold for one target, one call or one step of a loop: the last counts.
    locals: Vec<(String, String)>,
    environment: HashMap<String, String>,
    /// Bytes that were made so far.
    grown: usize,
    depth: usize,
    /// Shell text that ran on the way.
    pub(super) ran: Vec<String>,
    /// A file that could not be read may have set anything.
    pub(super) unread: bool,
}

/// How a value is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Recursive,
    Simple,
    Default,
    Append,
    Shell,
}

impl Variables {
    pub(super) fn new(asked: &Make) -> Self {
        let mut table = HashMap::new();
        let given = |text: &str, fixed| Variable { text: text.to_string(), simple: true, sure: true, fixed };
        for (name, text) in BUILT_IN {
            table.insert(name.to_string(), given(text, false));
        }
        if let Some(folder) = &asked.folder {
            table.insert("CURDIR".to_string(), given(folder, false));
            table.insert("PWD".to_string(), given(folder, false));
        }
        for (name, text) in &asked.overrides {
            table.insert(name.clone(), given(text, true));
        }
        Self { table, environment: asked.environment.iter().cloned().collect(), ..Self::default() }
    }

    /// The value of a variable when the file or the line has given it one, not expanded.
    pub(super) fn given(&self, name: &str) -> Option<&str> {
        self.table.get(name).map(|variable| variable.text.as_str())
    }

    /// Takes an assignment of the file. One of several branches leaves only that there is a value.
    pub(super) fn assign(&mut self, name: &str, operator: Operator, text: &str, branch: bool) {
        let before = self.table.get(name).cloned();
        if before.as_ref().is_some_and(|variable| variable.fixed) {
            return;
        }
        let known = before.is_some() && !BUILT_IN.iter().any(|(own, _)| *own == name);
        let value = match operator {
            Operator::Default if known => return,
            Operator::Default if self.environment.contains_key(name) => {
                let text = self.environment.get(name).cloned().unwrap_or_default();
                Variable { text, simple: true, sure: true, fixed: false }
            }
            Operator::Append => match before {
                Some(before) => {
                    let more = if before.simple { self.expand(text) } else { text.to_string() };
                    let space = if before.text.is_empty() { "" } else { " " };
                    self.grown = self.grown.saturating_add(more.len());
                    let text = if self.grown > GROWTH { before.text } else { before.text + space + &more };
                    Variable { text, ..before }
                }
                None => Variable { text: text.to_string(), simple: false, sure: true, fixed: false },
            },
            Operator::Simple => Variable { text: self.expand(text), simple: true, sure: true, fixed: false },
            Operator::Shell => {
                let shell = self.expand(text);
                self.ran.push(shell.clone());
                Variable { text: format!("$({shell})"), simple: true, sure: true, fixed: false }
            }
            Operator::Recursive | Operator::Default => {
                Variable { text: text.to_string(), simple: false, sure: true, fixed: false }
            }
        };
        let other = known && self.table.get(name).is_some_and(|before| before.text != value.text);
        let sure = !(branch && other);
        self.table.insert(name.to_string(), Variable { sure, ..value });
    }

    /// `text` with locals that hold for it only.
    pub(super) fn expand_with(&mut self, text: &str, locals: Vec<(String, String)>) -> String {
        let kept = self.locals.len();
        self.locals.extend(locals);
        let out = self.expand(text);
        self.locals.truncate(kept);
        out
    }

    /// The text with everything put in that is known. What has a value that is not known is left to the shell as a
    /// variable that is not empty.
    pub(super) fn expand(&mut self, text: &str) -> String {
        if self.depth >= DEPTH || self.grown > GROWTH {
            return unknown("make");
        }
        self.depth += 1;
        // Also what leaves no text behind has been gone through.
        self.grown = self.grown.saturating_add(8 + text.len() / 4);
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('$') {
            out.push_str(before);
            rest = self.reference(after, &mut out);
        }
        out.push_str(rest);
        self.depth -= 1;
        self.grown = self.grown.saturating_add(out.len());
        out
    }

    /// What stands after a `$`; gives back what comes behind it.
    fn reference<'t>(&mut self, after: &'t str, out: &mut String) -> &'t str {
        let mut letters = after.chars();
        match letters.next() {
            Some('$') => out.push('$'),
            Some(open @ ('(' | '{')) => {
                let inside = letters.as_str();
                let Some(length) = closing(inside, open) else {
                    out.push_str(&unknown("make"));
                    return "";
                };
                let body = inside.get(..length).unwrap_or_default();
                let value = self.body(body);
                out.push_str(&value);
                return inside.get(length + 1..).unwrap_or_default();
            }
            Some(letter) => {
                let value = self.variable(&letter.to_string());
                out.push_str(&value);
            }
            None => {}
        }
        letters.as_str()
    }

    /// `$(body)`: a function, a substitution reference or a variable.
    fn body(&mut self, body: &str) -> String {
        if let Some((function, args)) = body.split_once([' ', '\t']) {
            return self.function(function, args.trim_start());
        }
        let name = if body.contains('$') { self.expand(body) } else { body.to_string() };
        if let Some((name, change)) = name.split_once(':')
            && let Some((from, to)) = change.split_once('=')
        {
            let value = self.variable(name);
            let whole = |part: &str| if part.contains('%') { part.to_string() } else { format!("%{part}") };
            return words_with(&value, |word| substituted(word, &whole(from), &whole(to)));
        }
        self.variable(&name)
    }

    fn variable(&mut self, name: &str) -> String {
        if let Some((_, value)) = self.locals.iter().rev().find(|(local, _)| local == name) {
            return value.clone();
        }
        match self.table.get(name).cloned() {
            Some(Variable { sure: false, .. }) => unknown(name),
            Some(Variable { text, simple: true, .. }) => {
                self.grown = self.grown.saturating_add(text.len());
                text
            }
            Some(Variable { text, .. }) => self.expand(&text),
            None if self.unread => unknown(name),
            None if name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric()) && !name.is_empty() => {
                format!("${{{name}}}")
            }
            None => unknown(name),
        }
    }

    fn function(&mut self, name: &str, args: &str) -> String {
        let parts = arguments(args);
        let part = |index: usize| parts.get(index).copied().unwrap_or_default();
        match name {
            "shell" => {
                let shell = self.expand(args);
                self.ran.push(shell.clone());
                format!("$({shell})")
            }
            "info" | "warning" | "error" | "eval" => {
                self.expand(args);
                String::new()
            }
            "addprefix" => {
                let (prefix, words) = (self.expand(part(0)), self.expand(part(1)));
                words_with(&words, |word| format!("{prefix}{word}"))
            }
            "addsuffix" => {
                let (suffix, words) = (self.expand(part(0)), self.expand(part(1)));
                words_with(&words, |word| format!("{word}{suffix}"))
            }
            "patsubst" => {
                let (from, to, words) = (self.expand(part(0)), self.expand(part(1)), self.expand(part(2)));
                words_with(&words, |word| substituted(word, &from, &to))
            }
            "subst" => {
                let (from, to, text) = (self.expand(part(0)), self.expand(part(1)), self.expand(part(2)));
                if from.is_empty() || to.len() > from.len() + 64 { text } else { text.replace(&from, &to) }
            }
            "firstword" => words(&self.expand(args)).next().unwrap_or_default().to_string(),
            "lastword" => words(&self.expand(args)).last().unwrap_or_default().to_string(),
            "dir" => words_with(&self.expand(args), |word| match word.rsplit_once('/') {
                Some((folder, _)) => format!("{folder}/"),
                None => "./".to_string(),
            }),
            "notdir" => words_with(&self.expand(args), |word| word.rsplit('/').next().unwrap_or(word).to_string()),
            "if" => {
                let condition = self.expand(part(0));
                self.expand(part(if condition.trim().is_empty() { 2 } else { 1 }))
            }
            "or" => parts.iter().map(|part| self.expand(part)).find(|text| !text.trim().is_empty()).unwrap_or_default(),
            "call" => self.call(&parts),
            "foreach" => self.foreach(&parts),
            _ if SAME.contains(&name) => self.expand(args),
            _ => {
                // What it is given may run something all the same.
                self.expand(args);
                unknown(&format!("make_{name}"))
            }
        }
    }

    fn call(&mut self, parts: &[&str]) -> String {
        let Some((name, given)) = parts.split_first() else { return String::new() };
        let name = self.expand(name);
        let Some(text) = self.given(name.trim()).map(str::to_string) else { return unknown("make_call") };
        let locals = given.iter().take(16).enumerate();
        let locals = locals.map(|(index, part)| ((index + 1).to_string(), self.expand(part))).collect();
        self.expand_with(&text, locals)
    }

    fn foreach(&mut self, parts: &[&str]) -> String {
        let [name, list, body, ..] = parts else { return String::new() };
        let (name, list) = (self.expand(name).trim().to_string(), self.expand(list));
        let mut out = Vec::new();
        for word in words(&list).take(64) {
            out.push(self.expand_with(body, vec![(name.clone(), word.to_string())]));
        }
        out.join(" ")
    }
}

/// Where the bracket that stands open before `text` is closed.
fn closing(text: &str, open: char) -> Option<usize> {
    let (open, close) = if open == '(' { (b'(', b')') } else { (b'{', b'}') };
    let mut depth = 0usize;
    for (index, byte) in text.bytes().enumerate() {
        if byte == open {
            depth += 1;
        } else if byte == close {
            match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return Some(index),
            }
        }
    }
    None
}

/// The arguments of a function: split at commas outside brackets.
fn arguments(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0usize, 0);
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'(' | b'{' => depth += 1,
            b')' | b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                parts.push(text.get(start..index).unwrap_or_default());
                start = index + 1;
            }
            _ => {}
        }
    }
    parts.push(text.get(start..).unwrap_or_default());
    parts
}

/// The words of a text. A substitution of the shell is one, whatever stands in it.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0usize;
    let mut dollar = false;
    let parts = text.split(move |letter: char| {
        match letter {
            '(' | '{' if dollar || depth > 0 => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        dollar = letter == '$';
        depth == 0 && letter.is_whitespace()
    });
    parts.filter(|word| !word.is_empty())
}

fn words_with(text: &str, change: impl Fn(&str) -> String) -> String {
    words(text).take(4096).map(change).collect::<Vec<_>>().join(" ")
}

/// One word by `patsubst`: `%` stands for anything.
fn substituted(word: &str, from: &str, to: &str) -> String {
    match stem(word, from) {
        Some(stem) => to.replacen('%', stem, 1),
        None => word.to_string(),
    }
}

/// What `%` of a pattern stands for in a word that it fits.
pub(super) fn stem<'w>(word: &'w str, pattern: &str) -> Option<&'w str> {
    match pattern.split_once('%') {
        Some((before, after)) => word.strip_prefix(before)?.strip_suffix(after),
        None => (word == pattern).then_some(""),
    }
}
