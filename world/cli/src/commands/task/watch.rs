//! `taut task watch`: changes of tasks as they happen, each by a short read.

use super::args::WatchArgs;
use super::shown;
use super::store_session::StoreSession;
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, text};
use engine::queue::TaskState;
use model::task::{Task, TaskStatus};
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;
use store::TaskFilter;

const LOOK_EVERY: Duration = Duration::from_millis(250);

pub fn run(args: &WatchArgs, store_session: &mut StoreSession, printer: &Printer) -> Result<Exit, CliError> {
    let mut known: Option<BTreeMap<String, WatchedTask>> = None;
    loop {
        store_session.reap();
        let tasks = store_session.tasks(&TaskFilter::default())?;
        let now = tasks.iter().map(|task| (task.plan.slug.clone(), watched(task))).collect();
        for task in &tasks {
            let before = known.as_ref().map(|known| known.get(&task.plan.slug));
            let changed = before.is_some_and(|before| before != Some(&watched(task)));
            if changed {
                show(task, before.flatten().map(|(status, ..)| *status), printer);
            }
        }
        known = Some(now);
        let alive = tasks.iter().any(|task| matches!(task.queued.status, TaskStatus::Open | TaskStatus::Active));
        if args.until_done && !alive {
            return Ok(Exit::Ok);
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// Status, attempt, and whether it was said to be done.
type WatchedTask = (TaskStatus, i64, bool);

fn watched(task: &Task) -> WatchedTask {
    (task.queued.status, task.queued.attempt, task.queued.is_proposed())
}

fn show(task: &Task, before: Option<TaskStatus>, printer: &Printer) {
    let agent = task.queued.hold.as_ref().map(|hold| hold.agent.as_str());
    if printer.json() {
        printer.object(&json!({
            "at": host::clock::now().rfc3339(),
            "id": task.plan.slug,
            "s": task.queued.status.name(),
            "state": TaskState::of(&task.queued, host::clock::now()).name(),
            "was": before.map(TaskStatus::name),
            "attempt": task.queued.attempt,
            "assignee": agent,
            "fail_reason": task.queued.fail_reason,
        }));
        return;
    }
    let time = host::clock::shown(host::clock::now());
    let was = before.map_or("new", TaskStatus::name);
    let more = match (agent, task.queued.status) {
        (Some(agent), _) => format!("  {agent}"),
        (None, TaskStatus::Open | TaskStatus::Quarantined) => {
            task.queued.fail_reason.as_ref().map(|why| format!("  {why}")).unwrap_or_default()
        }
        (None, _) => String::new(),
    };
    let state = shown::state(&task.queued, printer);
    printer.line(text!("{}  {}  {} → {}{}", printer.dim(time), task.plan.slug, was, state, more));
}
