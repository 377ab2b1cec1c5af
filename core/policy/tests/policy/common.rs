//! What the tests of the policy share: one developer, one project, no facts.

use model::Findings;
use model::fact::Facts;
use policy::{Around, Circumstances, FileEdit, ParsedCall, Policy, judge};

pub const HOME: &str = "/home/dev";
pub const PROJECT: &str = "/home/dev/project";

pub fn around() -> Around {
    Around { home: Some(HOME.into()), ..Around::default() }
}

/// A line, or `Write: path` / `Edit: path` / `Read: path` for the agent's own tools.
pub fn parse_call(line: &str, cwd: &str) -> ParsedCall {
    let cwd = Some(cwd.to_string());
    match line.split_once(": ") {
        Some((tool @ ("Write" | "Edit" | "Read"), path)) => {
            let path = path.replace('~', HOME);
            if tool == "Read" {
                return ParsedCall::read(&path, cwd, &around());
            }
            let removed = (tool == "Edit").then(|| "a".to_string());
            ParsedCall::edit(FileEdit { tool: tool.into(), path, removed, added: "b".into() }, cwd, &around())
        }
        _ => ParsedCall::line(line, cwd, &around()),
    }
}

pub fn judged(line: &str) -> Findings {
    judged_in(line, PROJECT)
}

pub fn judged_in(line: &str, cwd: &str) -> Findings {
    judge(&parse_call(line, cwd), &Policy::built_in(), &Facts::default(), &Circumstances::default())
}

pub fn said(findings: &Findings) -> String {
    let words: Vec<String> = findings.0.iter().map(|f| format!("{} {}", f.kind.name(), f.rule)).collect();
    if words.is_empty() { "pass".into() } else { words.join(", ") }
}
