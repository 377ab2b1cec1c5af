//! What the agent may do, said before it begins. Where nobody stated it, a person chooses, once for a work tree and agent.

use super::LoopArgs;
use crate::commands::installed_hooks;
use crate::error::CliError;
use crate::person;
use crate::printer::{Printer, text};
use agents::dialect::EditsMode;
use host::paths::PathVariables;
use model::run::Permissions;
use runner::Job;

/// `false` where a person was asked and chose nothing.
pub(super) fn settle(job: &mut Job, args: &LoopArgs, printer: &Printer) -> Result<bool, CliError> {
    if !job.settings.command.is_empty() {
        // Its own command line says what it may.
        return Ok(true);
    }
    let mut from = String::new();
    let agent = job.settings.agent.clone();
    if job.settings.permissions_stated {
        // With `--danger` it is for this once.
        if args.permissions.is_some() && !args.danger && person::required("loop").is_ok() {
            runner::keep_permissions(&job.state, &job.root, &agent, job.settings.permissions)?;
        }
    } else if let Some(kept) = runner::kept_permissions(&job.state, &job.root, &agent) {
        job.set_permissions(kept);
        from = ", as chosen for this work tree".to_string();
    } else if person::required("loop").is_ok() {
        let Some(chosen) = ask(job, printer)? else { return Ok(false) };
        job.set_permissions(chosen);
        runner::keep_permissions(&job.state, &job.root, &agent, chosen)?;
        from = ", kept for this work tree".to_string();
    }
    say(job, &from, printer);
    Ok(true)
}

fn ask(job: &Job, printer: &Printer) -> Result<Option<Permissions>, CliError> {
    let question = format!("What may {} do in {}?", job.settings.agent, job.folder.display());
    printer.note(text!("{} Nobody will be there to answer it.", printer.bold(question)));
    let [all, own] = match edits_mode(job) {
        EditsMode::NeverAsks(_) => ["the same", "the same"],
        _ => ["everything, without asking", "what its own settings allow; the rest is refused"],
    };
    printer.note(format!("  1  {} (edits)", edits(job)));
    printer.note(format!("  2  {all} (all, as --danger)"));
    printer.note(format!("  3  {own} (ask)"));
    Ok(match person::choice("Choose [1], n starts nothing: ")?.as_deref() {
        Some("" | "1" | "edits") => Some(Permissions::Edits),
        Some("2" | "all") => Some(Permissions::Skipped),
        Some("3" | "ask") => Some(Permissions::Asked),
        _ => None,
    })
}

fn edits_mode(job: &Job) -> EditsMode {
    agents::ALL.find(&job.settings.agent).map_or(EditsMode::Native, |dialect| dialect.launch.edits)
}

/// What `edits` comes to with this agent: some have no such mode.
fn edits(job: &Job) -> String {
    match edits_mode(job) {
        EditsMode::Instead(words) | EditsMode::NeverAsks(words) => format!("do {words}"),
        EditsMode::Native => format!("edit files here and run {}", job.commands().0.join(", ")),
    }
}

/// In words that go on from "it may"; none of an agent whose own command line says it.
pub(super) fn may(job: &Job) -> Option<String> {
    if !job.settings.command.is_empty() {
        return None;
    }
    Some(match (job.settings.permissions, edits_mode(job)) {
        (Permissions::Edits, _) | (_, EditsMode::NeverAsks(_)) => edits(job),
        (Permissions::Skipped, _) => "do everything without asking".to_string(),
        (Permissions::Asked, _) => "do what its own settings allow".to_string(),
    })
}

/// A few lines: what it may, what becomes of the rest, how that is changed, and whether the guard stands.
fn say(job: &Job, from: &str, printer: &Printer) {
    let (agent, mode) = (&job.settings.agent, job.settings.permissions);
    let guarded = is_guarded(job);
    let guard = if guarded && mode == Permissions::Skipped { "; the guard still stops what it denies" } else { "" };
    let (may, name) = (may(job).unwrap_or_default(), runner::permission_name(mode));
    let words = format!("{agent} may {may}{guard} (permissions: {name}{from})");
    printer.note(text!("{} {}", printer.bold("agent:"), words));
    printer.note(format!("  {}", rest(mode, edits_mode(job))));
    let left_out = job.commands().1;
    if mode == Permissions::Edits && edits_mode(job) == EditsMode::Native && !left_out.is_empty() {
        let words = format!("cannot be allowed by name and stays refused: {}", left_out.join(", "));
        printer.note(text!("  {} {}", printer.yellow("warning:"), words));
    }
    if !guarded {
        let words =
            format!("no hook of Taut's is installed for {agent}: the guard does not stand; `taut init` installs it");
        printer.note(text!("  {} {}", printer.yellow("warning:"), words));
    }
}

/// What becomes of everything else, and how that is changed.
fn rest(mode: Permissions, edits: EditsMode) -> String {
    let all = "`--permissions all` (as --danger)";
    let refused = "what they would ask about is refused, since nobody is there to answer, and an agent that may not edit does \
                   nothing";
    match (edits, mode) {
        (EditsMode::NeverAsks(_), _) => "`--permissions` changes nothing for it".to_string(),
        (EditsMode::Native, Permissions::Edits) => format!(
            "the rest is refused, since nobody is there to answer: `[loop] commands` adds commands, {all} allows everything"
        ),
        (EditsMode::Native, Permissions::Skipped) => {
            "`--permissions edits` keeps it to edits and the plan's commands".to_string()
        }
        (EditsMode::Native, Permissions::Asked) => {
            format!("{refused}: `--permissions edits` allows edits, git and the plan's commands; {all} everything")
        }
        (EditsMode::Instead(_), Permissions::Edits) => {
            format!(
                "single commands cannot be named to it, so `[loop] commands` changes nothing; {all} allows everything"
            )
        }
        (EditsMode::Instead(words), Permissions::Skipped) => format!("`--permissions edits` lets it do {words}"),
        (EditsMode::Instead(words), Permissions::Asked) => {
            format!("{refused}: `--permissions edits` lets it do {words}; {all} everything")
        }
    }
}

/// Whether the settings that the agent will read hold a hook of ours.
fn is_guarded(job: &Job) -> bool {
    let installed = installed_hooks::installed(&PathVariables::from_process(), &job.folder);
    installed.iter().any(|at| at.dialect.id() == job.settings.agent)
}
