//! Reads a makefile line by line: assignments, rules and their recipes, included files.

use super::super::EntryPiece;
use super::expand::{Operator, stem, words};
use super::lines::{Line, Lines};
use super::{Makefile, RecipeLine, Rule};

/// How deep files may include each other.
const INCLUDES: usize = 4;
/// Files one line may include.
const FILES: usize = 16;

/// What a line that is not of a recipe says.
enum Said<'l> {
    Assignment(&'l str, Operator, &'l str),
    Rule(&'l str, &'l str),
    Other,
}

pub(super) fn read(file: &mut Makefile, text: &str, include: &mut dyn FnMut(&str) -> Option<String>, depth: usize) {
    let mut lines = Lines::new(text);
    let mut branches = 0usize;
    let mut open = false;
    while let Some(line) = lines.next() {
        if line.recipe && open {
            let recipe = RecipeLine { text: line.text, line: line.number };
            if let Some(rule) = file.rules.last_mut() {
                rule.recipe.push(recipe);
            }
            continue;
        }
        let plain = without_comment(&line.text);
        let said = plain.trim();
        let (first, rest) = said.split_once([' ', '\t', '(']).unwrap_or((said, ""));
        // What is no recipe and no condition ends the rule before it.
        match first {
            "" => {}
            "ifeq" | "ifneq" | "ifdef" | "ifndef" => branches += 1,
            "else" => {}
            "endif" => branches = branches.saturating_sub(1),
            "define" => {
                define(file, rest, &mut lines, branches > 0);
                open = false;
            }
            "include" | "-include" | "sinclude" => {
                included(file, rest, include, depth);
                open = false;
            }
            "undefine" | "unexport" | "vpath" => open = false,
            _ => open = statement(file, said, &line, branches > 0),
        }
        if let Some(prefix) = file.variables.given(".RECIPEPREFIX") {
            lines.prefix = prefix.trim().chars().next().unwrap_or('\t');
        }
        collect(file, line.number);
    }
}

/// Moves what `$(shell …)` ran on this line to the pieces.
fn collect(file: &mut Makefile, line: usize) {
    let ran = std::mem::take(&mut file.variables.ran);
    let name = file.file.clone();
    file.ran.extend(ran.into_iter().map(|text| EntryPiece { file: name.clone(), ..EntryPiece::new(text, line) }));
}

/// An assignment or a rule; `true` when recipe lines may follow.
fn statement(file: &mut Makefile, said: &str, line: &Line, branch: bool) -> bool {
    let said =
        ["export ", "override ", "private "].iter().fold(said, |said, word| said.strip_prefix(word).unwrap_or(said));
    match split(said) {
        Said::Assignment(name, operator, value) => {
            let name = if name.contains('$') { file.variables.expand(name) } else { name.to_string() };
            file.variables.assign(name.trim(), operator, value.trim_start(), branch);
            false
        }
        Said::Rule(targets, rest) => {
            rule(file, targets, rest, line, branch);
            true
        }
        Said::Other => {
            file.variables.expand(said);
            false
        }
    }
}

