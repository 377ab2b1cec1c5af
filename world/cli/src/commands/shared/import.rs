//! `taut shared import`: the project's own unfinished tasks move to the server's queue. What stays here, and why, is shown
//! before; done again after a crash it ends the same.

use super::{AgreeArgs, not_connected, tell};
use crate::commands::counted;
use crate::commands::task::store_session::StoreSession;
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, text};
use pipeline::queue::{MovePlan, MovedTasks, Queue, TaskLeft};
use serde_json::{Value, json};
use service::ProjectQueue;
use store::{Store, TaskServer};

/// So many tasks are named; the rest is counted.
const NAMED: usize = 20;

/// The project that a command runs in, its own queue, and the one on the server where it has one.
pub struct Here {
    pub store: Store,
    pub project: String,
    pub server: Option<ProjectQueue>,
}

impl Here {
    pub fn open() -> Result<Self, CliError> {
        let (store, project, server) = StoreSession::open()?.into_parts();
        Ok(Self { store, project, server })
    }

    /// Of a shared project; else what helps.
    pub fn shared() -> Result<Self, CliError> {
        let here = Self::open()?;
        if here.server.is_some() {
            return Ok(here);
        }
        let places = host::paths::PathVariables::from_process();
        if crate::shared_queue::server(&places)?.is_none() {
            return Err(not_connected());
        }
        Err(match super::repository::QueueRepository::here()?.and_then(|repository| repository.queue) {
            Some(queue) => {
                CliError::failed(format!("this machine takes no part in the queue {queue} of this repository"))
                    .hint(format!("taut shared connect --project {queue}"))
            }
            None => CliError::failed("this folder is in no repository that says what its queue is called")
                .hint("taut shared connect    (in the repository; it asks)"),
        })
    }

    /// The project's queue on this machine, whatever is shared.
    pub fn local(&mut self) -> Queue<'_> {
        Queue::new(&mut self.store, host::clock_reading::moment)
    }

    pub fn movable(&mut self) -> Result<MovePlan, CliError> {
        let project = self.project.clone();
        Ok(self.local().movable(&project)?)
    }
}

pub fn run(agree: AgreeArgs, printer: &Printer) -> Result<Exit, CliError> {
    agree.person("shared import")?;
    let mut here = Here::shared()?;
    let plan = here.movable()?;
    let Some(mut server) = here.server.take() else { return Err(not_connected()) };
    if plan.tasks.is_empty() {
        show_left(&plan.left, printer);
        tell(printer, "nothing moves: this project has no unfinished task of its own that nobody holds");
        print(&MovedTasks { left: plan.left, ..MovedTasks::default() }, agree, printer);
        return Ok(Exit::Ok);
    }
    show(&plan, &server, printer);
    if agree.dry_run {
        let moves = plan.tasks.iter().map(|task| task.queued.slug.clone()).collect();
        print(&MovedTasks { added: moves, left: plan.left, ..MovedTasks::default() }, agree, printer);
        return Ok(Exit::Ok);
    }
    if !agree.agrees("Move them?")? {
        printer.note("nothing was moved");
        return Ok(Exit::Failed);
    }
    let project = here.project.clone();
    let moved = here.local().move_to(&project, &plan, &mut server)?;
    let known = if moved.known.is_empty() { String::new() } else { format!(", {} there already", moved.known.len()) };
    tell(printer, format!("moved {}{known}", counted(moved.added.len() as u64, "task")));
    let later: Vec<TaskLeft> = moved.left.iter().filter(|left| !plan.left.contains(left)).cloned().collect();
    show_left(&later, printer);
    print(&moved, agree, printer);
    Ok(Exit::Ok)
}

fn show(plan: &MovePlan, server: &ProjectQueue, printer: &Printer) {
    let place = server.place();
    let many = counted(plan.tasks.len() as u64, "task");
    tell(
        printer,
        text!(
            "{} would move to the queue {} on {}, and be gone from this machine's own:",
            many,
            place.queue,
            place.shown
        ),
    );
    for task in plan.tasks.iter().take(NAMED) {
        tell(printer, text!("  {}  {}", task.queued.slug, task.plan.title));
    }
    if let Some(more) = plan.tasks.len().checked_sub(NAMED).filter(|more| *more > 0) {
        tell(printer, format!("  and {more} more"));
    }
    if !plan.unproven.is_empty() {
        tell(
            printer,
            text!("without the commands that prove them, which stay on this machine: {}", plan.unproven.join(", ")),
        );
    }
    show_left(&plan.left, printer);
}

fn show_left(left: &[TaskLeft], printer: &Printer) {
    for TaskLeft { slug, why } in left {
        tell(printer, text!("stays: {} ({})", slug, why));
    }
}

fn print(moved: &MovedTasks, agree: AgreeArgs, printer: &Printer) {
    if printer.json() {
        let left: Vec<Value> = moved.left.iter().map(|left| json!({"id": left.slug, "why": left.why})).collect();
        printer.object(&json!({
            "moved": moved.added, "known": moved.known, "left": left, "dry_run": agree.dry_run,
        }));
    }
}
