//! Tasks as they are looked at, wherever they are: one, many, and how the queue of a project stands.

use super::{Queue, QueueError};
use model::task::{Attempt, ClockReading, Queued, Task};
use serde_json::Value;
use store::{Dependency, QueueLook, TaskFilter, WaitingTasks};

impl<C: Fn() -> ClockReading> Queue<'_, C> {
    /// What lapsed is ended first: who waits for a task that nobody holds any
    /// more would wait for ever where no daemon runs.
    pub fn look(&mut self, project: &str) -> Result<QueueLook, QueueError> {
        self.reap()?;
        match &mut self.server {
            None => Ok(self.store.queue_look(project, (self.clock)().now)?),
            Some(server) => server.look().map_err(|error| self.of_server(error)),
        }
    }

    pub fn task(&mut self, project: &str, slug: &str) -> Result<Option<Task>, QueueError> {
        match &mut self.server {
            None => Ok(self.store.task(project, slug)?),
            Some(server) => match server.task(slug) {
                Ok(found) => Ok(found.map(|task| known_here_as(task, project))),
                Err(error) => Err(self.of_server(error)),
            },
        }
    }

    /// By priority, then age.
    pub fn tasks(&mut self, project: &str, filter: &TaskFilter) -> Result<Vec<Task>, QueueError> {
        match &mut self.server {
            None => Ok(self.store.tasks(project, filter)?),
            Some(server) => match server.tasks(filter) {
                Ok(found) => Ok(found.into_iter().map(|task| known_here_as(task, project)).collect()),
                Err(error) => Err(self.of_server(error)),
            },
        }
    }

    /// Every attempt on a task, oldest first.
    pub fn attempts(&mut self, task: &Queued) -> Result<Vec<Attempt>, QueueError> {
        match &mut self.server {
            None => Ok(self.store.attempts(task)?),
            Some(server) => server.attempts(&task.slug).map_err(|error| self.of_server(error)),
        }
    }

    pub fn blocker_results(&mut self, task: &Task) -> Result<Vec<(String, Value)>, QueueError> {
        match &mut self.server {
            None => Ok(self.store.blocker_results(task)?),
            Some(server) => server.blocker_results(&task.plan.slug).map_err(|error| self.of_server(error)),
        }
    }

    /// Every dependency the task has, its blockers' and so on.
    pub fn dependencies_below(&mut self, task: &Queued) -> Result<Vec<Dependency>, QueueError> {
        match &mut self.server {
            None => Ok(self.store.dependencies_below(task)?),
            Some(server) => server.dependencies_below(&task.slug).map_err(|error| self.of_server(error)),
        }
    }

    /// What stands between the tasks of the project and being claimed.
    pub fn waiting(&mut self, project: &str) -> Result<WaitingTasks, QueueError> {
        match &mut self.server {
            None => Ok(self.store.tasks_waiting(project, (self.clock)().now)?),
            Some(server) => server.waiting().map_err(|error| self.of_server(error)),
        }
    }

    pub(super) fn tasks_of_document(&mut self, project: &str, spec: &str) -> Result<Vec<Queued>, QueueError> {
        match &mut self.server {
            None => Ok(self.store.tasks_of_document(project, spec)?),
            Some(server) => server.tasks_of_document(spec).map_err(|error| self.of_server(error)),
        }
    }
}

/// A server knows a project by the name of its queue; here it is its path.
pub(super) fn known_here_as(mut task: Task, project: &str) -> Task {
    task.queued.project = project.to_string();
    task
}
