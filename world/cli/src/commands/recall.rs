//! `taut recall`: searches what was said and done. A person may look into every
//! project; an agent into the one its session is in.

use super::fleet_record::{self, FleetEvents};
use super::{agent_names, ago, effort, is_anything_kept, open_and_take_in};
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, Text, text};
use crate::progress;
use crate::{past_time, person};
use clap::Args;
use host::paths::PathVariables;
use model::Ms;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Duration;
use store::Store;
use store::recall::{CatchUp, RecallHit, RecallKind, RecallQuery};

/// What is not indexed by then is looked for the next time.
const CATCH_UP: Duration = Duration::from_secs(2);
const PATIENCE: Duration = Duration::from_secs(1);

#[derive(Debug, Args)]
pub struct RecallArgs {
    /// What to look for, in any order; the last word may be only begun
    #[arg(required = true)]
    pub words: Vec<String>,
    /// In the project of this folder instead of this one (people only)
    #[arg(long, value_name = "PATH", conflicts_with = "all")]
    pub project: Option<PathBuf>,
    /// In all projects (people only)
    #[arg(long)]
    pub all: bool,
    /// Only what this agent said or did
    #[arg(long)]
    pub agent: Option<String>,
    /// Only since then: 2d, 3w, 2026-11-01
    #[arg(long)]
    pub since: Option<String>,
    /// Only of this kind: prompt, note, log, dialogue, effort, command, file, answer, failure, message, fact
    #[arg(long)]
    pub kind: Option<String>,
    /// How many at the most
    #[arg(long, short = 'n', default_value_t = 10)]
    pub limit: usize,
    /// In what all machines that share a server sent of their records to it: events with these words, of the last seven days
    #[arg(long, conflicts_with = "kind")]
    pub fleet: bool,
}

pub fn run(args: &RecallArgs, printer: &Printer) -> Result<Exit, CliError> {
    let places = PathVariables::from_process();
    if args.limit == 0 {
        return Err(CliError::usage("`-n 0` would show nothing").hint("taut recall -n 10 <words>"));
    }
    if args.fleet {
        return found_in_fleet(args, printer);
    }
    let mut query = RecallQuery {
        words: args.words.join(" "),
        agent: args.agent.clone(),
        since: args.since.as_deref().map(|since| past_time::read(since, "--since")).transpose()?,
        kind: args.kind.as_deref().map(kind).transpose()?,
        limit: args.limit,
        ..RecallQuery::default()
    };
    let store = opened(&places)?;
    if let Some(store) = &store {
        query.agent = agent_names::filter(store, args.agent.as_ref())?;
    }
    let here = root(&std::env::current_dir()?, &places)?;
    match &store {
        Some(store) => scope(args, &mut query, store, &places)?,
        // Only facts can be found where nothing has happened yet, and no session says which are an agent's.
        None if !places.state().exists() || person::outside_agents("recall").is_err() => {
            return Ok(nothing(&query, printer));
        }
        None => query.project = args.project.as_deref().map(|folder| root(folder, &places)).transpose()?,
    }
    if let Some(root) = query.project.as_deref().filter(|root| is_off(root)) {
        printer.note(format!(
            "memory is off in {root}: what is kept of it is not shown; `taut memory` says how to switch it on"
        ));
        return Ok(Exit::Ok);
    }
    let now = host::clock::now();
    let search = || pipeline::recall(store.as_ref(), &service::setting(&places), (&query, now), &here, CATCH_UP);
    let (hits, caught) = progress::during("searching what was said and done", printer, search)?;
    if hits.is_empty() {
        nothing(&query, printer);
    }
    let names = store.as_ref().map(Store::agent_names).transpose()?.unwrap_or_default();
    for hit in &hits {
        let name = names.of(&hit.agent);
        if printer.json() {
            let mut told = object(hit);
            told["agent_name"] = json!(name);
            printer.object(&told);
        } else {
            printer.line(line((hit, name), now, query.project.is_none(), printer));
        }
    }
    say_behind(caught, printer);
    Ok(Exit::Ok)
}

fn found_in_fleet(args: &RecallArgs, printer: &Printer) -> Result<Exit, CliError> {
    let wanted = FleetEvents {
        project: args.project.as_deref(),
        since: args.since.as_deref(),
        agent: args.agent.as_deref(),
        limit: args.limit,
        ..FleetEvents::default()
    };
    fleet_record::found_words(&args.words, &wanted, printer)
}

/// What is stored, if anything is. In a client's sandbox nothing can be written, and what is there can be read.
fn opened(places: &PathVariables) -> Result<Option<Store>, CliError> {
    if !is_anything_kept(&places.state()) {
        return Ok(None);
    }
    let opened = open_and_take_in(places, PATIENCE);
    Ok(Some(opened.or_else(|error| Store::open_existing_read_only(&places.state()).map_err(|_| error))?))
}

