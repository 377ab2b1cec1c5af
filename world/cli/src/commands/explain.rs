//! `taut explain`: what a line would run, which rules look at it, and the verdict.

use super::judge_here;
use crate::args::ExplainArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, Text, text};
use model::{Findings, Level};
use policy::Explanation;
use serde_json::{Value, json};
use std::io::BufRead;

pub fn run(args: &ExplainArgs, printer: &Printer) -> Result<Exit, CliError> {
    let judge = judge_here(args.dir.as_deref())?;
    if args.command != "-" {
        show(&args.command, &judge.explain(&args.command), printer);
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
        printer.line(format!("    [{}] {}: {place}{}", finding.rule, finding.kind.name(), finding.reason));
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
