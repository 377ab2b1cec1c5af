//! `taut init`: shows the change to the agent's settings, asks, makes it, and
//! proves that the guard answers through it.

use crate::agent_settings::{self, InstallProof, SETTINGS, SettingsOwner, as_cli_error, misread};
use crate::args::InitArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::mcp_registration;
use crate::person;
use crate::printer::{Printer, text};
use agents::settings::{DENIED_COMMAND, SettingsPlan};
use host::install::preset::{self, NewFile};
use host::install::program::{self, BuildPath};
use host::install::{ExistingHooks, InstallRequest, Installed, Proposal, intent};
use host::paths::PathVariables;
use host::settings_file::{SettingsFileChange, SettingsFileError, SettingsLevel, SettingsSnapshot};
use policy::presets::Preset;
use serde_json::json;
use std::path::Path;

/// How often a file that changes under our hands is read again.
const TRIES: usize = 3;

pub fn run(args: &InitArgs, printer: &Printer) -> Result<Exit, CliError> {
    let places = PathVariables::from_process();
    let preset = args.preset.as_deref().map(find_preset).transpose()?;
    let whose = match (args.local, args.project || preset.is_some()) {
        (true, _) => SettingsOwner::Local,
        (false, true) => SettingsOwner::Project,
        (false, false) => SettingsOwner::User,
    };
    if !args.dry_run {
        if args.yes { person::outside_agents("init")? } else { agent_settings::can_ask("init")? }
    }
    let level = whose.level(&places)?;
    let plan = planned(args, &places, &level, preset)?;
    if let Some(note) = (SETTINGS.versions.note)(plan.client) {
        printer.note(note);
    }
    let files = preset_files(&level, preset)?;
    for attempt in 1.. {
        let proposal = propose(&agent_settings::file(&level, &places, agents::DEFAULT)?, &plan)?;
        let server = args.mcp.then(|| mcp_registration::propose(&places, &plan.command)).transpose()?;
        show(&proposal, &files, printer);
        show_server(server.as_ref(), printer);
        let ignored = ignored_for(&proposal);
        if let Some(why) = &ignored {
            printer.note(text!("{} {}", printer.yellow("warning:"), why));
        }
        if args.dry_run {
            if printer.json() {
                printer.object(&json!({
                    "file": proposal.file.path,
                    "changes": proposal.changes_anything(),
                    "diff": proposal.diff(),
                    "mcp": server.as_ref().map(|server| json!({"file": server.file.path, "diff": server.diff()})),
                    "files": files.iter().map(|file| &file.path).collect::<Vec<_>>(),
                }));
            }
            return Ok(Exit::Ok);
        }
        let registers = server.as_ref().is_some_and(Proposal::changes_anything);
        let anything = proposal.changes_anything() || registers || !files.is_empty();
        if anything && !args.yes && !person::agrees("Make this change?")? {
            printer.note("nothing was changed");
            return Ok(Exit::Failed);
        }
        // The list of servers first: the client writes that file often, and then all of this is looked at again.
        let listed = server
            .as_ref()
            .map_or(Ok(Installed::default()), |server| server.apply(&places.state(), host::clock::now()));
        match listed.and_then(|_| proposal.apply(&places.state(), host::clock::now())) {
            Ok(done) => {
                preset::write(&files).map_err(|error| as_cli_error(&error))?;
                if preset.is_some() {
                    agreed(&level, &places, printer)?;
                }
                let aliases = preset.map(|preset| preset.aliases).unwrap_or_default();
                preset::link_aliases(&places.state(), Path::new(&plan.command), aliases)
                    .map_err(|error| as_cli_error(&error))?;
                intent::withdraw(&places.state());
                let outcome = Outcome { proposal: &proposal, done: &done, server: server.as_ref(), ignored };
                return prove(&outcome, &plan, printer);
            }
            Err(SettingsFileError::Changed { path }) if attempt < TRIES => {
                printer.note(format!("{} has just been changed by someone else; looking again", path.display()));
            }
            Err(error) => return Err(as_cli_error(&error)),
        }
    }
    Ok(Exit::Failed)
}

fn planned(
    args: &InitArgs,
    places: &PathVariables,
    level: &SettingsLevel,
    preset: Option<&Preset>,
) -> Result<SettingsPlan, CliError> {
    let build_path = if args.allow_build_path { BuildPath::Allowed } else { BuildPath::Refused };
    let search = std::env::var_os("PATH").unwrap_or_default();
    let command =
        program::to_install(&std::env::current_exe()?, &search, build_path).map_err(|error| as_cli_error(&error))?;
    let mut plan = agent_settings::plan(places, level, agent_settings::client(), command);
    plan.allow =
        preset.map(|preset| preset.permissions_allow).unwrap_or_default().iter().map(ToString::to_string).collect();
    Ok(plan)
}

