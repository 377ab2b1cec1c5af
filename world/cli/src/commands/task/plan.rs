//! `taut task plan-sync` and `plan-status`.

use super::store_session::StoreSession;
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, text};
use serde_json::json;
use std::io::Read;

/// A plan larger than this is not one.
const LARGEST: u64 = 256 * 1024 * 1024;

pub fn sync(store_session: &mut StoreSession, printer: &Printer) -> Result<Exit, CliError> {
    let mut text = String::new();
    std::io::stdin().lock().take(LARGEST).read_to_string(&mut text).map_err(|cause| {
        CliError::failed("the plan on stdin is not UTF-8 text").because(&cause).hint("taut task plan-sync < plan.jsonl")
    })?;
    let (project, speaker) = (store_session.project(), store_session.planner(text.contains("\"verify\"")));
    let synced = store_session.queue().plan_sync(&project, &text, &speaker)?;
    for why in &synced.left {
        printer.note(format!("note: {why}, so it is not deleted though it is planned no more"));
    }
    if !synced.unproven.is_empty() {
        let (many, from) = (synced.unproven.join(", "), speaker.shown());
        printer.note(text!(
            "warning: the key 'verify' was left out for {}: this comes from {}, and what proves a task is said by a person",
            many,
            from
        ));
    }
    let (inserted, updated, deleted, skipped) = (synced.inserted, synced.updated, synced.deleted, synced.skipped);
    if printer.json() {
        printer.object(&json!({"inserted": inserted, "updated": updated, "deleted": deleted, "skipped": skipped}));
    } else {
        printer
            .line(format!("inserted: {inserted}, updated: {updated}, deleted: {deleted}, skipped (done): {skipped}"));
    }
    Ok(Exit::Ok)
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
