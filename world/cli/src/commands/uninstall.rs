//! `taut uninstall`: takes our entries out of the agent's settings, and nothing else.

use crate::agent_settings::{SETTINGS, SettingsOwner, as_cli_error, misread};
use crate::args::UninstallArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::person;
use crate::printer::{Printer, text};
use agents::settings::Leaves;
use host::install::{Installed, LeftBehind, Proposal, UninstallRequest};
use host::paths::PathVariables;
use host::settings_file::{Backups, SettingsFileError, SettingsSnapshot};
use serde_json::json;
use std::path::Path;

/// How often a file that changes under our hands is read again.
const TRIES: usize = 3;

pub fn run(args: &UninstallArgs, printer: &Printer) -> Result<Exit, CliError> {
    let places = PathVariables::from_process();
    let whose = match (args.local, args.project) {
        (true, _) => SettingsOwner::Local,
        (false, true) => SettingsOwner::Project,
        (false, false) => SettingsOwner::User,
    };
    if !args.dry_run {
        person::required("uninstall").map_err(|error| {
            error.hint("run `taut uninstall` in your own terminal; `taut uninstall --dry-run` shows the change")
        })?;
    }
    let path = whose.level(&places)?.path(&places, agents::DEFAULT);
    for attempt in 1.. {
        let proposal = propose(&path, &places)?;
        if !proposal.changes_anything() {
            print_done(&proposal, &Installed::default(), printer);
            return Ok(Exit::Ok);
        }
        if !printer.json() {
            printer.diff(&proposal.diff());
        }
        if args.dry_run {
            if printer.json() {
                printer.object(&json!({"file": proposal.file.path, "changes": true, "diff": proposal.diff()}));
            }
            return Ok(Exit::Ok);
        }
        if !person::agrees("Make this change?")? {
            printer.note("nothing was changed");
            return Ok(Exit::Failed);
        }
        match proposal.apply(&places.state(), host::clock::now()) {
            Ok(done) => {
                print_done(&proposal, &done, printer);
                return Ok(Exit::Ok);
            }
            Err(SettingsFileError::Changed { path }) if attempt < TRIES => {
                printer.note(format!("{} has just been changed by someone else; looking again", path.display()));
            }
            Err(error) => return Err(as_cli_error(&error)),
        }
    }
    Ok(Exit::Failed)
}

fn propose(path: &Path, places: &PathVariables) -> Result<Proposal, CliError> {
    let file = SettingsSnapshot::read(path).map_err(|error| as_cli_error(&error))?;
    let record = Backups::of(&places.state(), &file.target).read_record();
    let rules = record.as_ref().map(|record| record.allow.as_slice()).unwrap_or_default();
    let edited = (SETTINGS.remove)(file.text(), rules).map_err(|error| misread(path, &error))?;
    let left = match edited.leaves {
        Leaves::Settings => LeftBehind::Settings,
        Leaves::Nothing => LeftBehind::Nothing,
    };
    Ok(Proposal::uninstall(file, UninstallRequest { text: edited.text, left }, record.as_ref()))
}

fn print_done(proposal: &Proposal, done: &Installed, printer: &Printer) {
    let path = proposal.file.path.display();
    for note in &done.notes {
        printer.note(note);
    }
    if printer.json() {
        let changed = proposal.changes_anything();
        printer.object(&json!({"file": proposal.file.path, "changed": changed, "copy": done.copy}));
        return;
    }
    if !proposal.changes_anything() {
        printer.line(format!("{path} has no hooks of Taut's; nothing to remove"));
        return;
    }
    if let Some(copy) = &done.copy {
        printer.line(printer.dim(format!("a copy of the file as it was: {}", copy.display())));
    }
    printer.line(text!("{} {}", printer.green("removed from"), path));
    printer.line("What was recorded stays where `taut db path` says. `taut daemon stop` ends the daemon.");
}
