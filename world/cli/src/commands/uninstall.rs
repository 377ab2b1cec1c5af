//! `taut uninstall`: takes our entries out of the agents' settings, and what a preset wrote, and nothing else.

mod preset;

use super::memory_switch;
use crate::agent_choice;
use crate::agent_settings::{self, SettingsOwner, as_cli_error, left_behind, misread};
use crate::args::UninstallArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::mcp_registration;
use crate::person;
use crate::printer::{Printer, text};
use agents::Dialect;
use host::install::preset::NewFile;
use host::install::preset_record::PresetRecord;
use host::install::{Installed, Proposal, UninstallRequest};
use host::paths::PathVariables;
use host::settings_file::{Backups, SettingsFileError, SettingsLevel, SettingsSnapshot};
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
    let agents = if args.agent.is_empty() { agents::ALL.0.to_vec() } else { agent_choice::named(&args.agent)? };
    if !args.dry_run {
        person::required("uninstall").map_err(|error| {
            error.hint("run `taut uninstall` in your own terminal; `taut uninstall --dry-run` shows the change")
        })?;
    }
    let level = whose.level(&places)?;
    for attempt in 1.. {
        let mut change = Removal::of(&agents, whose, &level, &places, printer)?;
        if args.agent.is_empty() && whose != SettingsOwner::Local {
            change.add_preset(whose, &agents, &places)?;
        }
        if !change.changes_anything() {
            change.print_done(&agents, &[], &places, printer);
            return Ok(ended(change.failed));
        }
        if !printer.json() {
            change.show(args, &places, printer);
            change.preset.iter().for_each(|preset| preset::show(preset, &places, printer));
        }
        if args.dry_run {
            if printer.json() {
                change.print_objects(printer);
            }
            return Ok(ended(change.failed));
        }
        if !person::agrees(&change.question())? {
            printer.note("nothing was changed");
            return Ok(Exit::Failed);
        }
        match change.apply(&places, printer) {
            Ok(done) => {
                change.print_done(&agents, &done, &places, printer);
                let kept = done.iter().filter(|done| done.is_none()).count();
                return Ok(ended(change.failed + kept));
            }
            Err(SettingsFileError::Changed { path }) if attempt < TRIES => {
                printer.note(format!("{} has just been changed by someone else; looking again", path.display()));
            }
            Err(error) => return Err(as_cli_error(&error)),
        }
    }
    Ok(Exit::Failed)
}

