//! `taut policy test` and `taut policy check`: the rules' own examples, and
//! what is wrong with the configuration, with file, line and column.

use crate::commands::judge_here;
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, text};
use policy::{examples, rules};
use serde_json::json;

/// Runs every rule's examples through the reader and the policy as shipped.
pub fn run_examples(printer: &Printer) -> Result<Exit, CliError> {
    let outcomes = examples::outcomes();
    let failed: Vec<_> = outcomes.iter().filter(|outcome| !outcome.held).collect();
    if printer.json() {
        for outcome in &outcomes {
            printer.object(&json!({"rule": outcome.rule, "line": outcome.line, "expected": outcome.expected.name(), "held": outcome.held}));
        }
    } else {
        for outcome in &failed {
            printer.line(text!(
                "{} [{}] {} ({})",
                printer.red("failed"),
                outcome.rule,
                outcome.line,
                outcome.expected.name()
            ));
        }
        printer.line(format!("{} examples of {} rules, {} failed", outcomes.len(), rules::ALL.len(), failed.len()));
    }
    Ok(if failed.is_empty() { Exit::Ok } else { Exit::Failed })
}

pub fn configuration(printer: &Printer) -> Result<Exit, CliError> {
    let judge = judge_here(None)?;
    let project_policy = judge.project_policy();
    if printer.json() {
        for trouble in &project_policy.diagnostics {
            printer.object(&json!({
                "file": trouble.file,
                "line": trouble.line,
                "column": trouble.column,
                "message": trouble.message,
                "hint": trouble.hint,
            }));
        }
    } else if project_policy.diagnostics.is_empty() {
        printer.line(text!("{} for {}", printer.green("the configuration is sound"), project_policy.project.work_tree));
    }
    for trouble in project_policy.diagnostics.iter().filter(|_| !printer.json()) {
        printer.line(format!("{}:{}:{}: {}", trouble.file, trouble.line, trouble.column, trouble.message));
        if let Some(hint) = &trouble.hint {
            printer.line(format!("  hint: {hint}"));
        }
    }
    Ok(if project_policy.diagnostics.is_empty() { Exit::Ok } else { Exit::Failed })
}
