//! `taut memory on` and `off`: one key of the user's own configuration, or of this project's local one, shown before it
//! is changed. And the same question at `taut init`, whose answer `taut uninstall` takes back.

use super::{judge_here, overview};
use crate::agent_settings::{self, as_cli_error};
use crate::args::{InitArgs, UninstallArgs};
use crate::error::CliError;
use crate::exit::Exit;
use crate::person;
use crate::printer::Printer;
use crate::user_config::{self, ConfigChange};
use clap::{Args, Subcommand};
use host::install::{ExistingHooks, InstallRequest, LeftBehind, Proposal, UninstallRequest};
use host::paths::PathVariables;
use host::settings_file::{Backups, SettingsSnapshot};
use host::trust::{self, ProjectFiles};
use serde_json::json;
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
    make(&change, on, args, printer)
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
        for line in if on { GIVES } else { OFF }.lines() {
            printer.line(line);
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
    if asks && (said || !person::agrees(QUESTION)?) {
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
    proposal.apply(&places.state(), host::clock::now()).map_err(|error| as_cli_error(&error))?;
    if !printer.json() {
        for line in GIVES.lines() {
            printer.line(line);
        }
    }
    Ok(exit)
}

/// What `taut init` put there goes with its last hooks; what anybody else wrote stays.
pub fn at_uninstall(args: &UninstallArgs, exit: Exit, printer: &Printer) -> Result<Exit, CliError> {
    let places = PathVariables::from_process();
    let file = SettingsSnapshot::read(&places.user_config()).map_err(|error| as_cli_error(&error))?;
    let Some(record) = Backups::of(&places.state(), &file.target).read_record() else { return Ok(exit) };
    let hooks_left = || -> Result<bool, CliError> {
        let judge = judge_here(None)?;
        Ok(!overview::installed(&places, Path::new(&judge.project_policy().project.work_tree)).is_empty())
    };
    if exit != Exit::Ok || (!args.dry_run && hooks_left()?) {
        return Ok(exit);
    }
    let mut config = parse(&file)?;
    let on = config.get("memory").and_then(|memory| memory.get("enabled")?.as_bool()) == Some(true);
    if !on {
        return Ok(exit);
    }
    let section = user_config::values(&mut config, "memory")?;
    section.remove("enabled");
    if section.is_empty() {
        config.remove("memory");
    }
    let text = user_config::with_lines_of(file.text(), &config.to_string());
    let left = if text.trim().is_empty() && !record.existed { LeftBehind::Nothing } else { LeftBehind::Settings };
    let proposal = Proposal::uninstall(file, UninstallRequest { text, left }, Some(&record));
    if !printer.json() {
        printer.diff(&proposal.diff());
    }
    if !args.dry_run {
        let done = proposal.apply(&places.state(), host::clock::now()).map_err(|error| as_cli_error(&error))?;
        done.notes.iter().for_each(|note| printer.note(note));
    }
    Ok(exit)
}

fn parse(file: &SettingsSnapshot) -> Result<DocumentMut, CliError> {
    file.text().parse().map_err(|error: toml_edit::TomlError| {
        CliError::failed(format!("{} is not TOML; nothing was changed in it", file.path.display()))
            .because(&error)
            .hint("taut policy check")
    })
}