/// Where the search looks. What a project's agents were told is nothing for those of another.
fn scope(args: &RecallArgs, query: &mut RecallQuery, store: &Store, places: &PathVariables) -> Result<(), CliError> {
    let named = args.project.as_deref().map(|folder| named_root(folder, store, places)).transpose()?;
    if let Err(refused) = person::outside_agents("recall --all") {
        let session = effort::who(store, places)?.session.map(|id| store.session(&id)).transpose()?.flatten();
        let Some(session) = session else {
            return Err(CliError::failed(
                "an agent recalls what belongs to its own project, and the session of this one is not known",
            )
            .hint(
                "`taut doctor` says whether its hooks reach Taut; `taut recall` in your own terminal shows everything",
            ));
        };
        if args.all || named.is_some_and(|named| session.project != named) {
            return Err(refused);
        }
        // Work outside any project is its agent's own.
        if session.project.is_empty() {
            query.agent = Some(session.agent);
        } else {
            query.project = Some(session.project);
        }
        return Ok(());
    }
    query.project = match named {
        _ if args.all => None,
        Some(named) => Some(named),
        None => Some(root(&std::env::current_dir()?, places)?).filter(|root| is_project(root, store, places)),
    };
    Ok(())
}

/// Whether somebody said that nothing of this project is to be remembered.
fn is_off(root: &str) -> bool {
    let judge = super::judge_here(Some(Path::new(root)));
    judge.is_ok_and(|judge| judge.project_policy().policy.sections.memory.enabled == Some(false))
}

/// The project of a folder that is named, which may have gone while something is kept of it.
pub(super) fn named_root(folder: &Path, store: &Store, places: &PathVariables) -> Result<String, CliError> {
    let root = root(folder, places)?;
    if folder.is_dir() || store.projects()?.iter().any(|project| project.path == root) {
        return Ok(root);
    }
    Err(CliError::not_found(format!("there is no folder {}, and nothing is kept of it", folder.display()))
        .hint("`taut sessions --all` shows the projects that something is kept of"))
}

fn root(folder: &Path, places: &PathVariables) -> Result<String, CliError> {
    Ok(host::probe::project(&std::path::absolute(folder)?, &places.home()).root)
}

/// A folder in which nobody ever worked is none.
fn is_project(root: &str, store: &Store, places: &PathVariables) -> bool {
    host::probe::project(Path::new(root), &places.home()).git
        || store.projects().is_ok_and(|known| known.iter().any(|project| project.path == root))
}

fn kind(name: &str) -> Result<RecallKind, CliError> {
    RecallKind::parse(name).ok_or_else(|| {
        let known: Vec<&str> = RecallKind::names().collect();
        CliError::usage(format!("`{name}` is no kind of thing that can be recalled"))
            .hint(format!("--kind {}", known.join("|")))
    })
}

fn nothing(query: &RecallQuery, printer: &Printer) -> Exit {
    let place = if query.project.is_some() { "in this project" } else { "anywhere" };
    let hint = if person::outside_agents("recall --all").is_err() {
        "; `taut facts` lists what is noted here, `taut events --of project` what happened last"
    } else if query.project.is_some() {
        ", or `--all` for all projects; `taut memory status` says what is kept"
    } else {
        "; `taut memory status` says what is kept"
    };
    printer.note(format!("nothing found {place}; try fewer or other words{hint}"));
    Exit::Ok
}

pub(super) fn say_behind(caught: CatchUp, printer: &Printer) {
    if caught.behind > 0 {
        printer.note(format!("{} events are not indexed yet; ask again for what is in them", caught.behind));
    }
    if caught.scanned_in_part {
        printer
            .note("within words only the newest 20,000 texts were looked through; older ones are found by whole words");
    }
}

fn line((hit, name): (&RecallHit, &str), now: Ms, in_all: bool, printer: &Printer) -> Text {
    let excerpt =
        hit.excerpt.0.iter().map(|piece| {
            if piece.is_match { printer.bold(piece.text.as_str()) } else { Text::from(piece.text.as_str()) }
        });
    let project = hit.project.as_deref().filter(|_| in_all).and_then(|path| path.rsplit('/').next());
    let agent = [project, Some(name)].into_iter().flatten().collect::<Vec<_>>().join("/");
    text!(
        "{}  {}  {}  {}",
        printer.dim(format!("{:>4}", ago(now.since(hit.at)))),
        printer.cyan(format!("{:<8}", hit.kind.name())),
        printer.dim(format!("{agent:<16}")),
        Text::joined(excerpt, "")
    )
}

pub(super) fn object(hit: &RecallHit) -> serde_json::Value {
    json!({
        "id": hit.id,
        "kind": hit.kind.name(),
        "at": hit.at.rfc3339(),
        "project": hit.project,
        "agent": hit.agent,
        "session": hit.session,
        "text": hit.text,
    })
}
