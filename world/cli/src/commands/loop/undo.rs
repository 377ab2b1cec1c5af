//! Going back to the tree before an iteration: shown, asked about, and itself undone with `--back`.

use super::UndoArgs;
use super::find::Runs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::person;
use crate::printer::{Printer, text};
use host::paths::PathVariables;
use runner::{ChangeKind, UndoPlan, UndoRequest, UndoTarget};
use serde_json::json;
use std::path::PathBuf;

/// So many files are named; the rest is counted.
const NAMED: usize = 20;

pub(super) fn run(args: &UndoArgs, printer: &Printer) -> Result<Exit, CliError> {
    if !args.dry_run {
        // It throws work away, so far as anybody sees: a person decides that.
        if args.yes { person::outside_agents("loop undo") } else { person::required("loop undo") }?;
    }
    let places = PathVariables::from_process();
    let project = host::probe::project(&std::env::current_dir()?, &places.home());
    let named = args.run.as_deref().map(|letters| Runs::open()?.pick(Some(letters))).transpose()?;
    let plan = UndoPlan::make(&UndoRequest {
        folder: PathBuf::from(project.work_tree),
        state: places.state(),
        to: if args.back {
            UndoTarget::LastUndo
        } else {
            UndoTarget::Iteration { number: args.iteration, run: named.map(|seen| seen.run.id) }
        },
    })?;
    let what = match plan.iteration {
        Some(number) => format!("the tree before iteration {number}"),
        None => "the tree before the last undo".to_string(),
    };
    show(&plan, &what, printer);
    if plan.is_empty() || args.dry_run {
        return Ok(Exit::Ok);
    }
    if !args.yes && !person::agrees("Go back to that?")? {
        printer.note("nothing was done");
        return Ok(Exit::Failed);
    }
    let done = plan.carry_out()?;
    if printer.json() {
        printer.object(&json!({"undone": true, "kept": done.kept}));
    } else {
        printer.line(text!("done; what was there is kept in {}", done.kept));
        printer.line(text!("`{}` brings it back; tasks stay as they are in the queue", done.back));
    }
    Ok(Exit::Ok)
}

/// What going back to `what` would do.
pub(in crate::commands) fn show(plan: &UndoPlan, what: &str, printer: &Printer) {
    let word = |how: ChangeKind| match how {
        ChangeKind::BroughtBack => "brings back",
        ChangeKind::Changed => "changes",
        ChangeKind::Removed => "removes",
    };
    if printer.json() {
        let files: Vec<_> =
            plan.changes.iter().map(|file| json!({"does": word(file.how), "path": file.path})).collect();
        printer.object(&json!({
            "run": plan.run, "iteration": plan.iteration, "files": files, "commits": plan.commits,
            "branch": plan.branch, "stays": plan.stays,
        }));
        return;
    }
    if plan.is_empty() {
        printer.line(text!("{} is what is there; there is nothing to do", what));
        return;
    }
    printer.line(text!("goes back to {}", what));
    for file in plan.changes.iter().take(NAMED) {
        printer.line(text!("  {:<11} {}", word(file.how), file.path));
    }
    if plan.changes.len() > NAMED {
        printer.line(format!("  and {} more files", plan.changes.len() - NAMED));
    }
    if let Some(branch) = &plan.branch {
        printer.line(text!("  takes {} commits off {}", plan.commits.len(), branch));
    }
    plan.commits.iter().for_each(|commit| printer.line(text!("    {}", commit)));
    if plan.unsure {
        printer.line("  the loop was killed in its last iteration: whether all of these are its own is not known");
    }
    for path in &plan.stays {
        printer.line(text!("  leaves      {} (it may have been there before and was not kept)", path));
    }
}
