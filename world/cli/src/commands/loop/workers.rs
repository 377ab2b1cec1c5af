//! Several agents at once.

use super::LoopArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, text};
use host::paths::PathVariables;
use model::run::RunMode;
use runner::WorkerFleet;
use serde_json::json;
use std::path::PathBuf;

pub(super) fn run(mode: RunMode, args: &LoopArgs, places: &PathVariables, printer: &Printer) -> Result<Exit, CliError> {
    if mode == RunMode::Planning {
        return Err(CliError::failed("several workers cannot write one plan").hint("taut loop build --workers N"));
    }
    let own: Vec<String> = std::env::args().skip_while(|word| word != "build").skip(1).collect();
    let mut line = vec!["loop".to_string(), "build".to_string()];
    let mut words = own.into_iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--workers" => drop(words.next()),
            word if word.starts_with("--workers=") => {}
            _ => line.push(word),
        }
    }
    if !line.iter().any(|word| word.starts_with("--source")) {
        line.extend(["--source".to_string(), "queue".to_string()]);
    }
    let project = host::probe::project(&std::env::current_dir()?, &places.home());
    let fleet = WorkerFleet {
        folder: PathBuf::from(project.work_tree),
        state: places.state(),
        workers: args.workers.unwrap_or(1),
        program: std::env::current_exe()?,
        args: line,
    };
    if args.dry_run {
        printer.line(format!(
            "would start {} times, each in a worktree of its own: taut {}",
            args.workers.unwrap_or(1),
            fleet.args.join(" ")
        ));
        return Ok(Exit::Ok);
    }
    let branches = runner::workers(&fleet)?;
    for branch in &branches {
        if printer.json() {
            printer.object(&json!({"branch": branch.name, "worktree": branch.folder, "commits": branch.commits, "exit": branch.exit}));
            continue;
        }
        printer.line(text!(
            "{} ({} commits) in {}",
            printer.bold(&branch.name),
            branch.commits.len(),
            branch.folder.display()
        ));
        branch.commits.iter().for_each(|commit| printer.line(format!("  {commit}")));
    }
    if !printer.json() {
        printer.line(
            "nothing was merged: `git merge <branch>` takes one in, `git worktree remove <folder>` clears it away",
        );
    }
    // What one of them could not do weighs more than what another did.
    let exit = branches.iter().map(|branch| branch.exit.unwrap_or(20)).max().unwrap_or_default();
    Ok(Exit::Loop(u8::try_from(exit).unwrap_or(20)))
}
