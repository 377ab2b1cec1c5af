//! `taut memory on` and `off`: one key of the user's own configuration, or of this project's local one, shown before it
//! is changed. And the same question at `taut init`, whose answer `taut uninstall` takes back.

use super::installed_hooks::{InstalledHooks, installed};
use super::judge_here;
use crate::agent_settings::{self, SettingsOwner, as_cli_error};
use crate::args::InitArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::person;
use crate::printer::Printer;
use crate::user_config::{self, ConfigChange};
use agents::Dialect;
use clap::{Args, Subcommand};
use host::install::{ExistingHooks, InstallRequest, LeftBehind, Proposal, UninstallRequest};
use host::paths::PathVariables;
use host::settings_file::{Backups, SettingsSnapshot};
use host::trust::{self, ProjectFiles};
use serde_json::json;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use toml_edit::{DocumentMut, Item, Value, value};

#[derive(Debug, Clone, Subcommand)]
pub enum MemorySwitch {
    /// Let sessions remember: notes, unfinished work and facts are told to the next one (people only)
    On(SwitchArgs),
    /// Note, index and tell nothing any more (people only)
    Off(SwitchArgs),
}

#[derive(Debug, Clone, Args)]
pub struct SwitchArgs {
    /// Only in this project, in its .taut/config.local.toml
    #[arg(long)]
    pub project: bool,
    /// Show the change and make none
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
}

const GIVES: &str = "Memory is on for new sessions:
- what an agent was at follows it: unfinished work, notes and messages; what is nobody's is offered, never taken
- a note is written at compaction and at the end, and shown to the session after
- facts (`taut remember \"…\"`) are told at a start; `taut recall <words>` finds what was said and done
A start costs at most 1,500 characters (`memory.start_chars`), and no gate is closed by it.
`taut memory off` takes it back.";

const OFF: &str = "Memory is off: nothing is noted, indexed or told from now on. What is kept stays until `taut memory \
    forget`; `taut memory on` switches it on again.";

const QUESTION: &str =
    "Let sessions remember? The next one is told of notes, unfinished work and facts; no gate comes with it";

pub fn run(switch: &MemorySwitch, printer: &Printer) -> Result<Exit, CliError> {
    let (on, args) = match switch {
        MemorySwitch::On(args) => (true, args),
        MemorySwitch::Off(args) => (false, args),
    };
    let command = if on { "memory on" } else { "memory off" };
    if !args.dry_run {
        if args.yes { person::outside_agents(command)? } else { agent_settings::can_ask(command)? }
    }
    if args.project {
        return in_project(on, args, printer);
    }
    let change = user_config::plan(|config| set(config, on))?;
    let exit = make(&change, on, args, printer)?;
    let here = agent_settings::project(&PathVariables::from_process()).ok();
    if let Some(file) = here.and_then(|root| overruling(&root, on)) {
        let (stays, switch) = if on { ("off", "on") } else { ("on", "off") };
        printer.note(format!(
            "in this project it stays {stays}: {} says so and overrules your own; `taut memory {switch} --project` changes that",
            file.display()
        ));
    }
    Ok(exit)
}

/// The file of this project that says otherwise; the user's own comes last.
fn overruling(root: &Path, on: bool) -> Option<PathBuf> {
    let says = |file: &PathBuf| {
        let config: DocumentMut = user_config::read(file).ok()??.parse().ok()?;
        config.get("memory")?.get("enabled")?.as_bool()
    };
    let files = [".taut/config.local.toml", ".taut/config.toml"].map(|name| root.join(name));
    let (file, said) = files.into_iter().find_map(|file| says(&file).map(|said| (file, said)))?;
    (said != on).then_some(file)
}

/// Whether a file of this project switches memory off.
pub(super) fn is_off_here(root: &str) -> bool {
    overruling(Path::new(root), true).is_some()
}

