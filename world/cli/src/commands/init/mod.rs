//! `taut init`: shows the change to the settings of each agent that is here, asks, makes it, and proves that the guard
//! answers through it.

mod offer;
mod outcome;
mod summary;

use crate::agent_choice;
use crate::agent_settings::{self, SettingsOwner, as_cli_error};
use crate::args::InitArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::person::{self, Agreement};
use crate::printer::Printer;
use agents::Dialect;
use agents::settings::SHARED_PROGRAM;
use host::install::Installed;
use host::install::intent;
use host::install::preset::{self, NewFile};
use host::install::preset_record::PresetRecord;
use host::install::program::{BuildPath, HookProgram, KeptCopy};
use host::paths::PathVariables;
use host::settings_file::{SettingsFileError, SettingsLevel};
use offer::Offer;
use policy::presets::Preset;
use serde_json::json;
use std::path::{Path, PathBuf};

/// How often a file that changes under our hands is read again.
const TRIES: usize = 3;

/// What holds for every agent of one call.
struct Setup<'a> {
    args: &'a InitArgs,
    printer: &'a Printer,
    places: PathVariables,
    level: SettingsLevel,
    preset: Option<&'static Preset>,
    /// The `taut` that hooks call.
    program: HookProgram,
    /// Several agents are installed for at once.
    many: bool,
}

pub fn run(args: &InitArgs, printer: &Printer) -> Result<Exit, CliError> {
    let places = PathVariables::from_process();
    let preset = args.preset.as_deref().map(find_preset).transpose()?;
    let whose = match (args.local, args.project || preset.is_some()) {
        (true, _) => SettingsOwner::Local,
        (false, true) => SettingsOwner::Project,
        (false, false) => SettingsOwner::User,
    };
    let agents = agent_choice::for_init(args, &places, printer)?;
    if !args.dry_run {
        if args.yes { person::outside_agents("init")? } else { agent_settings::can_ask("init")? }
    }
    let level = whose.level(&places)?;
    let agents = agent_choice::with_settings(agents, &level, &places, printer);
    let build_path = if args.allow_build_path { BuildPath::Allowed } else { BuildPath::Copied };
    let mut program = agent_settings::program(&places, build_path)?;
    if whose == SettingsOwner::Project {
        // The line looks for the program on the search path; who has none there needs the copy.
        program = agent_settings::reached_by_name(program, &places)?;
    }
    let setup = Setup { args, printer, places, level, preset, program, many: agents.len() > 1 };
    setup.run(&agents)
}

