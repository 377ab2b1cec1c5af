//! `taut answer on`, `off` and `status`: the second line in the user's own settings of the client is the switch, and the
//! only one. What the client does not run cannot be on, and what is in no file of the user's cannot be either.

use crate::agent_settings::{self, as_cli_error, misread};
use crate::commands::stored;
use crate::error::CliError;
use crate::exit::Exit;
use crate::person;
use crate::printer::Printer;
use crate::waiting_line::{self, WaitingFile};
use agents::Dialect;
use agents::settings::{KnownClient, SettingsPlan};
use clap::Args;
use host::install::{ExistingHooks, InstallRequest, Proposal};
use host::paths::PathVariables;
use host::settings_file::{SettingsFileError, SettingsLevel};
use model::card::CardState;
use serde_json::json;
use store::CardFilter;

#[derive(Debug, Clone, Args)]
pub struct AnswerSwitchArgs {
    /// Show the change and make none
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
}

/// How often a file that changes under our hands is read again.
const TRIES: usize = 3;

const GIVES: &str = "Agents can be answered from elsewhere, from their next permission, question or plan on:
- `taut answer` lists what waits, `taut answer <agent>` shows and answers it; so do `taut ui` and `taut top`
- the client's own dialog stays as it is, and whoever answers there first is the one who counts
- a message wakes an agent at rest, also where nobody can type into its terminal
- nothing is answered by itself, and what the guard denies is not asked
`taut answer off` takes it back.";

const OFF: &str = "Agents are answered at their own terminals again. `taut answer on` switches it on.";

pub fn on(args: &AnswerSwitchArgs, printer: &Printer) -> Result<Exit, CliError> {
    may_switch("answer on", args)?;
    for attempt in 1.. {
        let files = with_hooks()?;
        let mut changes = Vec::new();
        let agents: Vec<_> = files.iter().map(|file| file.dialect).collect();
        for (file, client) in files.into_iter().zip(agent_settings::clients(&agents)) {
            changes.push(put_in(file, client, printer)?);
        }
        if let Some(exit) = make(changes, true, args, attempt, printer)? {
            return Ok(exit);
        }
    }
    Ok(Exit::Failed)
}

pub fn off(args: &AnswerSwitchArgs, printer: &Printer) -> Result<Exit, CliError> {
    may_switch("answer off", args)?;
    for attempt in 1.. {
        let mut changes = Vec::new();
        let files = WaitingFile::all(&PathVariables::from_process())?;
        let agents: Vec<_> = files.iter().map(|file| file.dialect).collect();
        for (file, client) in files.into_iter().zip(agent_settings::clients(&agents)) {
            changes.push(take_out(file, client)?);
        }
        if let Some(exit) = make(changes, false, args, attempt, printer)? {
            if exit == Exit::Ok && !args.dry_run {
                let_go()?;
            }
            return Ok(exit);
        }
    }
    Ok(Exit::Failed)
}

pub fn status(printer: &Printer) -> Result<Exit, CliError> {
    let places = PathVariables::from_process();
    let waiting = match stored()? {
        Some(store) => actions::open_cards(&store)?.len(),
        None => 0,
    };
    let (mut files, mut unread) = (Vec::new(), Vec::new());
    for (dialect, read) in WaitingFile::each(&places) {
        match read {
            Ok(file) => files.push(file),
            Err(error) => unread.push((dialect, error)),
        }
    }
    for (dialect, error) in &unread {
        say_unread(dialect, error, printer);
    }
    let agents: Vec<_> = files.iter().map(|file| file.dialect).collect();
    for (file, client) in files.iter().zip(agent_settings::clients(&agents)) {
        let (is_on, check) = (file.is_on(), waiting_line::check(file.dialect, &places, client));
        let wrong = check.as_ref().and_then(|check| check.fix.as_ref().map(|fix| (check.detail.clone(), fix.clone())));
        if printer.json() {
            let (problem, fix) = wrong.map_or((None, None), |(detail, fix)| (Some(detail), Some(fix)));
            printer.object(&json!({
                "agent": file.dialect.id(), "on": is_on, "file": file.snapshot.path, "waiting": waiting,
                "problem": problem, "fix": fix,
            }));
            continue;
        }
        let (name, path) = (file.dialect.profile.name, file.snapshot.path.display());
        match (is_on, wrong) {
            (true, None) => printer.line(format!("{name} can be answered from elsewhere: {path}")),
            (true, Some((detail, fix))) => printer.line(format!("{name}: {detail}; `{fix}`")),
            (false, _) => {
                printer.line(format!(
                    "{name} is answered at its own terminal; `taut answer on` lets you answer it from elsewhere"
                ));
            }
        }
    }
    if waiting > 0 && !printer.json() {
        printer.line(format!("{waiting} waiting for an answer: `taut answer` lists what"));
    }
    Ok(if unread.is_empty() { Exit::Ok } else { Exit::Failed })
}

/// Settings that cannot be read say neither that it is on nor that it is off.
fn say_unread(dialect: &Dialect, error: &CliError, printer: &Printer) {
    let (name, why) = (dialect.profile.name, error.what().trim_end_matches("; nothing was changed"));
    let fix = "taut doctor";
    if printer.json() {
        printer.object(&json!({"agent": dialect.id(), "on": null, "problem": why, "fix": fix}));
    } else {
        printer.line(format!(
            "{name}: whether it can be answered from elsewhere is not known: {why}; `{fix}` looks at it"
        ));
    }
}

fn may_switch(command: &str, args: &AnswerSwitchArgs) -> Result<(), CliError> {
    match (args.dry_run, args.yes) {
        (true, _) => Ok(()),
        (false, true) => person::outside_agents(command),
        (false, false) => agent_settings::can_ask(command),
    }
}

