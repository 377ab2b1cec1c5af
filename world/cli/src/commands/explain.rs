//! `taut explain`: what a line would run, which rules look at it, and the verdict.

use super::judge_here;
use crate::args::ExplainArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, Text, text};
use model::{Findings, Level, RuleKind};
use policy::Explanation;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io::BufRead;

pub fn run(args: &ExplainArgs, printer: &Printer) -> Result<Exit, CliError> {
    let judge = judge_here(args.dir.as_deref())?;
    let line = line(&args.command);
    if line != "-" {
        show(&line, &judge.explain(&line), printer);
        return Ok(Exit::Ok);
    }
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        if !line.trim().is_empty() {
            show(&line, &judge.explain(&line), printer);
        }
    }
    Ok(Exit::Ok)
}

/// The words with our own options first and `--` before the line, so that its options are its own: `ls -la --json` is
/// `--json -- ls -la`. What stands behind two dashes already is left as it is.
pub fn options_first(words: &[OsString]) -> Vec<OsString> {
    let (mut options, mut line) = (Vec::new(), Vec::new());
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match word.to_str().unwrap_or_default() {
            "--" => return words.to_vec(),
            "--json" | "--help" => options.push(word.clone()),
            "-h" if line.is_empty() => options.push(word.clone()),
            "--dir" => options.extend(std::iter::once(word).chain(rest.next()).cloned()),
            dir if dir.starts_with("--dir=") => options.push(word.clone()),
            // What is none of ours is wrong before the line, and the line's own behind its first word.
            other if line.is_empty() && other.len() > 1 && other.starts_with('-') => options.push(word.clone()),
            _ => line.push(word.clone()),
        }
    }
    let dashes = (!line.is_empty()).then(|| OsString::from("--"));
    options.into_iter().chain(dashes).chain(line).collect()
}

/// The line that was meant: one word is a line, several are the words that a shell made of one.
fn line(words: &[String]) -> String {
    match words {
        [line] => line.clone(),
        words => words.iter().map(|word| model::text::shell_word(word)).collect::<Vec<_>>().join(" "),
    }
}

fn show(line: &str, explanation: &Explanation, printer: &Printer) {
    if printer.json() {
        printer.object(&object(line, explanation));
        return;
    }
    printer.line(printer.bold(Text::lines(line)));
    for step in &explanation.steps {
        let indent = "  ".repeat(step.depth + 1);
        let via = step.via.as_ref().map(|via| text!("{} ", printer.dim(format!("[{via}]")))).unwrap_or_default();
        printer.line(text!("{}{}{}", indent, via, step.words));
        for act in &step.acts {
            printer.line(printer.dim(format!("{indent}  {act}")));
        }
        if !step.looked.is_empty() {
            printer.line(printer.dim(format!("{indent}  looked at by {}", step.looked.join(", "))));
        }
    }
    for trouble in &explanation.troubles {
        printer.line(text!("  {} {}", printer.yellow("unread:"), trouble));
    }
    printer.line(text!("  → {}", verdict(&explanation.findings, printer)));
    for finding in &explanation.findings.0 {
        let place = finding.file.as_ref().map(|file| format!("{}:{} ", file.path, file.line)).unwrap_or_default();
        printer.line(match finding.kind {
            RuleKind::Allowed => format!("    [{}] would stop it; {}", finding.rule, finding.reason),
            kind => format!("    [{}] {}: {place}{}", finding.rule, kind.name(), finding.reason),
        });
        if let Some(instead) = &finding.instead {
            printer.line(printer.dim(format!("      instead: {instead}")));
        }
    }
}

fn verdict(findings: &Findings, printer: &Printer) -> Text {
    match findings.level() {
        Level::Pass => printer.green("passes"),
        Level::Warn => printer.yellow("passes with a word"),
        Level::Ask => printer.yellow("asks"),
        Level::Deny => printer.red("denied"),
    }
}

fn object(line: &str, explanation: &Explanation) -> Value {
    let steps: Vec<Value> = explanation
        .steps
        .iter()
        .map(|step| {
            json!({
                "depth": step.depth,
                "via": step.via,
                "words": step.words,
                "cwd": step.cwd,
                "acts": step.acts,
                "rules": step.looked,
            })
        })
        .collect();
    json!({
        "command": line,
        "verdict": explanation.findings.level().name(),
        "findings": explanation.findings.0,
        "steps": steps,
        "unread": explanation.troubles,
    })
}