impl Setup<'_> {
    /// What is written into the settings of this level.
    fn command(&self) -> String {
        match self.level {
            SettingsLevel::Project(_) => SHARED_PROGRAM.to_owned(),
            SettingsLevel::User | SettingsLevel::Local(_) => self.program.path.clone(),
        }
    }

    fn run(&self, agents: &[&'static Dialect]) -> Result<Exit, CliError> {
        let files = preset_files(&self.level, self.preset)?;
        let mut failed = 0;
        let mut offers = Vec::new();
        for (dialect, client) in agents.iter().zip(agent_settings::clients(agents)) {
            match Offer::of(self, dialect, client) {
                Ok(offer) => offers.push(offer),
                Err(error) => failed += self.goes_on_after(dialect, error)?,
            }
        }
        for offer in &offers {
            offer.show(self);
        }
        self.show_files(&files);
        if offers.iter().any(Offer::changes_anything) && !self.printer.json() {
            summary::print(self);
        }
        if self.args.dry_run {
            offers
                .iter()
                .filter(|_| self.printer.json())
                .for_each(|offer| self.printer.object(&offer.object(self, &files)));
            return Ok(ended(failed));
        }
        if !self.agree(&mut offers, &files)? {
            self.printer.note("nothing was changed");
            return Ok(Exit::Failed);
        }
        self.keep_program()?;
        let mut installed = Vec::new();
        for offer in offers {
            let dialect = offer.dialect;
            match self.install(offer) {
                Ok(done) => installed.push(done),
                Err(error) => failed += self.goes_on_after(dialect, error)?,
            }
        }
        if !installed.is_empty() {
            self.finish(&files)?;
        }
        for (offer, done) in &installed {
            if let Err(error) = outcome::prove(self, offer, done) {
                failed += self.goes_on_after(offer.dialect, error)?;
            }
        }
        if !installed.is_empty() && !self.printer.json() {
            outcome::say_what_follows(self.printer);
        }
        Ok(ended(failed))
    }

    /// Before a line that calls it is written.
    fn keep_program(&self) -> Result<(), CliError> {
        if let KeptCopy::Newer(version) = self.program.keep().map_err(|error| as_cli_error(&error))? {
            let (path, own) = (&self.program.path, env!("CARGO_PKG_VERSION"));
            self.printer.note(format!("{path} is version {version} and stays: this is {own}"));
        }
        Ok(())
    }

    /// Several agents do not stop each other: what went wrong with one is said, and counts in the end.
    fn goes_on_after(&self, dialect: &Dialect, error: CliError) -> Result<usize, CliError> {
        if !self.many {
            return Err(error);
        }
        self.printer.note(format!("{}:", dialect.profile.name));
        self.printer.error(&error);
        if self.printer.json() {
            self.printer.object(&json!({"agent": dialect.id(), "error": error.what()}));
        }
        Ok(1)
    }

    /// Asks once for all, or for each where that is the answer; keeps those that were agreed to.
    fn agree(&self, offers: &mut Vec<Offer>, files: &[NewFile]) -> Result<bool, CliError> {
        let changes = offers.iter().filter(|offer| offer.changes_anything()).count();
        if self.args.yes || changes == 0 && files.is_empty() {
            return Ok(true);
        }
        if changes < 2 || self.args.all {
            let question = if changes < 2 { "Make this change?" } else { "Make these changes?" };
            return person::agrees(question);
        }
        match person::agrees_to_all("Make these changes?")? {
            Agreement::All => return Ok(true),
            Agreement::None => return Ok(false),
            Agreement::Each => {}
        }
        let mut agreed = Vec::new();
        for offer in offers.drain(..) {
            let question = format!("Change {} for {}?", offer.path().display(), offer.dialect.profile.name);
            if !offer.changes_anything() || person::agrees(&question)? {
                agreed.push(offer);
            }
        }
        *offers = agreed;
        Ok(offers.iter().any(Offer::changes_anything))
    }

    /// Makes the change of one agent. A file that others change meanwhile is looked at, shown and asked about again.
    fn install(&self, mut offer: Offer) -> Result<(Offer, Installed), CliError> {
        for attempt in 1.. {
            match offer.apply(&self.places) {
                Ok(done) => return Ok((offer, done)),
                Err(SettingsFileError::Changed { path }) if attempt < TRIES => {
                    self.printer
                        .note(format!("{} has just been changed by someone else; looking again", path.display()));
                }
                Err(error) => return Err(as_cli_error(&error)),
            }
            offer = Offer::of(self, offer.dialect, offer.plan.client)?;
            offer.show(self);
            if offer.changes_anything() && !self.args.yes && !person::agrees("Make this change?")? {
                return Err(CliError::failed("nothing was changed"));
            }
        }
        Err(CliError::failed("nothing was changed"))
    }

    /// What comes once, with the first hooks.
    fn finish(&self, files: &[NewFile]) -> Result<(), CliError> {
        if let (Some(preset), SettingsLevel::Project(project)) = (self.preset, &self.level) {
            // Before they are written, so that a crash in between leaves nothing that is not known.
            PresetRecord::of(project, preset.name, files, preset.aliases).write(&self.places.state())?;
        }
        preset::write(files).map_err(|error| as_cli_error(&error))?;
        if let Some(preset) = self.preset {
            agreed(preset, &self.level, &self.places, self.printer)?;
            let entry = super::policy::entry(store::PolicyLogKind::Preset, preset.name);
            super::policy::note(entry, self.printer);
        }
        let aliases = self.preset.map(|preset| preset.aliases).unwrap_or_default();
        preset::link_aliases(&self.places.state(), Path::new(&self.program.path), aliases)
            .map_err(|error| as_cli_error(&error))?;
        intent::withdraw(&self.places.state());
        self.say_where_aliases_are(aliases);
        Ok(())
    }

    /// A name that nobody finds is of no use.
    fn say_where_aliases_are(&self, aliases: &[&str]) {
        let folder = self.places.state().join("bin");
        let search = std::env::var_os("PATH").unwrap_or_default();
        if aliases.is_empty() || self.printer.json() || std::env::split_paths(&search).any(|on_it| on_it == folder) {
            return;
        }
        let (names, folder) = (aliases.join("`, `"), folder.display());
        self.printer
            .line(format!("`{names}` is another name of `taut`, linked in {folder}. To use it, also in agents, put"));
        self.printer.line(format!("  export PATH=\"$PATH:{folder}\"   into your shell's start-up file"));
    }

    fn show_files(&self, files: &[NewFile]) {
        for file in files.iter().filter(|_| !self.printer.json()) {
            self.printer.diff(&host::settings_file::unified(&file.path.to_string_lossy(), None, Some(&file.text)));
        }
    }
}

fn ended(failed: usize) -> Exit {
    if failed == 0 { Exit::Ok } else { Exit::Failed }
}

fn find_preset(name: &str) -> Result<&'static Preset, CliError> {
    policy::presets::find(name).ok_or_else(|| {
        let names: Vec<_> = policy::presets::ALL.iter().map(|preset| preset.name).collect();
        let available = if names.is_empty() { "this version has none".to_owned() } else { names.join(", ") };
        CliError::not_found(format!("there is no preset `{name}`; available: {available}"))
            .hint("`taut init` without a preset installs the guard")
    })
}

fn preset_files(level: &SettingsLevel, preset: Option<&Preset>) -> Result<Vec<NewFile>, CliError> {
    match (level, preset) {
        (SettingsLevel::Project(project) | SettingsLevel::Local(project), Some(preset)) => {
            preset::plan(project, preset.files).map_err(|error| as_cli_error(&error))
        }
        _ => Ok(Vec::new()),
    }
}

/// The user has just read and agreed to the preset's files: they are trusted as they stand, unless one they were not
/// shown lies beside them.
fn agreed(preset: &Preset, level: &SettingsLevel, places: &PathVariables, printer: &Printer) -> Result<(), CliError> {
    let (SettingsLevel::Project(project) | SettingsLevel::Local(project)) = level else { return Ok(()) };
    let tree = host::probe::project(project, &places.home()).work_tree;
    let tree = Path::new(&tree);
    if tree.join(".taut/config.local.toml").exists() {
        printer.note(
            "the project has a local configuration that was not shown; `taut trust` switches the preset's skills on",
        );
        return Ok(());
    }
    let found = host::trust::ProjectFiles::of(tree);
    let is_presets = |(path, text): &(PathBuf, String)| {
        preset.files.iter().any(|(name, given)| tree.join(name) == *path && given == text)
    };
    if found.shown().iter().all(is_presets) {
        return Ok(found.grant(&places.state())?);
    }
    // Hooks of the loop that are not the preset's were not shown.
    Ok(found.grant_configuration(&places.state())?)
}
