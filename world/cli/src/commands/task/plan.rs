//! `taut task plan-sync` and `plan-status`.

use super::args::PlanSyncArgs;
use super::store_session::StoreSession;
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, text};
use crate::progress;
use engine::queue::Speaker;
use pipeline::queue::{MissingTasks, PlannedTasks, Rehearsal, SyncMode, Synced, read_plan};
use serde_json::json;
use std::io::{BufRead, Read};

/// A plan larger than this is not one.
const LARGEST: u64 = 256 * 1024 * 1024;

pub fn sync(args: &PlanSyncArgs, store_session: &mut StoreSession, printer: &Printer) -> Result<Exit, CliError> {
    let mut text = String::new();
    std::io::stdin().lock().take(LARGEST).read_to_string(&mut text).map_err(|cause| {
        CliError::failed("the plan on stdin is not UTF-8 text").because(&cause).hint("taut task plan-sync < plan.jsonl")
    })?;
    let plan = read_plan(&text)?;
    let (project, speaker) = (store_session.project(), store_session.planner(text.contains("\"verify\"")));
    let mode = SyncMode {
        missing: missing(args, &plan, store_session, printer)?,
        rehearsal: rehearsal(args.dry_run),
        ..SyncMode::default()
    };
    let sync = || store_session.queue().sync(&project, plan, &speaker, &mode);
    let synced = progress::during("taking the plan over", printer, sync)?;
    show_synced(&synced, &speaker, printer);
    let Synced { inserted, updated, deleted, skipped, .. } = synced;
    if printer.json() {
        printer.object(&json!({"inserted": inserted, "updated": updated, "deleted": deleted, "skipped": skipped}));
    } else {
        let words = format!("inserted: {inserted}, updated: {updated}, deleted: {deleted}, skipped (done): {skipped}");
        printer.line(words);
    }
    Ok(Exit::Ok)
}

pub fn rehearsal(dry_run: bool) -> Rehearsal {
    if dry_run { Rehearsal::Yes } else { Rehearsal::No }
}

/// What was not taken over, and why. Talk, not data.
pub fn show_synced(synced: &Synced, speaker: &Speaker, printer: &Printer) {
    for why in &synced.left {
        printer.note(text!("note: {}, so it is left as it is though the plan says otherwise", why));
    }
    if !synced.unproven.is_empty() {
        let (many, from) = (synced.unproven.join(", "), speaker.shown());
        let why = "and what proves a task is said by a person";
        printer.note(text!("warning: the key 'verify' was left out for {}: this comes from {}, {}", many, from, why));
    }
    if !synced.unknown.is_empty() {
        let many = named(&synced.unknown);
        printer.note(text!("note: dependencies on tasks that are neither here nor stored were left out: {}", many));
    }
}

/// What came from the same documents and is planned no more is deleted, softly; that is said before, and at a
/// terminal asked.
fn missing(
    args: &PlanSyncArgs,
    plan: &PlannedTasks,
    store_session: &mut StoreSession,
    printer: &Printer,
) -> Result<MissingTasks, CliError> {
    let project = store_session.project();
    let missing = store_session.queue().missing(&project, plan)?;
    if missing.is_empty() {
        return Ok(MissingTasks::Deleted);
    }
    let what = match missing.len() {
        1 => format!("1 task is planned no more: {}", named(&missing)),
        many => format!("{many} tasks are planned no more: {}", named(&missing)),
    };
    if args.keep_missing {
        printer.note(text!("note: {}; kept", what));
        return Ok(MissingTasks::Kept);
    }
    let asked = !args.yes && !args.dry_run && store_session.speaker() == Speaker::Person;
    match Terminal::open().filter(|_| asked) {
        Some(terminal) if terminal.agrees(&format!("{what}. Delete (they stay in the history)?"))? => {
            Ok(MissingTasks::DeletedIf(missing.into_iter().collect()))
        }
        Some(_) => {
            printer.note("note: they are kept; the rest of the plan is taken over");
            Ok(MissingTasks::Kept)
        }
        None => {
            printer.note(text!("note: {}; deleted, which `--keep-missing` prevents", what));
            Ok(MissingTasks::Deleted)
        }
    }
}

/// Many, and how many more.
pub fn named(slugs: &[String]) -> String {
    const MOST: usize = 20;
    let more = slugs.len().saturating_sub(MOST);
    let some = slugs.iter().take(MOST).cloned().collect::<Vec<_>>().join(", ");
    if more == 0 { some } else { format!("{some} and {more} more") }
}

/// Where a person can be asked though the plan comes on stdin.
struct Terminal(std::fs::File);

impl Terminal {
    fn open() -> Option<Self> {
        let looked_at = Printer::has_reader() && Printer::has_listener();
        let there = looked_at || sys::terminal::is_controlling() && sys::terminal::is_ours();
        sys::terminal::typed().ok().filter(|_| there).map(Self)
    }

    fn agrees(&self, question: &str) -> Result<bool, CliError> {
        Printer::ask(text!("{} [y/N] ", question))?;
        let mut answer = String::new();
        std::io::BufReader::new(&self.0).read_line(&mut answer)?;
        Ok(crate::person::is_yes(answer.trim()))
    }
}

pub fn status(store_session: &mut StoreSession, printer: &Printer) -> Result<Exit, CliError> {
    let project = store_session.project();
    let look = store_session.queue().look(&project)?;
    let counts = look.counts;
    if printer.json() {
        printer.object(&json!({
            "open": counts.open, "active": counts.active, "done": counts.done,
            "blocked": counts.blocked, "deleted": counts.deleted, "quarantined": counts.quarantined,
            "resting": look.resting, "proposed": look.proposed,
        }));
        return Ok(Exit::Ok);
    }
    let quarantined = match counts.quarantined {
        0 => String::new(),
        count => format!(", {count} quarantined"),
    };
    printer.line(format!(
        "{} open, {} active, {} done, {} blocked, {} deleted{quarantined}",
        counts.open, counts.active, counts.done, counts.blocked, counts.deleted
    ));
    Ok(Exit::Ok)
}
