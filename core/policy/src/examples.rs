//! Every rule's own examples, judged as they stand: one developer, one project,
//! nothing known of the machine.

use crate::judge::{Circumstances, judge};
use crate::parsed_call::{Around, FileEdit, ParsedCall};
use crate::policy::Policy;
use crate::rules;
use model::fact::Facts;

const HOME: &str = "/home/dev";
pub(crate) const PROJECT: &str = "/home/dev/project";

/// What came of one example.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExampleResult {
    pub rule: &'static str,
    pub line: &'static str,
    pub expected: Expected,
    pub held: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    Stopped,
    Passed,
}

impl Expected {
    pub fn name(self) -> &'static str {
        match self {
            Self::Stopped => "should be stopped",
            Self::Passed => "should pass",
        }
    }
}

/// Judges every example of every shipped rule.
pub fn outcomes() -> Vec<ExampleResult> {
    let mut out = Vec::new();
    for rule in rules::ALL {
        for line in rule.denies {
            let findings = judged(line);
            let held = findings.0.iter().any(|finding| finding.rule == rule.id && finding.kind == rule.kind);
            out.push(ExampleResult { rule: rule.id, line, expected: Expected::Stopped, held });
        }
        for line in rule.passes {
            let held = judged(line).0.is_empty();
            out.push(ExampleResult { rule: rule.id, line, expected: Expected::Passed, held });
        }
    }
    out
}

fn judged(line: &str) -> model::Findings {
    judge(&parse_call(line), &Policy::built_in(), &Facts::default(), &Circumstances::default())
}

/// A line, or `Write: path` / `Edit: path` / `Read: path` for the agent's own tools.
pub(crate) fn parse_call(line: &str) -> ParsedCall {
    let around = Around { home: Some(HOME.into()), ..Around::default() };
    let cwd = Some(PROJECT.to_string());
    match line.split_once(": ") {
        Some(("Read", path)) => ParsedCall::read(&path.replace('~', HOME), cwd, &around),
        Some((tool @ ("Write" | "Edit"), path)) => {
            let removed = (tool == "Edit").then(|| "a".to_string());
            let edit = FileEdit { tool: tool.into(), path: path.replace('~', HOME), removed, added: "b".into() };
            ParsedCall::edit(edit, cwd, &around)
        }
        _ => ParsedCall::line(line, cwd, &around),
    }
}
