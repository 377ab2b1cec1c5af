//! `taut uninstall`: takes our entries out of the agent's settings, and nothing else.

use super::memory_switch;
use crate::agent_settings::{self, SETTINGS, SettingsOwner, as_cli_error, misread};
use crate::args::UninstallArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::mcp_registration;
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
    let path = agent_settings::file(&whose.level(&places)?, &places, agents::DEFAULT)?;
    for attempt in 1.. {
        let change = Removal {
            hooks: propose(&path, &places)?,
            server: server(whose, &places, printer),
            memory: memory(whose, &places, printer),
        };
        if !change.changes_anything() {
            print_done(&change, &Installed::default(), printer);
            return Ok(Exit::Ok);
        }
        if !printer.json() {
            printer.diff(&change.diff());
        }
        if args.dry_run {
            if printer.json() {
                printer.object(&json!({"file": change.hooks.file.path, "changes": true, "diff": change.diff()}));
            }
            return Ok(Exit::Ok);
        }
        if !person::agrees(&change.question())? {
            printer.note("nothing was changed");
            return Ok(Exit::Failed);
        }
        match change.apply(&places) {
            Ok(done) => {
                print_done(&change, &done, printer);
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

/// What goes: the hooks of one file, with one's own the server too, and with the last the switch that `init` set.
struct Removal {
    hooks: Proposal,
    server: Option<Proposal>,
    memory: Option<Proposal>,
}

impl Removal {
    fn changes_anything(&self) -> bool {
        self.hooks.changes_anything() || self.server.is_some() || self.memory.is_some()
    }

    fn all(&self) -> impl Iterator<Item = &Proposal> {
        [Some(&self.hooks), self.server.as_ref(), self.memory.as_ref()].into_iter().flatten()
    }

    /// Names every file that is to be changed.
    fn question(&self) -> String {
        let changed = self.all().filter(|proposal| proposal.changes_anything());
        let files: Vec<String> = changed.map(|proposal| proposal.file.path.display().to_string()).collect();
        format!("Make this change to {}?", files.join(" and "))
    }

    fn diff(&self) -> String {
        self.all().map(Proposal::diff).collect()
    }

    /// The list of servers first: the client writes that file often, and then all of this is looked at again.
    fn apply(&self, places: &PathVariables) -> Result<Installed, SettingsFileError> {
        let now = host::clock::now();
        let listed = self.server.as_ref().map(|server| server.apply(&places.state(), now)).transpose()?;
        let mut done = self.hooks.apply(&places.state(), now)?;
        let switched = self.memory.as_ref().map(|memory| memory.apply(&places.state(), now)).transpose()?;
        done.notes.extend(listed.into_iter().chain(switched).flat_map(|other| other.notes));
        Ok(done)
    }
}

/// Nor does a configuration that cannot be read.
fn memory(whose: SettingsOwner, places: &PathVariables, printer: &Printer) -> Option<Proposal> {
    memory_switch::removal(whose, places).unwrap_or_else(|error| {
        printer.note(format!("warning: whether `taut init` switched memory on could not be seen: {}", error.what()));
        None
    })
}

/// A list of servers that cannot be read keeps nobody from taking the hooks out.
fn server(whose: SettingsOwner, places: &PathVariables, printer: &Printer) -> Option<Proposal> {
    if whose != SettingsOwner::User {
        return None;
    }
    mcp_registration::propose_removal(places).unwrap_or_else(|error| {
        printer.note(format!("warning: whether the tools are registered could not be seen: {}", error.what()));
        None
    })
}

fn propose(path: &Path, places: &PathVariables) -> Result<Proposal, CliError> {
    let file = SettingsSnapshot::read(path).map_err(|error| as_cli_error(&error))?;
    let record = Backups::of(&places.state(), &file.target).read_record();
    let rules = record.as_ref().map(|record| record.allow.as_slice()).unwrap_or_default();
    let edited = (SETTINGS.remove)(file.text(), rules).map_err(|error| misread(path, &error))?;
    let left = match edited.leaves {
        Leaves::Settings => LeftBehind::Settings,
        Leaves::Nothing | Leaves::NoFile => LeftBehind::Nothing,
    };
    Ok(Proposal::uninstall(file, UninstallRequest { text: edited.text, left }, record.as_ref()))
}

fn print_done(change: &Removal, done: &Installed, printer: &Printer) {
    let proposal = &change.hooks;
    let path = proposal.file.path.display();
    for note in &done.notes {
        printer.note(note);
    }
    if printer.json() {
        let changed = change.changes_anything();
        printer.object(&json!({"file": proposal.file.path, "changed": changed, "copy": done.copy}));
        return;
    }
    if let Some(server) = &change.server {
        printer.line(text!("{} {}", printer.green("server removed from"), server.file.path.display()));
    }
    if let Some(memory) = &change.memory {
        printer.line(text!("{} {}", printer.green("memory switched off in"), memory.file.path.display()));
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