fn rule(file: &mut Makefile, targets: &str, rest: &str, line: &Line, branch: bool) {
    let targets: Vec<String> = words(&file.variables.expand(targets)).map(str::to_string).collect();
    if targets.iter().any(|target| target == ".ONESHELL") {
        file.one_shell = true;
    }
    let mut rule = Rule { file: file.file.clone(), ..Rule::default() };
    if let Said::Assignment(name, operator, value) = split(rest.trim_start_matches(':'))
        && !name.trim().contains([' ', '\t', ';'])
    {
        let value = value.trim_start();
        let value = if operator == Operator::Simple { file.variables.expand(value) } else { value.to_string() };
        rule.own.push((name.trim().to_string(), value));
    } else {
        let (needed, inline) = rest.split_once(';').unwrap_or((rest, ""));
        let needed = file.variables.expand(needed.trim_start_matches(':')).replace('|', " ");
        let needed = match needed.split_once(':') {
            Some((pattern, needed)) => {
                rule.stem = Some(pattern.trim().to_string());
                needed.to_string()
            }
            None => needed,
        };
        rule.prerequisites = words(&needed).map(str::to_string).collect();
        if !inline.trim().is_empty() {
            rule.recipe.push(RecipeLine { text: inline.trim_start().to_string(), line: line.number });
        }
    }
    let at = file.rules.len();
    for target in &targets {
        if target.contains('%') {
            file.patterns.push(at);
        } else if rule.stem.as_deref().is_none_or(|pattern| stem(target, pattern).is_some()) {
            file.by_target.entry(target.clone()).or_default().push(at);
        }
        let ordinary = !target.starts_with('.') || target.contains('/');
        if file.first.is_none() && ordinary && !target.contains('%') && !branch {
            file.first = Some(target.clone());
        }
    }
    rule.targets = targets;
    file.rules.push(rule);
}

fn define(file: &mut Makefile, head: &str, lines: &mut Lines<'_>, branch: bool) {
    let name = head.trim().trim_end_matches(['=', ':', '?', '+', ' ']).to_string();
    let mut body: Vec<&str> = Vec::new();
    let mut inner = 0usize;
    while let Some(line) = lines.raw() {
        let first = line.split_whitespace().next().unwrap_or_default();
        match first {
            "define" => inner += 1,
            "endef" if inner == 0 => break,
            "endef" => inner -= 1,
            _ => {}
        }
        body.push(line.strip_prefix('\t').unwrap_or(line));
    }
    file.variables.assign(&name, Operator::Recursive, &body.join("\n"), branch);
}

fn included(file: &mut Makefile, names: &str, include: &mut dyn FnMut(&str) -> Option<String>, depth: usize) {
    let names = file.variables.expand(names);
    for name in names.split_whitespace().take(FILES) {
        let text = if depth < INCLUDES && !name.contains(['*', '?', '$']) { include(name) } else { None };
        match text {
            Some(text) => {
                let outer = file.file.replace(name.to_string());
                read(file, &text, include, depth + 1);
                file.file = outer;
            }
            None => file.variables.unread = true,
        }
    }
}

/// Takes a line apart at the operator that comes first outside brackets.
fn split(line: &str) -> Said<'_> {
    let mut depth = 0usize;
    let bytes = line.as_bytes();
    for (index, byte) in bytes.iter().enumerate() {
        let before = line.get(..index).unwrap_or_default();
        let after = line.get(index + 1..).unwrap_or_default();
        match byte {
            b'(' | b'{' => depth += 1,
            b')' | b'}' => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            b'=' => {
                let (operator, name) = match before.chars().last() {
                    Some('?') => (Operator::Default, before.trim_end_matches('?')),
                    Some('+') => (Operator::Append, before.trim_end_matches('+')),
                    Some('!') => (Operator::Shell, before.trim_end_matches('!')),
                    _ => (Operator::Recursive, before),
                };
                return Said::Assignment(name, operator, after);
            }
            b':' => {
                let colons = after.bytes().take_while(|byte| *byte == b':').count();
                let behind = after.get(colons..).unwrap_or_default();
                return match behind.strip_prefix('=') {
                    Some(value) if colons <= 2 => Said::Assignment(before, Operator::Simple, value),
                    _ => Said::Rule(before, behind),
                };
            }
            _ => {}
        }
    }
    Said::Other
}

/// The line up to a `#` that is not escaped.
fn without_comment(line: &str) -> &str {
    let mut escaped = false;
    for (index, byte) in line.bytes().enumerate() {
        match byte {
            b'\\' => escaped = !escaped,
            b'#' if !escaped => return line.get(..index).unwrap_or_default(),
            _ => escaped = false,
        }
    }
    line
}
