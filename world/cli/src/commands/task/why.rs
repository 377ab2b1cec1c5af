//! `taut task why`: what stands between the tasks and being claimed.

use super::store_session::StoreSession;
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, text};
use engine::queue::{self, UnclaimableTasks};
use model::task::{Hold, Queued};
use serde_json::json;

pub fn run(store_session: &mut StoreSession, printer: &Printer) -> Result<Exit, CliError> {
    store_session.reap();
    let now = host::clock::now();
    for reason in queue::why(&seen(store_session)?, now) {
        if printer.json() {
            printer.object(&json!({"kind": reason.kind, "tasks": reason.tasks, "text": reason.text}));
        } else {
            let kind = format!("{:<12}", reason.kind.replace('_', " "));
            let kind = match reason.kind {
                "claimable" | "finished" => printer.green(kind),
                "cycle" | "quarantined" => printer.red(kind),
                _ => printer.yellow(kind),
            };
            printer.line(text!("{} {}", kind, reason.text));
        }
    }
    Ok(Exit::Ok)
}

fn holds(active: &[Queued]) -> impl Iterator<Item = (String, Hold)> {
    active.iter().filter_map(|task| task.hold.clone().map(|hold| (task.slug.clone(), hold)))
}

fn seen(store_session: &mut StoreSession) -> Result<UnclaimableTasks, CliError> {
    let project = store_session.project();
    let found = store_session.queue().waiting(&project)?;
    Ok(UnclaimableTasks {
        counts: found.counts,
        claimable: found.claimable,
        circle: queue::cycle(&found.dependencies),
        blocked: found.blocked.into_iter().map(|(task, by)| (task.slug, by)).collect(),
        backing_off: found.resting.into_iter().map(|task| (task.slug, task.ready_at)).collect(),
        quarantined: found
            .quarantined
            .into_iter()
            .map(|task| (task.slug, task.fail_reason.unwrap_or_else(|| "by hand".to_string())))
            .collect(),
        leased: holds(&found.active)
            .filter(|(_, hold)| hold.proposed.is_none())
            .map(|(slug, hold)| (slug, hold.agent, hold.lease_until))
            .collect(),
        proposed: holds(&found.active)
            .filter(|(_, hold)| hold.proposed.is_some())
            .map(|(slug, hold)| (slug, hold.agent))
            .collect(),
    })
}