/// What is one user's own is nothing for the repository.
fn keep_out_of_git(root: &Path, printer: &Printer) {
    let ignore = root.join(".taut/.gitignore");
    let made = File::options().write(true).create_new(true).open(&ignore);
    if made.and_then(|mut file| file.write_all(b"/config.local.toml\n/.gitignore\n")).is_ok() {
        return;
    }
    let text = user_config::read(&ignore).ok().flatten().unwrap_or_default();
    let keeps = |line: &str| matches!(line.trim().trim_start_matches('/'), "config.local.toml" | "*");
    if !text.lines().any(keeps) {
        printer.note(format!("note: add `config.local.toml` to {}: it is yours alone", ignore.display()));
    }
}

/// The configuration of a project counts once it is trusted: what the user has just agreed to is, where that was all
/// there is or the rest was trusted before.
fn in_project(on: bool, args: &SwitchArgs, printer: &Printer) -> Result<Exit, CliError> {
    let places = PathVariables::from_process();
    let root = agent_settings::project(&places)?;
    let file = local_file(&root)?;
    let change = user_config::plan_in(file, |config| set(config, on))?;
    let before = ProjectFiles::of(&root);
    let agreed =
        before.configuration_holds(&places.state()) || trust::FILES.iter().all(|name| !root.join(name).exists());
    let exit = make(&change, on, args, printer)?;
    if exit != Exit::Ok || args.dry_run {
        return Ok(exit);
    }
    keep_out_of_git(&root, printer);
    if agreed {
        ProjectFiles::of(&root).grant_configuration(&places.state())?;
    } else if on {
        printer.note("it holds once the project's configuration is trusted: `taut trust`");
    }
    Ok(exit)
}

/// A link would lead the change elsewhere, and whoever made the repository may have put it there.
fn local_file(root: &Path) -> Result<PathBuf, CliError> {
    let file = root.join(".taut/config.local.toml");
    let led = [root.join(".taut"), file.clone()].into_iter().find(|path| path.is_symlink());
    match led {
        None => Ok(file),
        Some(path) => Err(CliError::failed(format!("{} is a link; nothing was changed", path.display()))
            .hint(format!("ls -l '{}'", path.display()))),
    }
}

fn make(change: &ConfigChange, on: bool, args: &SwitchArgs, printer: &Printer) -> Result<Exit, CliError> {
    let diff = change.diff();
    let done = |changed: bool| {
        if printer.json() {
            printer.object(&json!({"file": change.file, "changed": changed, "enabled": on, "diff": diff}));
        }
    };
    if diff.is_empty() {
        done(false);
        if !printer.json() {
            printer.line(format!("memory is {} already; nothing to change", if on { "on" } else { "off" }));
        }
        return Ok(Exit::Ok);
    }
    if !printer.json() {
        printer.diff(&diff);
    }
    if args.dry_run {
        done(false);
        return Ok(Exit::Ok);
    }
    if !args.yes && !person::agrees(&format!("Change {} as shown above?", change.file.display()))? {
        printer.note("nothing was changed");
        return Ok(Exit::Failed);
    }
    change.write()?;
    done(true);
    if !printer.json() {
        printer.line(format!("written to {}", change.file.display()));
        let project = if args.project { " --project`" } else { "`" };
        for line in if on { GIVES } else { OFF }.lines() {
            printer.line(
                line.replace("memory on`", &format!("memory on{project}"))
                    .replace("memory off`", &format!("memory off{project}")),
            );
        }
    }
    Ok(Exit::Ok)
}

fn set(config: &mut DocumentMut, on: bool) -> Result<(), CliError> {
    if let Some(inline) = config.get_mut("memory").and_then(Item::as_inline_table_mut)
        && !inline.contains_key("enabled")
        && let Some((_, last)) = inline.iter_mut().last()
    {
        // The space before the brace is not one before a comma.
        last.decor_mut().set_suffix("");
    }
    let section = user_config::values(config, "memory")?;
    match section.get_mut("enabled").and_then(Item::as_value_mut) {
        Some(known) if known.as_bool() == Some(on) => {}
        // The words beside it are the user's.
        Some(known) => {
            let decor = known.decor().clone();
            *known = Value::from(on);
            *known.decor_mut() = decor;
        }
        None => {
            section.insert("enabled", value(on));
        }
    }
    Ok(())
}

