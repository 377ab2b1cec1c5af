//! What most queues do: whoever says that a task is done is believed while it is active, whoever's it is. With this in
//! place of the fence the checks of a run must find something.

use model::task::{Attempt, Queued, Task};
use serde_json::Value;
use shared_store::PgQueue;
use store::{
    AttemptKey, ClaimWish, Dependency, Error, HeldThere, PlanRows, QueueLook, QueuePlace, Renewal, Renewed,
    ServerClaim, ServerError, ServerTurn, TaskFilter, TaskServer, TaskStanding, TurnAnswer, WaitingTasks,
};

pub struct Unfenced(pub PgQueue);

impl TaskServer for Unfenced {
    fn settle(&mut self, turn: &ServerTurn) -> Result<TurnAnswer, ServerError> {
        let now = self.0.standing(&turn.slug, AttemptKey::Number(turn.attempt))?;
        let Some(now) = now.filter(|now| now.task.status.name() == "active") else { return self.0.settle(turn) };
        let believed = ServerTurn { attempt: now.task.attempt, claim: now.claim, need: None, ..turn.clone() };
        self.0.settle(&believed)
    }

    fn place(&self) -> &QueuePlace {
        self.0.place()
    }

    fn task(&mut self, slug: &str) -> Result<Option<Task>, ServerError> {
        self.0.task(slug)
    }

    fn tasks(&mut self, filter: &TaskFilter) -> Result<Vec<Task>, ServerError> {
        self.0.tasks(filter)
    }

    fn attempts(&mut self, slug: &str) -> Result<Vec<Attempt>, ServerError> {
        self.0.attempts(slug)
    }

    fn blocker_results(&mut self, slug: &str) -> Result<Vec<(String, Value)>, ServerError> {
        self.0.blocker_results(slug)
    }

    fn dependencies_below(&mut self, slug: &str) -> Result<Vec<Dependency>, ServerError> {
        self.0.dependencies_below(slug)
    }

    fn tasks_of_document(&mut self, spec: &str) -> Result<Vec<Queued>, ServerError> {
        self.0.tasks_of_document(spec)
    }

    fn waiting(&mut self) -> Result<WaitingTasks, ServerError> {
        self.0.waiting()
    }

    fn look(&mut self) -> Result<QueueLook, ServerError> {
        self.0.look()
    }

    fn standing(&mut self, slug: &str, mine: AttemptKey<'_>) -> Result<Option<TaskStanding>, ServerError> {
        self.0.standing(slug, mine)
    }

    fn claim(&mut self, wish: &ClaimWish) -> Result<Option<ServerClaim>, ServerError> {
        self.0.claim(wish)
    }

    fn turns(&mut self, turns: &[ServerTurn]) -> Result<Vec<i64>, ServerError> {
        self.0.turns(turns)
    }

    fn renew(&mut self, holds: &[Renewal]) -> Result<Renewed, ServerError> {
        self.0.renew(holds)
    }

    fn lapsed(&mut self, most: usize) -> Result<Vec<TaskStanding>, ServerError> {
        self.0.lapsed(most)
    }

    fn held(&mut self) -> Result<Vec<HeldThere>, ServerError> {
        self.0.held()
    }

    fn plan(&mut self, work: &mut dyn FnMut(&dyn PlanRows) -> Result<(), Error>) -> Result<(), Error> {
        self.0.plan(work)
    }
}
