//! The queue of one project on PostgreSQL, behind the verbs that are asked of every server.

mod answer;
mod claim;
pub(crate) mod flights;
mod lease;
mod pages;
mod plan;
mod read;
mod sql;
mod turn;

pub use sql::queue_statement;

use crate::migrate::refuse_too_old;
use crate::{Connection, InTransaction, Schema, ServerLink, Statement};
use answer::Reading;
use flights::{Flights, Trouble, text};
use model::task::{Attempt, Queued, Task};
use serde::Deserialize;
use serde_json::Value;
use std::time::Duration;
use store::{
    AttemptKey, ClaimWish, Dependency, Error, HeldThere, PlanRows, QueueLook, QueuePlace, Renewal, Renewed,
    ServerClaim, ServerError, ServerTurn, TaskFilter, TaskServer, TaskStanding, TurnAnswer, WaitingTasks,
};

/// What a holder gets to speak up after a server has started.
const GRACE: Duration = Duration::from_secs(120);

/// This machine, as others know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MachineIdentity {
    /// A UUID, drawn once.
    pub id: String,
    /// For people.
    pub label: String,
}

pub struct PgQueue {
    link: ServerLink,
    identity: Identity,
    place: QueuePlace,
    grace_ms: i64,
}

/// Who asks, and for which queue.
struct Identity {
    machine: MachineIdentity,
    queue: String,
    /// The queue's id on the server.
    project: i64,
}

#[derive(Deserialize)]
struct ServerId {
    id: String,
    /// The oldest client that may still write.
    oldest: u32,
}

#[derive(Deserialize)]
struct ProjectId {
    id: i64,
}

impl PgQueue {
    /// Finds the queue, and makes it where there is none of this name.
    ///
    /// # Errors
    /// Where the server is away, has no tables of ours, lets in only who is newer, or is another than the link is for.
    pub fn open(mut link: ServerLink, machine: MachineIdentity, queue: &str) -> Result<Self, ServerError> {
        let (server, project) = link.verb(|flights| {
            let flight = [flights.ask("server_id", Vec::new()), flights.ask("project_find", vec![text(queue)])];
            let [server, found] = flights.fly(flight)?;
            let server = server.into_iter().next().map(answer::row::<ServerId>).transpose()?.ok_or_else(nameless)?;
            refuse_too_old(server.oldest).map_err(Trouble::Final)?;
            let project = match found.into_iter().next() {
                Some(found) => answer::row::<ProjectId>(found)?.id,
                None => make_project(flights, queue)?,
            };
            Ok((server.id, project))
        })?;
        link.bind(&server)?;
        let place = QueuePlace { server, queue: queue.to_string(), shown: link.shown() };
        let identity = Identity { machine, queue: queue.to_string(), project };
        let grace_ms = i64::try_from(GRACE.as_millis()).unwrap_or(i64::MAX);
        Ok(Self { link, identity, place, grace_ms })
    }

    /// How long nothing lapses after a start of the server, in place of two minutes.
    #[must_use]
    pub fn with_grace(self, grace: Duration) -> Self {
        Self { grace_ms: i64::try_from(grace.as_millis()).unwrap_or(i64::MAX), ..self }
    }

    /// The connection, for what else is asked of the same server.
    pub fn link(&mut self) -> &mut ServerLink {
        &mut self.link
    }

    pub fn into_link(self) -> ServerLink {
        self.link
    }

    /// Whether its connection did not break. After another one the queue is to be found anew.
    pub fn is_open(&self) -> bool {
        self.link.is_open()
    }
}

/// The server's own id; `None` where it has none.
pub(crate) fn server_id(connection: &mut Connection, schema: &Schema) -> Result<Option<String>, ServerError> {
    let asked = Statement::new(queue_statement("server_id"), schema.name(), Vec::new());
    let row = connection.flight(&[asked], InTransaction::Yes)?.into_iter().flatten().next();
    Ok(row.map(answer::row::<ServerId>).transpose()?.map(|server| server.id))
}

fn nameless() -> Trouble {
    let why = "the server has no id of its own; its owner runs `taut shared migrate`";
    Trouble::Final(ServerError::Refused(why.to_string()))
}

fn make_project(flights: &mut Flights<'_>, queue: &str) -> Result<i64, Trouble> {
    // Where another made it at the same moment, nothing is made here and it is there to be found.
    let flight = [flights.ask("project_make", vec![text(queue)]), flights.ask("project_find", vec![text(queue)])];
    let [made, found] = flights.write(flight)?;
    match made.into_iter().chain(found).next() {
        Some(row) => Ok(answer::row::<ProjectId>(row)?.id),
        None => Err(Trouble::Overtaken(format!("the queue {queue} is being made; try again"))),
    }
}

impl Identity {
    fn reading(&self, shift: i64) -> Reading<'_> {
        Reading { queue: &self.queue, machine: &self.machine.id, shift }
    }

    /// As a parameter.
    fn project(&self) -> Option<String> {
        Some(self.project.to_string())
    }
}

impl TaskServer for PgQueue {
    fn place(&self) -> &QueuePlace {
        &self.place
    }

    fn task(&mut self, slug: &str) -> Result<Option<Task>, ServerError> {
        read::task(self, slug)
    }

    fn tasks(&mut self, filter: &TaskFilter) -> Result<Vec<Task>, ServerError> {
        read::tasks(self, filter)
    }

    fn attempts(&mut self, slug: &str) -> Result<Vec<Attempt>, ServerError> {
        read::attempts(self, slug)
    }

    fn blocker_results(&mut self, slug: &str) -> Result<Vec<(String, Value)>, ServerError> {
        read::blocker_results(self, slug)
    }

    fn dependencies_below(&mut self, slug: &str) -> Result<Vec<Dependency>, ServerError> {
        read::dependencies_below(self, slug)
    }

    fn tasks_of_document(&mut self, spec: &str) -> Result<Vec<Queued>, ServerError> {
        read::tasks_of_document(self, spec)
    }

    fn waiting(&mut self) -> Result<WaitingTasks, ServerError> {
        read::waiting(self)
    }

    fn look(&mut self) -> Result<QueueLook, ServerError> {
        read::look(self)
    }

    fn standing(&mut self, slug: &str, mine: AttemptKey<'_>) -> Result<Option<TaskStanding>, ServerError> {
        let identity = &self.identity;
        self.link.verb(|flights| turn::standing(flights, identity, slug, mine))
    }

    fn claim(&mut self, wish: &ClaimWish) -> Result<Option<ServerClaim>, ServerError> {
        claim::claim(self, wish)
    }

    fn settle(&mut self, turn: &ServerTurn) -> Result<TurnAnswer, ServerError> {
        turn::settle(self, turn)
    }

    fn turns(&mut self, turns: &[ServerTurn]) -> Result<Vec<i64>, ServerError> {
        turn::turns(self, turns)
    }

    fn renew(&mut self, holds: &[Renewal]) -> Result<Renewed, ServerError> {
        lease::renew(self, holds)
    }

    fn lapsed(&mut self, most: usize) -> Result<Vec<TaskStanding>, ServerError> {
        lease::lapsed(self, most)
    }

    fn held(&mut self) -> Result<Vec<HeldThere>, ServerError> {
        lease::held(self)
    }

    fn plan(&mut self, work: &mut dyn FnMut(&dyn PlanRows) -> Result<(), Error>) -> Result<(), Error> {
        plan::plan(self, work)
    }
}
