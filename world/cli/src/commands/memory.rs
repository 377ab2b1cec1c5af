//! `taut memory`: what is remembered here, and forgetting it for good.

use super::memory_switch::{self, MemorySwitch, is_off_here};
use super::pending_forget::PendingForget;
use super::{counted, is_anything_kept, open_and_take_in, recall, stored};
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, text};
use crate::{past_time, person};
use clap::{Args, Subcommand};
use engine::project_mark;
use host::paths::PathVariables;
use model::ClientProcess;
use model::fact::Life;
use model::memory_file;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Duration;
use store::recall::RecallIndex;
use store::{ForgetCount, ForgetScope, Store};
use sys::outside::{self, Rules};

const PATIENCE: Duration = Duration::from_secs(10);
const CATCH_UP: Duration = Duration::from_secs(2);

const UNSET: &str = "nothing is told to sessions except for efforts and under `taut run`; you can `taut recall` what was \
    said and done; `taut memory on` lets sessions remember";

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
    /// All of one session (an id of it, or its beginning as `taut sessions` shows it)
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
    let (state, said) = match memory.enabled {
        Some(true) => (
            "on",
            "sessions leave notes, and the next one is told of them; `taut memory off` takes it back".to_string(),
        ),
        Some(false) => {
            let on = if is_off_here(&policy.project.work_tree) { "taut memory on --project" } else { "taut memory on" };
            ("off", format!("nothing of this project is noted, indexed or told; `{on}` changes that"))
        }
        None => ("unset", UNSET.to_string()),
    };
    let shown = if state == "unset" { "not on" } else { state };
    if !printer.json() {
        printer.line(text!("memory   {}: {}", shown, said));
    }
    let Some(store) = stored()? else {
        if printer.json() {
            printer.object(&json!({"project": root, "state": state, "enabled": memory.enabled, "entries": 0}));
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
            "project": root, "state": state, "enabled": memory.enabled, "events": count.events, "messages": count.messages,
            "notes": count.notes, "efforts": count.efforts + count.open_efforts, "entries": here.entries,
            "all_entries": all.entries, "index_bytes": all.bytes, "behind": caught.behind, "keep_days": memory.keep_days,
        }));
        return Ok(Exit::Ok);
    }
    printer.line(text!("here     {} in {}", counted(here.entries, "entry"), root.as_str()));
    printer.line(text!(
        "made of  {}, {}, {}, {}",
        counted(count.events, "event"),
        counted(count.messages, "message"),
        counted(count.notes, "note"),
        counted(count.efforts + count.open_efforts, "effort")
    ));
    printer.line(text!(
        "index    {} of all projects, {} KB, kept {} days",
        counted(all.entries, "entry"),
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
    store.count_as_ended(&gone_clients(&store)?)?;
    let asked = asked(args)?;
    if let Some(pending) = PendingForget::read(&places.state())? {
        if args.dry_run {
            printer.note(format!("not all of it is forgotten yet: run `taut memory forget {}` again", pending.asked));
        } else {
            printer.note(format!("finished first, because it stopped half-way: taut memory forget {}", pending.asked));
            pending.carry_out(&mut store, &mut index, &places.state())?;
            if pending.asked == asked {
                say_forgotten(&ForgetCount::default(), (0, 0), &places.state(), printer);
                return Ok(Exit::Ok);
            }
        }
    }
    let scopes = scopes(args, &store, &index, &places)?;
    let mut count = ForgetCount::default();
    let mut entries = 0;
    for scope in &scopes {
        add(&mut count, store.forget_count(scope)?);
        entries += index.count(scope)?;
    }
    let folders = folders(&scopes, &count, &places.state());
    let facts = folders.iter().map(|folder| facts_in(folder)).sum();
    if entries + facts + rows(&count) == 0 && folders.is_empty() {
        printer.note("there is nothing to forget");
        say_kept(&count, printer);
        return Ok(Exit::Ok);
    }
    let pending = PendingForget::new(asked, scopes, &count, folders.clone());
    say(&count, (entries, facts), &folders, printer);
    say_shared(args, &count, &pending.note_files(&places.state().join("projects")), printer);
    if args.dry_run {
        return Ok(Exit::Ok);
    }
    if !person::agrees("Forget this for good?")? {
        printer.note("nothing changed");
        return Ok(Exit::Failed);
    }
    pending.write(&places.state())?;
    pending.carry_out(&mut store, &mut index, &places.state()).inspect_err(|_| {
        printer.note("not all of it is forgotten yet; the next `taut memory forget` finishes it first");
    })?;
    say_forgotten(&count, (entries, facts), &places.state(), printer);
    Ok(Exit::Ok)
}

fn say_forgotten(count: &ForgetCount, (entries, facts): (u64, u64), state: &Path, printer: &Printer) {
    if printer.json() {
        printer.object(&json!({"forgotten": true, "events": count.events, "entries": entries, "facts": facts}));
    } else {
        printer.line("forgotten");
    }
    say_copies(state, printer);
}

/// What the command says, to be known again.
fn asked(args: &ForgetMemoryArgs) -> Result<String, CliError> {
    let folder = args.project.as_deref().map(std::path::absolute).transpose()?;
    Ok(match (folder, &args.session, &args.before) {
        (Some(folder), _, _) => format!("--project '{}'", folder.display()),
        (None, Some(session), _) => format!("--session '{session}'"),
        (None, None, before) => format!("--before {}", before.as_deref().unwrap_or_default()),
    })
}

/// Sessions whose end nobody told, of clients that are no more.
fn gone_clients(store: &Store) -> Result<Vec<String>, CliError> {
    let is_gone = |client: ClientProcess| match host::probe::life(client.pid) {
        Some(Life::Alive { started }) => client.started != 0 && started != client.started,
        Some(Life::Gone) => true,
        None => false,
    };
    Ok(store.unended_sessions()?.into_iter().filter(|(_, client)| is_gone(*client)).map(|(id, _)| id).collect())
}

fn scopes(
    args: &ForgetMemoryArgs,
    store: &Store,
    index: &RecallIndex,
    places: &PathVariables,
) -> Result<Vec<ForgetScope>, CliError> {
    if let Some(folder) = &args.project {
        return Ok(vec![ForgetScope::Project(recall::named_root(folder, store, places)?)]);
    }
    if let Some(before) = &args.before {
        return Ok(vec![ForgetScope::Before(past_time::read(before, "--before")?)]);
    }
    let named = args.session.as_deref().unwrap_or_default();
    let ids = store.session_ids(named)?;
    if !ids.is_empty() {
        return Ok(ids.into_iter().map(ForgetScope::Session).collect());
    }
    // Its row may be gone while what it said can still be recalled.
    let gone = ForgetScope::Session(named.to_string());
    if store.forget_count(&gone)?.events + index.count(&gone)? > 0 {
        return Ok(vec![gone]);
    }
    let begun = store.sessions_beginning(named)?;
    let one = begun.first().map(|(_, known_as)| known_as);
    match one {
        Some(one) if begun.iter().all(|(_, known_as)| known_as == one) => {
            Ok(begun.into_iter().map(|(id, _)| ForgetScope::Session(id)).collect())
        }
        Some(_) => Err(CliError::not_found(format!("several sessions begin with `{named}`; give more of the id"))
            .hint("`taut sessions --all --json` shows the whole ids")),
        None => Err(CliError::not_found(format!("there is no session `{named}`")).hint("taut sessions --all")),
    }
}

fn rows(count: &ForgetCount) -> u64 {
    count.events + count.messages + count.notes + count.efforts + count.sessions
}

/// The facts of a project lie in its folder and go with it.
fn facts_in(folder: &Path) -> u64 {
    let rules = Rules::up_to(memory_file::LARGEST_FILE as u64);
    let text = outside::read_text(&folder.join(memory_file::FILE), &rules).unwrap_or_default();
    memory_file::facts(&text).len() as u64
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
    sum.shared_folders.extend(one.shared_folders);
    sum.shared_efforts += one.shared_efforts;
    sum.carried_notes += one.carried_notes;
    sum.entries.extend(one.entries);
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

pub(super) fn is_below(folder: &Path, ours: &Path) -> bool {
    let plain = |part| matches!(part, std::path::Component::Normal(_));
    folder.strip_prefix(ours).is_ok_and(|rest| rest.components().count() > 0 && rest.components().all(plain))
}

fn say(count: &ForgetCount, (entries, facts): (u64, u64), folders: &[PathBuf], printer: &Printer) {
    printer.note(format!(
        "to be forgotten: {}, {}, {}, {}, {}, {}, {} of the index",
        counted(count.events, "event"),
        counted(count.messages, "message"),
        counted(count.notes, "note"),
        counted(count.efforts, "effort"),
        counted(facts, "fact"),
        counted(count.sessions, "ended session"),
        counted(entries, "entry"),
    ));
    folders.iter().for_each(|folder| printer.note(format!("  and the folder {}", folder.display())));
    say_kept(count, printer);
}

fn say_kept(count: &ForgetCount, printer: &Printer) {
    if count.open_sessions + count.open_efforts + count.tasks > 0 {
        printer.note(format!(
            "what stays: {}, {} of a running session, {} of the queue",
            counted(count.open_sessions, "running session"),
            counted(count.open_efforts, "effort"),
            counted(count.tasks, "task")
        ));
    }
}

/// What is others' too, and what of it goes.
fn say_shared(args: &ForgetMemoryArgs, count: &ForgetCount, files: &[PathBuf], printer: &Printer) {
    files.iter().for_each(|file| printer.note(format!("  and the file {}", file.display())));
    if count.carried_notes > 0 {
        printer.note(format!("  and what {} notes of later sessions carried over from it", count.carried_notes));
    }
    if count.shared_efforts > 0 && args.before.is_some() {
        printer.note(format!("what stays: {} unfinished efforts that were worked on since", count.shared_efforts));
    } else if count.shared_efforts > 0 {
        printer.note(format!(
            "what stays: {} efforts in which other sessions worked: their folders' names and logs",
            count.shared_efforts
        ));
        let folders = count.shared_folders.iter();
        folders.for_each(|folder| printer.note(format!("  look for words of this one in {}", folder.display())));
    }
    if count.open_efforts > 0 && args.project.is_some() {
        printer.note("what stays: this project's folder, with its facts and what efforts wrote there: a running session works in it");
        printer.note("  end that session, then run the same command again");
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
