//! Workers: they say who they are, leave, or are found dead.

use super::reap::lives;
use super::{Queue, QueueError, write};
use engine::queue::{self, DEREGISTERED, NEVER_PROVEN};
use model::ClientProcess;
use model::task::{ClockReading, Queued, Worker};
use store::Store;

/// Letters and digits that are easy to read aloud.
const LETTERS: &[u8; 32] = b"23456789abcdefghjkmnpqrstuvwxyz7";
const ID_LENGTH: usize = 10;

impl<C: Fn() -> ClockReading> Queue<'_, C> {
    /// Registers the process under a fresh id that nobody can guess.
    pub fn register(&mut self, project: &str, process: ClientProcess, host: &str) -> Result<Worker, QueueError> {
        self.all_or_nothing(|tx, moment| {
            loop {
                let worker = Worker {
                    id: fresh_id(),
                    project: project.to_string(),
                    process,
                    host: host.to_string(),
                    registered_at: moment.now,
                    ended_at: None,
                };
                if tx.register(&worker)? {
                    return Ok(worker);
                }
            }
        })
    }

    /// Lets go of everything the worker holds and marks it as gone, but for what
    /// is proven and waits to be merged. Gives the slugs; `None` when there is no such worker.
    pub fn deregister(&mut self, id: &str) -> Result<Option<Vec<String>>, QueueError> {
        let back = self.all_or_nothing(|tx, moment| {
            if !tx.end_worker(id, moment.now)? {
                return Ok(None);
            }
            let proven =
                |task: &Queued| task.hold.as_ref().and_then(|hold| hold.proposed).is_some_and(|said| said.proven);
            let held: Vec<Queued> = tx.held_by(id)?.into_iter().filter(|task| !proven(task)).collect();
            for task in &held {
                let reason = if task.is_proposed() { NEVER_PROVEN } else { DEREGISTERED };
                write(tx, queue::release(task, reason, moment.now))?;
            }
            Ok(Some(held.into_iter().map(|task| task.slug).collect()))
        })?;
        self.say_soon();
        Ok(back)
    }
}

/// Workers of this machine whose process is gone. What they hold comes back by
/// its lease: whoever registered them need not be who does the work.
pub(super) fn dead(store: &Store) -> Result<Vec<String>, QueueError> {
    let here = hostname();
    let alive = store.workers_alive()?.into_iter();
    let dead = alive.filter(|worker| worker.host == here && lives(worker.process) == Some(false));
    Ok(dead.map(|worker| worker.id).collect())
}

/// The machine's own name.
pub fn hostname() -> String {
    let told = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let told = told.trim().to_string();
    if told.is_empty() { std::env::var("HOSTNAME").unwrap_or_else(|_| "localhost".into()) } else { told }
}

fn fresh_id() -> String {
    let letter = |byte: u8| LETTERS.get(usize::from(byte % 32)).copied().map_or('x', char::from);
    host::clock::random().into_iter().take(ID_LENGTH).map(letter).collect()
}