/// The settings that hold our hooks: without them nobody knows whose call it is that waits.
fn with_hooks() -> Result<Vec<WaitingFile>, CliError> {
    let mut files = WaitingFile::all(&PathVariables::from_process())?;
    files.retain(|file| !file.found.entries.is_empty());
    if files.is_empty() {
        let names: Vec<_> = waiting_line::dialects().map(|dialect| dialect.profile.name).collect();
        return Err(CliError::failed(format!(
            "Taut's hooks are not in your own settings of {}, and an answer needs them",
            names.join(" or ")
        ))
        .hint("taut init"));
    }
    Ok(files)
}

fn put_in(file: WaitingFile, client: KnownClient, printer: &Printer) -> Result<(WaitingFile, Proposal), CliError> {
    let (name, versions) = (file.dialect.profile.name, &file.dialect.settings.versions);
    if let KnownClient::Known(version) = client
        && !client.has(file.line.since)
    {
        let since = file.line.since;
        return Err(CliError::failed(format!(
            "{name} {version} cannot be answered from elsewhere: it does not say what it waits for; {since} does"
        ))
        .hint(versions.update));
    }
    if let Some(error) = &file.found.ignored_for {
        let place = format!("{}:{}:{}", file.snapshot.path.display(), error.line, error.column);
        printer.note(format!("{place}: {}; until it is gone no hook runs, ours or others", error.why));
    }
    // The same program that the hooks call.
    let command = file.found.entries.first().map(|entry| entry.program.clone()).unwrap_or_default();
    let base = agent_settings::plan(&PathVariables::from_process(), &SettingsLevel::User, client, command);
    let plan = SettingsPlan { client, ..base };
    let edited = (file.line.edit)(file.snapshot.text(), &plan).map_err(|error| misread(&file.snapshot.path, &error))?;
    let text = with_needed_events(&file, edited.text, &plan)?;
    Ok(proposal(file, text))
}

fn take_out(file: WaitingFile, client: KnownClient) -> Result<(WaitingFile, Proposal), CliError> {
    let edited = (file.line.remove)(file.snapshot.text()).map_err(|error| misread(&file.snapshot.path, &error))?;
    let mut text = edited.text;
    if let Some(entry) = file.found.entries.first().filter(|_| file.is_on()) {
        let command = entry.program.clone();
        let plan = agent_settings::plan(&PathVariables::from_process(), &SettingsLevel::User, client, command);
        text = with_needed_events(&file, text, &plan)?;
    }
    Ok(proposal(file, text))
}

/// What became of an answer is told after its call: the hooks follow the switch.
fn with_needed_events(file: &WaitingFile, text: String, plan: &SettingsPlan) -> Result<String, CliError> {
    let edited = (file.dialect.settings.edit)(&text, plan).map_err(|error| misread(&file.snapshot.path, &error))?;
    Ok(edited.text)
}

/// Both ways it is a change to what we have put there, so that the record is of what stands.
fn proposal(file: WaitingFile, text: String) -> (WaitingFile, Proposal) {
    let request = InstallRequest { text, allow: Vec::new(), found: ExistingHooks::Ours };
    let proposed = Proposal::install(file.snapshot.clone(), request);
    (file, proposed)
}

/// `None` where a file has changed meanwhile and is to be looked at again.
fn make(
    changes: Vec<(WaitingFile, Proposal)>,
    on: bool,
    args: &AnswerSwitchArgs,
    attempt: usize,
    printer: &Printer,
) -> Result<Option<Exit>, CliError> {
    let said = |changed: bool| {
        for (file, change) in changes.iter().filter(|_| printer.json()) {
            let (path, diff) = (&file.snapshot.path, change.diff());
            printer
                .object(&json!({"agent": file.dialect.id(), "file": path, "changed": changed, "on": on, "diff": diff}));
        }
    };
    if !changes.iter().any(|(_, change)| change.changes_anything()) {
        said(false);
        if !printer.json() {
            printer.line(format!("answering is {} already; nothing to change", if on { "on" } else { "off" }));
        }
        return Ok(Some(Exit::Ok));
    }
    for (_, change) in changes.iter().filter(|_| !printer.json()) {
        printer.diff(&change.diff());
    }
    if args.dry_run {
        said(false);
        return Ok(Some(Exit::Ok));
    }
    let files: Vec<_> = changes
        .iter()
        .filter(|(_, change)| change.changes_anything())
        .map(|(file, _)| file.snapshot.path.display().to_string())
        .collect();
    if !args.yes && !person::agrees(&format!("Change {} as shown above?", files.join(" and ")))? {
        printer.note("nothing was changed");
        return Ok(Some(Exit::Failed));
    }
    for (_, change) in &changes {
        match change.apply(&PathVariables::from_process().state(), host::clock::now()) {
            Ok(done) => done.notes.iter().for_each(|note| printer.note(note)),
            Err(SettingsFileError::Changed { path }) if attempt < TRIES => {
                printer.note(format!("{} has just been changed by someone else; looking again", path.display()));
                return Ok(None);
            }
            Err(error) => return Err(as_cli_error(&error)),
        }
    }
    said(true);
    if !printer.json() {
        if on { GIVES } else { OFF }.lines().for_each(|line| printer.line(line));
    }
    Ok(Some(Exit::Ok))
}

/// What is held open is let go of: their holders end when they see it.
fn let_go() -> Result<(), CliError> {
    let Some(mut store) = stored()? else { return Ok(()) };
    for card in store.cards(&CardFilter::default())? {
        store.step_card(&card.id, CardState::Open, CardState::LetGo, host::clock::now())?;
    }
    Ok(())
}
