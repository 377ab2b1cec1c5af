//! What the agent may do, said before it begins. Where nobody stated it, a person chooses, once for a work tree.

use super::LoopArgs;
use crate::error::CliError;
use crate::person;
use crate::printer::{Printer, text};
use agents::dialect::EditsMode;
use model::run::Permissions;
use runner::Job;

/// `false` where a person was asked and chose nothing.
pub(super) fn settle(job: &mut Job, args: &LoopArgs, printer: &Printer) -> Result<bool, CliError> {
    if !job.settings.command.is_empty() {
        // Its own command line says what it may.
        return Ok(true);
    }
    let mut from = String::new();
    if job.settings.permissions_stated {
        // With `--danger` it is for this once.
        if args.permissions.is_some() && !args.danger && person::required("loop").is_ok() {
            runner::keep_permissions(&job.state, &job.root, job.settings.permissions)?;
        }
    } else if let Some(kept) = runner::kept_permissions(&job.state, &job.root) {
        job.settings.permissions = kept;
        from = ", as chosen for this work tree".to_string();
    } else if person::required("loop").is_ok() {
        let Some(chosen) = ask(job, printer)? else { return Ok(false) };
        job.settings.permissions = chosen;
        runner::keep_permissions(&job.state, &job.root, chosen)?;
        from = ", kept for this work tree".to_string();
    }
    say(job, &from, printer);
    Ok(true)
}

fn ask(job: &Job, printer: &Printer) -> Result<Option<Permissions>, CliError> {
    let question = format!("What may {} do in {}?", job.settings.agent, job.folder.display());
    printer.note(text!("{} Nobody will be there to answer it.", printer.bold(question)));
    printer.note(format!("  1  {} (edits)", edits(job)));
    printer.note("  2  everything, without asking (all, as --danger)");
    printer.note("  3  what its own settings allow; the rest is refused (ask)");
    Ok(match person::choice("Choose [1], n starts nothing: ")?.as_deref() {
        Some("" | "1" | "edits") => Some(Permissions::Edits),
        Some("2" | "all") => Some(Permissions::Skipped),
        Some("3" | "ask") => Some(Permissions::Asked),
        _ => None,
    })
}

/// What `edits` comes to with this agent: some have no such mode.
fn edits(job: &Job) -> String {
    match agents::ALL.find(&job.settings.agent).map(|dialect| dialect.launch.edits) {
        Some(EditsMode::Instead(words)) => format!("do {words}"),
        _ => format!("edit files here and run {}", job.commands().0.join(", ")),
    }
}

/// Two or three lines: what it may, what becomes of the rest, and how that is changed.
fn say(job: &Job, from: &str, printer: &Printer) {
    let (agent, mode) = (&job.settings.agent, job.settings.permissions);
    let may = match mode {
        Permissions::Edits => edits(job),
        Permissions::Skipped => "do everything without asking; the guard still stops what it denies".to_string(),
        Permissions::Asked => "do what its own settings allow".to_string(),
    };
    let name = runner::permission_name(mode);
    let words = format!("{agent} may {may} (permissions: {name}{from})");
    printer.note(text!("{} {}", printer.bold("agent:"), words));
    printer.note(match mode {
        Permissions::Edits => {
            "  the rest is refused, since nobody is there to answer: `[loop] commands` adds commands, `--permissions all` \
             (as --danger) allows everything"
        }
        Permissions::Skipped => "  `--permissions edits` keeps it to edits and the plan's commands",
        Permissions::Asked => {
            "  what they would ask about is refused, since nobody is there to answer, and an agent that may not edit does \
             nothing: `--permissions edits` allows edits, git and the plan's commands; `--permissions all` (as --danger) everything"
        }
    });
    let left_out = job.commands().1;
    if mode == Permissions::Edits && !left_out.is_empty() {
        let words = format!("cannot be allowed by name and stays refused: {}", left_out.join(", "));
        printer.note(text!("  {} {}", printer.yellow("warning:"), words));
    }
}
