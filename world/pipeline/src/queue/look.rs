//! How the queue of a project stands, for those who wait for it.

use super::{Queue, QueueError};
use model::task::ClockReading;
use store::QueueLook;

impl<C: Fn() -> ClockReading> Queue<'_, C> {
    /// What lapsed is ended first: who waits for a task that nobody holds any
    /// more would wait for ever where no daemon runs.
    pub fn look(&mut self, project: &str) -> Result<QueueLook, QueueError> {
        self.reap()?;
        Ok(self.store.queue_look(project, (self.clock)().now)?)
    }
}