/// What `init --memory` would stop at is said before anything is changed.
pub fn before_init(args: &InitArgs) -> Result<(), CliError> {
    if !args.memory {
        return Ok(());
    }
    let path = PathVariables::from_process().user_config();
    let file = SettingsSnapshot::read(&path).map_err(|error| as_cli_error(&error))?;
    set(&mut parse(&file)?, true)
}

/// Asked once the hooks are in, where nothing is said about it yet.
pub fn at_init(args: &InitArgs, exit: Exit, printer: &Printer) -> Result<Exit, CliError> {
    let asks = !args.yes && !args.dry_run && !args.memory && !printer.json();
    if exit != Exit::Ok || !(args.memory || asks) {
        return Ok(exit);
    }
    let places = PathVariables::from_process();
    let path = places.user_config();
    let file = SettingsSnapshot::read(&path).map_err(|error| as_cli_error(&error))?;
    let mut config = parse(&file)?;
    let said = config.get("memory").and_then(|memory| memory.get("enabled")).is_some();
    if asks && said {
        return Ok(exit);
    }
    set(&mut config, true)?;
    let backups = Backups::of(&places.state(), &file.target);
    let found = match backups.read_record() {
        Some(record) if file.text.as_ref() == Some(&record.after) => ExistingHooks::Ours,
        _ => ExistingHooks::NoneOfOurs,
    };
    let text = user_config::with_lines_of(file.text(), &config.to_string());
    let proposal = Proposal::install(file, InstallRequest { text, allow: Vec::new(), found });
    if !printer.json() {
        printer.diff(&proposal.diff());
    }
    if args.dry_run || !proposal.changes_anything() {
        return Ok(exit);
    }
    if asks && !person::agrees(QUESTION)? {
        printer.note("memory stays as it is; `taut memory on` switches it on later");
        return Ok(exit);
    }
    proposal.apply(&places.state(), host::clock::now()).map_err(|error| as_cli_error(&error))?;
    if !printer.json() {
        for line in GIVES.lines() {
            printer.line(line);
        }
    }
    Ok(exit)
}

/// What `taut init` put there goes with its last hooks; what anybody else wrote stays.
pub fn removal(
    whose: SettingsOwner,
    leaving: &[&'static Dialect],
    places: &PathVariables,
) -> Result<Option<Proposal>, CliError> {
    let file = SettingsSnapshot::read(&places.user_config()).map_err(|error| as_cli_error(&error))?;
    let Some(record) = Backups::of(&places.state(), &file.target).read_record() else { return Ok(None) };
    let judge = judge_here(None)?;
    let installed = installed(places, Path::new(&judge.project_policy().project.work_tree));
    let goes = |at: &InstalledHooks| {
        let leaves = leaving.iter().any(|dialect| dialect.id() == at.dialect.id());
        leaves && at.levels.iter().all(|level| *level == whose.name())
    };
    if !installed.iter().all(goes) {
        return Ok(None);
    }
    let mut config = parse(&file)?;
    let on = config.get("memory").and_then(|memory| memory.get("enabled")?.as_bool()) == Some(true);
    if !on {
        return Ok(None);
    }
    let section = user_config::values(&mut config, "memory")?;
    section.remove("enabled");
    if section.is_empty() {
        config.remove("memory");
    }
    let text = user_config::with_lines_of(file.text(), &config.to_string());
    let left = if text.trim().is_empty() && !record.existed { LeftBehind::Nothing } else { LeftBehind::Settings };
    Ok(Some(Proposal::uninstall(file, UninstallRequest { text, left }, Some(&record))))
}

fn parse(file: &SettingsSnapshot) -> Result<DocumentMut, CliError> {
    file.text().parse().map_err(|error: toml_edit::TomlError| {
        CliError::failed(format!("{} is not TOML; nothing was changed in it", file.path.display()))
            .because(&error)
            .hint("taut policy check")
    })
}