fn propose(path: &Path, plan: &SettingsPlan) -> Result<Proposal, CliError> {
    let file = SettingsSnapshot::read(path).map_err(|error| as_cli_error(&error))?;
    let ours = (SETTINGS.inspect)(file.text()).map_err(|error| misread(path, &error))?;
    let edited = (SETTINGS.edit)(file.text(), plan).map_err(|error| misread(path, &error))?;
    let found = if ours.entries.is_empty() { ExistingHooks::NoneOfOurs } else { ExistingHooks::Ours };
    Ok(Proposal::install(file, InstallRequest { text: edited.text, allow: edited.allow, found }))
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

/// The user has just read and agreed to the preset's configuration: it is
/// trusted as it stands, unless a file they were not shown lies beside it.
fn agreed(level: &SettingsLevel, places: &PathVariables, printer: &Printer) -> Result<(), CliError> {
    let (SettingsLevel::Project(project) | SettingsLevel::Local(project)) = level else { return Ok(()) };
    let tree = host::probe::project(project, &places.home()).work_tree;
    if Path::new(&tree).join(".taut/config.local.toml").exists() {
        printer.note(
            "the project has a local configuration that was not shown; `taut trust` switches the preset's skills on",
        );
        return Ok(());
    }
    // The loop's hooks, if there are any, were not shown either.
    Ok(host::trust::ProjectFiles::of(Path::new(&tree)).grant_configuration(&places.state())?)
}

fn show(proposal: &Proposal, files: &[NewFile], printer: &Printer) {
    if printer.json() {
        return;
    }
    if !proposal.changes_anything() {
        printer.line(format!("{} has Taut's hooks already; nothing to change there", proposal.file.path.display()));
    }
    printer.diff(&proposal.diff());
    for file in files {
        printer.diff(&host::settings_file::unified(&file.path.to_string_lossy(), None, Some(&file.text)));
    }
}

fn show_server(server: Option<&Proposal>, printer: &Printer) {
    let Some(server) = server.filter(|_| !printer.json()) else { return };
    if !server.changes_anything() {
        printer.line(format!("{} has Taut's server already; nothing to change there", server.file.path.display()));
    }
    printer.diff(&server.diff());
}

/// Why the client will not read the file at all, hooks or not.
fn ignored_for(proposal: &Proposal) -> Option<String> {
    let SettingsFileChange::Text(text) = &proposal.after else {
        return None;
    };
    let error = (SETTINGS.inspect)(text).ok()?.ignored_for?;
    let place = format!("{}:{}:{}", proposal.file.path.display(), error.line, error.column);
    Some(format!("{place}: {}; until it is gone no hook runs, ours or others", error.why))
}

struct Outcome<'p> {
    proposal: &'p Proposal,
    done: &'p Installed,
    server: Option<&'p Proposal>,
    ignored: Option<String>,
}

/// Tells the guard of a command that it must deny, through the line that was
/// just installed.
fn prove(outcome: &Outcome<'_>, plan: &SettingsPlan, printer: &Printer) -> Result<Exit, CliError> {
    let Outcome { proposal, done, server, ignored } = outcome;
    let failed = |what: String| CliError::failed(what).hint("`taut doctor` finds out where it goes wrong");
    let InstallProof { denial, stderr, .. } = agent_settings::prove(Path::new(&plan.command))
        .map_err(|error| failed("the hooks are installed, but the proof could not be run".into()).because(&error))?;
    let Some(reason) = denial else {
        let said = if stderr.trim().is_empty() { "it said nothing".to_owned() } else { stderr.trim().to_owned() };
        return Err(failed(format!("the hooks are installed, but `{}` was not denied: {said}", DENIED_COMMAND)));
    };
    if server.is_some() {
        mcp_registration::prove(Path::new(&plan.command))
            .map_err(|why| failed(format!("the server is registered, but {why}")))?;
    }
    if printer.json() {
        printer.object(&json!({
            "mcp": server.map(|server| &server.file.path),
            "file": proposal.file.path,
            "changed": proposal.changes_anything(),
            "copy": done.copy,
            "command": plan.command,
            "denied": DENIED_COMMAND,
            "reason": reason,
            "ignored_by_client": ignored,
        }));
        return Ok(Exit::Ok);
    }
    if let Some(copy) = &done.copy {
        printer.line(printer.dim(format!("a copy of the file as it was: {}", copy.display())));
    }
    let word = match ignored {
        None if !proposal.changes_anything() => printer.green("as it was, and it works:"),
        None => printer.green("installed in"),
        Some(_) => printer.yellow(format!("written, but not read by {} as it is:", agents::DEFAULT.profile.name)),
    };
    printer.line(text!("{} {}", word, proposal.file.path.display()));
    if let Some(server) = server {
        printer.line(text!("{} {}, and it answers", printer.green("server registered in"), server.file.path.display()));
    }
    printer.line("");
    printer.line(format!("Proof, through the installed line: an agent that wants to run `{}` is told", DENIED_COMMAND));
    for line in reason.lines() {
        printer.line(text!("  {} {}", printer.red("│"), line));
    }
    printer.line("");
    printer.line("A small daemon starts with the next session and makes hooks cheap; it ends by itself when idle.");
    printer
        .line("`taut daemon stop` ends it, `TAUT_NO_DAEMON=1` keeps it away, `taut uninstall` takes all of this back.");
    Ok(Exit::Ok)
}