/// What goes: the hooks of each agent's file, with one's own the server too, and with the last the switch that `init`
/// set.
struct Removal {
    hooks: Vec<(&'static Dialect, Proposal)>,
    servers: Vec<Proposal>,
    memory: Option<Proposal>,
    /// What `init` with a preset wrote into this project.
    preset: Option<PresetRecord>,
    /// Files that could not be looked into.
    failed: usize,
}

impl Removal {
    fn of(
        agents: &[&'static Dialect],
        whose: SettingsOwner,
        level: &SettingsLevel,
        places: &PathVariables,
        printer: &Printer,
    ) -> Result<Self, CliError> {
        let mut change = Self { hooks: Vec::new(), servers: Vec::new(), memory: None, preset: None, failed: 0 };
        let mut errors = Vec::new();
        for dialect in agents {
            match propose(dialect, level, places) {
                Ok(Some(hooks)) => change.hooks.push((dialect, hooks)),
                Ok(None) if agents.len() == 1 => {
                    // Names what is missing.
                    agent_settings::file(level, places, dialect)?;
                }
                Ok(None) => {}
                Err(error) => errors.push((dialect.profile.name, error)),
            }
            if whose == SettingsOwner::User {
                change.servers.extend(server(dialect, places, printer));
            }
        }
        if whose == SettingsOwner::User {
            let is_meant = |dialect: &Dialect| agents.iter().any(|meant| meant.id() == dialect.id());
            for (dialect, path) in
                agent_settings::elsewhere(places).into_iter().filter(|(dialect, _)| is_meant(dialect))
            {
                match propose_at(dialect, &path, places) {
                    Ok(hooks) => change.hooks.extend(hooks.map(|hooks| (dialect, hooks))),
                    Err(error) => errors.push((dialect.profile.name, error)),
                }
            }
        }
        change.memory = memory(whose, agents, places, printer);
        if errors.len() == 1 && (agents.len() == 1 || !change.changes_anything()) {
            return Err(errors.remove(0).1);
        }
        change.failed = errors.len();
        for (name, error) in errors {
            // One that cannot be read keeps nobody from taking the hooks of the others out.
            printer.note(format!("{name}:"));
            printer.error(&error);
        }
        Ok(change)
    }

    /// A preset is of the project, and so are the hooks that came with it: who leaves altogether leaves those too.
    fn add_preset(
        &mut self,
        whose: SettingsOwner,
        agents: &[&'static Dialect],
        places: &PathVariables,
    ) -> Result<(), CliError> {
        let Ok(project) = agent_settings::project(places) else { return Ok(()) };
        self.preset = PresetRecord::read(&places.state(), &project);
        if whose == SettingsOwner::User && self.preset.is_some() {
            let level = SettingsLevel::Project(project);
            for dialect in agents {
                let hooks = propose(dialect, &level, places)?.filter(Proposal::changes_anything);
                self.hooks.extend(hooks.map(|hooks| (*dialect, hooks)));
            }
        }
        Ok(())
    }

    fn changes_anything(&self) -> bool {
        self.preset.is_some() || self.all().any(Proposal::changes_anything)
    }

    fn all(&self) -> impl Iterator<Item = &Proposal> {
        self.hooks.iter().map(|(_, hooks)| hooks).chain(&self.servers).chain(&self.memory)
    }

    /// Line by line only on request: the lines of so many events are all alike.
    fn show(&self, args: &UninstallArgs, places: &PathVariables, printer: &Printer) {
        for proposal in self.all().filter(|proposal| proposal.changes_anything()) {
            if args.diff || args.dry_run {
                printer.diff(&proposal.diff());
            } else {
                printer.line(in_words(&proposal.diff(), &agent_settings::shown(&proposal.file.path, places)));
            }
        }
        if !(args.diff || args.dry_run) {
            printer.line(printer.dim("`taut uninstall --diff` shows the change line by line."));
        }
    }

    /// Names every file that is to be changed.
    fn question(&self) -> String {
        let changed = self.all().filter(|proposal| proposal.changes_anything());
        let mut files: Vec<String> = changed.map(|proposal| proposal.file.path.display().to_string()).collect();
        files.extend(self.preset.as_ref().map(|preset| format!("what preset {} wrote", preset.preset)));
        format!("Make this change to {}?", files.join(" and "))
    }

    /// The list of servers first: the client writes that file often, and then all of this is looked at again. A file
    /// that cannot be changed keeps nobody from leaving the others; for it there is nothing in the answer.
    fn apply(&self, places: &PathVariables, printer: &Printer) -> Result<Vec<Option<Installed>>, SettingsFileError> {
        let (state, now) = (places.state(), host::clock::now());
        let apply = |proposal: &Proposal| proposal.apply(&state, now);
        let mut others = self.servers.iter().map(apply).collect::<Result<Vec<_>, _>>()?;
        let mut done = Vec::new();
        for (dialect, hooks) in &self.hooks {
            match apply(hooks) {
                Err(error @ SettingsFileError::Changed { .. }) => return Err(error),
                Err(error) if self.hooks.len() == 1 => return Err(error),
                Err(error) => {
                    printer.note(format!("{}:", dialect.profile.name));
                    printer.error(&as_cli_error(&error));
                    done.push(None);
                }
                Ok(removed) => done.push(Some(removed)),
            }
        }
        if let Some(record) = &self.preset
            && let Err(error) = record.take_back(&state)
        {
            let cause = format!("{error}; `taut uninstall --project` tries again");
            printer.note(format!("what preset {} wrote could not be taken back: {cause}", record.preset));
        }
        others.extend(self.memory.iter().map(apply).collect::<Result<Vec<_>, _>>()?);
        others.iter().flat_map(|other| &other.notes).for_each(|note| printer.note(note));
        Ok(done)
    }

    fn print_objects(&self, printer: &Printer) {
        if let Some(record) = &self.preset {
            let (goes, stays) = record.by_state();
            let paths = |files: Vec<&NewFile>| files.iter().map(|file| file.path.clone()).collect::<Vec<_>>();
            let object = json!({"preset": record.preset, "removes": paths(goes), "keeps": paths(stays)});
            printer.object(&object);
        }
        for (dialect, hooks) in self.hooks.iter().filter(|(_, hooks)| hooks.changes_anything()) {
            let (file, diff) = (&hooks.file.path, hooks.diff());
            printer.object(&json!({"agent": dialect.id(), "file": file, "changes": true, "diff": diff}));
        }
        for other in self.servers.iter().chain(&self.memory) {
            printer.object(&json!({"file": other.file.path, "changes": true, "diff": other.diff()}));
        }
    }

    fn print_done(
        &self,
        agents: &[&'static Dialect],
        done: &[Option<Installed>],
        places: &PathVariables,
        printer: &Printer,
    ) {
        let copies: Vec<_> = done.iter().flatten().filter_map(|done| done.copy.as_ref()).collect();
        done.iter().flatten().flat_map(|done| &done.notes).for_each(|note| printer.note(note));
        let removed: Vec<_> = self
            .hooks
            .iter()
            .zip(done)
            .filter(|((_, hooks), done)| hooks.changes_anything() && done.is_some())
            .collect();
        if printer.json() {
            for ((dialect, hooks), done) in &removed {
                let copy = done.as_ref().and_then(|done| done.copy.as_ref());
                let file = &hooks.file.path;
                printer.object(&json!({"agent": dialect.id(), "file": file, "changed": true, "copy": copy}));
            }
            // Where there was nothing, that is said of the first.
            if let (true, Some((dialect, hooks))) = (removed.is_empty(), self.hooks.first()) {
                let (file, changed) = (&hooks.file.path, self.changes_anything() && !done.is_empty());
                printer.object(&json!({"agent": dialect.id(), "file": file, "changed": changed, "copy": null}));
            }
            return;
        }
        for server in &self.servers {
            printer.line(text!("{} {}", printer.green("server removed from"), server.file.path.display()));
        }
        if let Some(memory) = &self.memory {
            printer.line(text!("{} {}", printer.green("memory switched off in"), memory.file.path.display()));
        }
        if !self.hooks.iter().any(|(_, hooks)| hooks.changes_anything()) && self.failed == 0 {
            printer.line(nothing(agents, &self.hooks));
        }
        for copy in copies {
            printer.line(printer.dim(format!("a copy of the file as it was: {}", copy.display())));
        }
        for ((_, hooks), _) in &removed {
            printer.line(text!("{} {}", printer.green("removed from"), hooks.file.path.display()));
        }
        if let (Some(record), false) = (&self.preset, done.is_empty()) {
            preset::say(record, places, printer);
        }
        if !removed.is_empty() {
            preset::say_what_stays(places, printer);
        }
    }
}

fn ended(failed: usize) -> Exit {
    if failed == 0 { Exit::Ok } else { Exit::Failed }
}

fn nothing(agents: &[&'static Dialect], hooks: &[(&'static Dialect, Proposal)]) -> String {
    match hooks {
        [(_, hooks)] if agents.len() == 1 => {
            format!("{} has no hooks of Taut's; nothing to remove", hooks.file.path.display())
        }
        _ => "no agent's settings hold hooks of Taut's; nothing to remove".to_owned(),
    }
}

/// Nor does a configuration that cannot be read.
fn memory(
    whose: SettingsOwner,
    leaving: &[&'static Dialect],
    places: &PathVariables,
    printer: &Printer,
) -> Option<Proposal> {
    memory_switch::removal(whose, leaving, places).unwrap_or_else(|error| {
        printer.note(format!("warning: whether `taut init` switched memory on could not be seen: {}", error.what()));
        None
    })
}

/// A list of servers that cannot be read keeps nobody from taking the hooks out.
fn server(dialect: &'static Dialect, places: &PathVariables, printer: &Printer) -> Option<Proposal> {
    mcp_registration::propose_removal(dialect, places).unwrap_or_else(|error| {
        printer.note(format!("warning: whether the tools are registered could not be seen: {}", error.what()));
        None
    })
}

/// `None` for an agent that has no such settings.
fn propose(
    dialect: &'static Dialect,
    level: &SettingsLevel,
    places: &PathVariables,
) -> Result<Option<Proposal>, CliError> {
    level.path(places, dialect).map_or(Ok(None), |path| propose_at(dialect, &path, places))
}

fn propose_at(dialect: &'static Dialect, path: &Path, places: &PathVariables) -> Result<Option<Proposal>, CliError> {
    let file = SettingsSnapshot::read(path).map_err(|error| as_cli_error(&error))?;
    let record = Backups::of(&places.state(), &file.target).read_record();
    let rules = record.as_ref().map(|record| record.allow.as_slice()).unwrap_or_default();
    let edited = match (dialect.settings.remove)(file.text(), rules) {
        Ok(edited) => edited,
        // A broken file of an agent that we were never installed for is no matter of ours.
        Err(_) if record.is_none() && !file.text().contains("taut") => return Ok(None),
        Err(error) => return Err(misread(path, &error)),
    };
    let request = UninstallRequest { text: edited.text, left: left_behind(edited.leaves) };
    Ok(Some(Proposal::uninstall(file, request, record.as_ref())))
}

/// "takes 30 lines out of ~/.claude/settings.json": what a diff does to a file.
fn in_words(diff: &str, file: &str) -> String {
    let lines = |sign: char| diff.lines().skip(2).filter(|line| line.starts_with(sign)).count();
    let counted = |count: usize| if count == 1 { "1 line".to_owned() } else { format!("{count} lines") };
    let (out, back) = (lines('-'), lines('+'));
    if diff.lines().nth(1) == Some("+++ /dev/null") {
        return format!("removes {file}");
    }
    let back = if back == 0 { String::new() } else { format!(", and puts {} back", counted(back)) };
    format!("takes {} out of {file}{back}", counted(out))
}

#[cfg(test)]
mod tests {
    use super::in_words;

    #[test]
    fn i1_what_goes_is_counted_in_words() {
        let diff = "--- /h/s.json\n+++ /h/s.json\n@@ -1,4 +1,2 @@\n {\n-  \"a\": 1\n-  \"b\": 2\n+  \"a\": 1\n }\n";
        assert_eq!(in_words(diff, "~/s.json"), "takes 2 lines out of ~/s.json, and puts 1 line back");
        let diff = "--- /h/s.json\n+++ /h/s.json\n@@ -1 +0,0 @@\n-  \"a\": 1\n";
        assert_eq!(in_words(diff, "~/s.json"), "takes 1 line out of ~/s.json");
        assert_eq!(in_words("--- /h/s.json\n+++ /dev/null\n@@ -1 +0,0 @@\n-{}\n", "~/s.json"), "removes ~/s.json");
    }
}
