//! The queue of a project on its server, for commands and loops: connected to when it is first asked, so that a command
//! which needs no server waits for none.

use crate::shared_target::shared_target;
use model::task::{Attempt, Queued, Task};
use pipeline::SharedSettings;
use serde_json::Value;
use shared_store::{MachineIdentity, Patience, PgQueue, Schema, ServerLink, Surroundings, Target};
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::{
    AttemptKey, ClaimWish, Dependency, Error, HeldThere, PlanRows, QueueLook, QueuePlace, Renewal, Renewed,
    ServerClaim, ServerError, ServerTurn, Store, TaskFilter, TaskServer, TaskStanding, TurnAnswer, WaitingTasks,
};

/// A person or an agent waits for this: sooner said that it is away.
const PATIENCE: Patience = Patience { connect: Duration::from_secs(3), flight: Duration::from_secs(10) };

const TRIED_AGAIN: Duration = Duration::from_secs(2);

pub struct ProjectQueue {
    target: Target,
    schema: Schema,
    machine: MachineIdentity,
    place: QueuePlace,
    opened: Option<PgQueue>,
    /// Once it could not be reached, it is not tried again for every verb of the same command.
    away: Option<(Instant, ServerError)>,
}

impl ProjectQueue {
    /// Nothing is connected to yet.
    ///
    /// # Errors
    /// Where what is configured cannot be used: `Refused`, with what helps.
    pub fn new(shared: &SharedSettings, around: &Surroundings, store: &mut Store) -> Result<Self, Error> {
        let target = shared_target(&shared.server, around)?;
        let schema = Schema::named(&shared.server.schema)?;
        let machine = machine(shared.server.label.as_deref(), store)?;
        // As it was last met: until it is reached again, what is owed to it is found by that.
        let known = store.server_of(&shared.queue)?;
        let place =
            QueuePlace { server: known.unwrap_or_default(), queue: shared.queue.clone(), shown: target.shown() };
        Ok(Self { target, schema, machine, place, opened: None, away: None })
    }

    /// Over a connection that somebody else keeps.
    pub(crate) fn over(&mut self, link: ServerLink) {
        match PgQueue::open(link, self.machine.clone(), &self.place.queue) {
            Ok(opened) => {
                self.place = opened.place().clone();
                self.opened = Some(opened);
            }
            Err(error) => self.away(error),
        }
    }

    /// It was not reached just now, and is not tried again here.
    pub(crate) fn away(&mut self, error: ServerError) {
        self.away = Some((Instant::now(), error));
    }

    /// The connection, where it did not break.
    pub(crate) fn into_link(self) -> Option<ServerLink> {
        self.opened.map(PgQueue::into_link)
    }

    fn open(&mut self) -> Result<&mut PgQueue, ServerError> {
        if let Some((since, away)) = self.away.as_ref().filter(|(since, _)| since.elapsed() < TRIED_AGAIN) {
            tracing::debug!("not asked again: it was away {} ms ago", since.elapsed().as_millis());
            return Err(away.clone());
        }
        // After a broken connection another server may answer, on which the queue has another number.
        let before = self.opened.take();
        let opened = match before {
            Some(opened) if opened.is_open() => opened,
            before => self.opened_anew(before.map(|before| before.place().server.clone()))?,
        };
        Ok(self.opened.insert(opened))
    }

    /// `before`: the server of the connection that broke. What is asked just now was for that one.
    fn opened_anew(&mut self, before: Option<String>) -> Result<PgQueue, ServerError> {
        let clock = Arc::new(host::clock::now);
        let link = ServerLink::new(self.target.clone(), self.schema.clone(), PATIENCE, clock);
        let link = match &before {
            Some(server) => link.to(server),
            None => link,
        };
        let opened = PgQueue::open(link, self.machine.clone(), &self.place.queue);
        let opened = opened.inspect_err(|error| self.away = Some((Instant::now(), error.clone())))?;
        self.place = opened.place().clone();
        Ok(opened)
    }
}

/// This machine as a server knows it.
///
/// # Errors
/// Of the store.
pub fn machine(label: Option<&str>, store: &mut Store) -> Result<MachineIdentity, Error> {
    let id = store.machine(&host::clock::uuid(host::clock::now()))?;
    Ok(MachineIdentity { id, label: label.map_or_else(pipeline::queue::hostname, str::to_string) })
}

impl TaskServer for ProjectQueue {
    fn place(&self) -> &QueuePlace {
        &self.place
    }

    fn meet(&mut self) -> Result<(), ServerError> {
        self.open().map(drop)
    }

    fn task(&mut self, slug: &str) -> Result<Option<Task>, ServerError> {
        self.open()?.task(slug)
    }

    fn tasks(&mut self, filter: &TaskFilter) -> Result<Vec<Task>, ServerError> {
        self.open()?.tasks(filter)
    }

    fn attempts(&mut self, slug: &str) -> Result<Vec<Attempt>, ServerError> {
        self.open()?.attempts(slug)
    }

    fn blocker_results(&mut self, slug: &str) -> Result<Vec<(String, Value)>, ServerError> {
        self.open()?.blocker_results(slug)
    }

    fn dependencies_below(&mut self, slug: &str) -> Result<Vec<Dependency>, ServerError> {
        self.open()?.dependencies_below(slug)
    }

    fn tasks_of_document(&mut self, spec: &str) -> Result<Vec<Queued>, ServerError> {
        self.open()?.tasks_of_document(spec)
    }

    fn waiting(&mut self) -> Result<WaitingTasks, ServerError> {
        self.open()?.waiting()
    }

    fn look(&mut self) -> Result<QueueLook, ServerError> {
        self.open()?.look()
    }

    fn standing(&mut self, slug: &str, mine: AttemptKey<'_>) -> Result<Option<TaskStanding>, ServerError> {
        self.open()?.standing(slug, mine)
    }

    fn claim(&mut self, wish: &ClaimWish) -> Result<Option<ServerClaim>, ServerError> {
        self.open()?.claim(wish)
    }

    fn settle(&mut self, turn: &ServerTurn) -> Result<TurnAnswer, ServerError> {
        self.open()?.settle(turn)
    }

    fn turns(&mut self, turns: &[ServerTurn]) -> Result<Vec<i64>, ServerError> {
        self.open()?.turns(turns)
    }

    fn renew(&mut self, holds: &[Renewal]) -> Result<Renewed, ServerError> {
        self.open()?.renew(holds)
    }

    fn lapsed(&mut self, most: usize) -> Result<Vec<TaskStanding>, ServerError> {
        self.open()?.lapsed(most)
    }

    fn held(&mut self) -> Result<Vec<HeldThere>, ServerError> {
        self.open()?.held()
    }

    fn plan(&mut self, work: &mut dyn FnMut(&dyn PlanRows) -> Result<(), Error>) -> Result<(), Error> {
        self.open()?.plan(work)
    }
}
