//! `taut memory`: what is remembered here, and forgetting it for good.

use super::memory_switch::{self, MemorySwitch};
use super::{is_anything_kept, open_and_take_in, recall, stored};
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, text};
use crate::{past_time, person};
use clap::{Args, Subcommand};
use engine::project_mark;
use host::paths::PathVariables;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Duration;
use store::recall::RecallIndex;
use store::{ForgetCount, ForgetScope, Store};

const PATIENCE: Duration = Duration::from_secs(10);
const CATCH_UP: Duration = Duration::from_secs(2);

#[derive(Debug, Subcommand)]
pub enum MemoryVerb {
    /// Say what is remembered here: whether it is on, how much there is, and how far the index is
    Status,
    #[command(flatten)]
    Switch(MemorySwitch),
    /// Forget for good: events, messages, notes, efforts and what can be recalled (people only)
    Forget(ForgetMemoryArgs),
}

#[derive(Debug, Args)]
#[group(skip)]
#[command(group = clap::ArgGroup::new("what").required(true).args(["project", "session", "before"]))]
pub struct ForgetMemoryArgs {
    /// All of the project of this folder, or of another
    #[arg(long, value_name = "PATH", num_args = 0..=1, default_missing_value = ".")]
    pub project: Option<PathBuf>,
    /// All of one session (our id, or the id the session is known by)
    #[arg(long)]
    pub session: Option<String>,
    /// All that is older: 30d, 8w, 2026-11-01
    #[arg(long)]
    pub before: Option<String>,
    /// Say what would be forgotten, and forget nothing
    #[arg(long)]
    pub dry_run: bool,
}

pub fn run(verb: Option<&MemoryVerb>, printer: &Printer) -> Result<Exit, CliError> {
    match verb {
        None | Some(MemoryVerb::Status) => status(printer),
        Some(MemoryVerb::Switch(switch)) => memory_switch::run(switch, printer),
        Some(MemoryVerb::Forget(args)) => forget(args, printer),
    }
}

fn status(printer: &Printer) -> Result<Exit, CliError> {
    let places = PathVariables::from_process();
    let judge = super::judge_here(None)?;
    let policy = judge.project_policy();
    let memory = &policy.policy.sections.memory;
    let root = &policy.project.root;
    let on = match memory.enabled {
        Some(true) => "on: sessions leave notes, and the next one is told of them; `taut memory off` takes it back",
        Some(false) => "off: nothing of this project is noted, indexed or told; `taut memory on` changes that",
        None => "off: only what you look up yourself is kept; `taut memory on` lets sessions remember",
    };
    if !printer.json() {
        printer.line(text!("memory   {}", on));
    }
    let Some(store) = stored()? else {
        if printer.json() {
            printer.object(&json!({"project": root, "enabled": memory.enabled, "entries": 0}));
        } else {
            printer.note("nothing is remembered yet; `taut init` installs the hooks that tell of it");
        }
        return Ok(Exit::Ok);
    };
    let mut index = RecallIndex::open(&places.state())?;
    let setting = service::setting(&places);
    let caught = pipeline::catch_up(&mut index, &store, &mut pipeline::MemorySwitches::new(&setting), CATCH_UP)?;
    let (here, all) = (index.size(Some(root))?, index.size(None)?);
    let count = store.forget_count(&ForgetScope::Project(root.clone()))?;
    if printer.json() {
        printer.object(&json!({
            "project": root, "enabled": memory.enabled, "events": count.events, "messages": count.messages,
            "notes": count.notes, "efforts": count.efforts + count.open_efforts, "entries": here.entries,
            "all_entries": all.entries, "index_bytes": all.bytes, "behind": caught.behind, "keep_days": memory.keep_days,
        }));
        return Ok(Exit::Ok);
    }
    printer.line(text!("here     {} entries in {}", here.entries, root.as_str()));
    printer.line(text!(
        "made of  {} events, {} messages, {} notes, {} efforts",
        count.events,
        count.messages,
        count.notes,
        count.efforts + count.open_efforts
    ));
    printer.line(text!(
        "index    {} entries of all projects, {} KB, kept {} days",
        all.entries,
        all.bytes / 1024,
        memory.keep_days
    ));
    recall::say_behind(caught, printer);
    Ok(Exit::Ok)
}

fn forget(args: &ForgetMemoryArgs, printer: &Printer) -> Result<Exit, CliError> {
    const NAME: &str = "memory forget";
    if args.dry_run { person::outside_agents(NAME) } else { person::required(NAME) }?;
    let places = PathVariables::from_process();
    if !is_anything_kept(&places.state()) {
        printer.note("nothing is remembered yet, so there is nothing to forget");
        return Ok(Exit::Ok);
    }
    // What was put by in bad times is taken in first: it is forgotten with the rest.
    let mut store = open_and_take_in(&places, PATIENCE)?;
    let mut index = RecallIndex::open(&places.state())?;
    let scopes = scopes(args, &store, &places)?;
    let mut count = ForgetCount::default();
    let mut entries = 0;
    for scope in &scopes {
        add(&mut count, store.forget_count(scope)?);
        entries += index.count(scope)?;
    }
    let folders = folders(&scopes, &count, &places.state());
    say(&count, entries, &folders, printer);
    if args.dry_run {
        return Ok(Exit::Ok);
    }
    if !person::agrees("Forget this for good?")? {
        printer.note("nothing changed");
        return Ok(Exit::Failed);
    }
    for scope in &scopes {
        store.forget(scope)?;
        index.forget(scope)?;
    }
    for folder in &folders {
        std::fs::remove_dir_all(folder).map_err(|cause| {
            CliError::failed(format!("the rows are forgotten, but {} could not be removed", folder.display()))
                .because(&cause)
                .hint("remove it by hand")
        })?;
    }
    if printer.json() {
        printer.object(&json!({"forgotten": true, "events": count.events, "entries": entries}));
    } else {
        printer.line("forgotten");
    }
    say_copies(&places.state(), printer);
    Ok(Exit::Ok)
}

fn scopes(args: &ForgetMemoryArgs, store: &Store, places: &PathVariables) -> Result<Vec<ForgetScope>, CliError> {
    if let Some(folder) = &args.project {
        let root = host::probe::project(&std::path::absolute(folder)?, &places.home()).root;
        return Ok(vec![ForgetScope::Project(root)]);
    }
    if let Some(before) = &args.before {
        return Ok(vec![ForgetScope::Before(past_time::read(before, "--before")?)]);
    }
    let named = args.session.as_deref().unwrap_or_default();
    let mut ids = store.session_ids(named)?;
    if ids.is_empty() {
        // Its row may be gone while what it said can still be recalled.
        ids.push(named.to_string());
    }
    Ok(ids.into_iter().map(ForgetScope::Session).collect())
}

fn add(sum: &mut ForgetCount, one: ForgetCount) {
    sum.events += one.events;
    sum.messages += one.messages;
    sum.notes += one.notes;
    sum.efforts += one.efforts;
    sum.sessions += one.sessions;
    sum.open_sessions += one.open_sessions;
    sum.open_efforts += one.open_efforts;
    sum.tasks += one.tasks;
    sum.folders.extend(one.folders);
}

/// Only folders of our own: a task may name one in the work tree, which is the user's. With a project goes all that
/// lies in its folder, facts included, unless a running session's effort keeps its artifacts there.
fn folders(scopes: &[ForgetScope], count: &ForgetCount, state: &Path) -> Vec<PathBuf> {
    let ours = state.join("projects");
    let mut found: Vec<PathBuf> = count.folders.iter().filter(|folder| is_below(folder, &ours)).cloned().collect();
    if let ([ForgetScope::Project(root)], 0) = (scopes, count.open_efforts) {
        found = vec![ours.join(project_mark(root))];
    }
    found.retain(|folder| folder.symlink_metadata().is_ok_and(|found| found.is_dir()));
    found
}

fn is_below(folder: &Path, ours: &Path) -> bool {
    let plain = |part| matches!(part, std::path::Component::Normal(_));
    folder.strip_prefix(ours).is_ok_and(|rest| rest.components().count() > 0 && rest.components().all(plain))
}

fn say(count: &ForgetCount, entries: u64, folders: &[PathBuf], printer: &Printer) {
    printer.note(format!(
        "to be forgotten: {} events, {} messages, {} notes, {} efforts, {} ended sessions, {entries} entries of the index",
        count.events, count.messages, count.notes, count.efforts, count.sessions
    ));
    folders.iter().for_each(|folder| printer.note(format!("  and the folder {}", folder.display())));
    if count.open_sessions + count.open_efforts + count.tasks > 0 {
        printer.note(format!(
            "what stays: {} running sessions, {} efforts that they carry, {} tasks of the queue",
            count.open_sessions, count.open_efforts, count.tasks
        ));
    }
}

/// Copies that were made before are the user's.
fn say_copies(state: &Path, printer: &Printer) {
    let files = std::fs::read_dir(state).into_iter().flatten().flatten();
    let is_copy = |name: &str| name.starts_with("taut.db.") && name != "taut.db.lock" || name == store::UNREADABLE;
    let mut copies: Vec<PathBuf> =
        files.filter(|file| file.file_name().to_str().is_some_and(is_copy)).map(|file| file.path()).collect();
    copies.sort();
    for copy in copies {
        printer
            .note(format!("a copy from before may still hold it; remove it if you do not need it: {}", copy.display()));
    }
}
