//! One queue on a real server and machines that share it: each a home of its own, with its own hooks and database.

mod again;
mod away;
mod back;
mod behind;
mod busy;
mod folders;
mod hooks;
mod leases;
mod lost;
mod moved;
mod proven;
mod unheard;
mod unsure;
mod verbs;

use crate::home::PipelineHome;
use engine::queue::{Actor, Claimant, Speaker};
use model::Ms;
use model::task::{Attempt, ClockReading, Queued, Task, TaskPlan};
use pipeline::queue::{Claimed, Queue, QueueError, Settled};
use serde_json::{Value, json};
use shared_store::{MachineIdentity, Patience, PgQueue, Schema, ServerLink, Surroundings, Target, TargetWish};
use std::sync::Arc;
use std::time::Duration;
use store::{
    AttemptKey, ClaimWish, Dependency, Error, HeldThere, PlanRows, QueueLook, QueuePlace, Renewal, Renewed,
    ServerClaim, ServerError, ServerTurn, TaskFilter, TaskServer, TaskStanding, TurnAnswer, WaitingTasks,
};
use testkit::postgres::{Cluster, OWNER};

const QUEUE: &str = "acme/shop";
/// Who is away is so by a wall here, and never by being slow.
const PLENTY: Patience = Patience { connect: Duration::from_secs(60), flight: Duration::from_secs(60) };
const LEASE_MS: i64 = 600_000;

/// A new database with our schema, on the cluster that all tests share.
struct SharedServer {
    cluster: &'static Cluster,
    database: String,
}

/// A machine, and its way to the server, which can be cut.
struct Member {
    home: PipelineHome,
    queue: Cut,
    /// By which the server knows it.
    id: String,
}

/// The queue behind a wall that can be put up: then it is away.
struct Cut {
    queue: PgQueue,
    away: bool,
    /// Looks at what is so whenever a word is about to be said.
    witness: Option<Box<dyn FnMut()>>,
    /// What is done once, when somebody is about to speak to the server.
    at_meeting: Option<Box<dyn FnOnce()>>,
    /// The same when a claim was made, before its claimant hears of it.
    after_claim: Option<Box<dyn FnOnce()>>,
    /// A word is heard, and what is answered gets lost.
    is_mute: bool,
    /// Tasks whose rows somebody there has locked.
    locked: Vec<String>,
    /// The words that were said, by task.
    words: Vec<String>,
}

impl SharedServer {
    fn start() -> Option<Self> {
        let cluster = Cluster::shared()?;
        let server = Self { cluster, database: cluster.database() };
        shared_store::migrate(&server.target(OWNER), &schema(), PLENTY).unwrap();
        Some(server)
    }

    fn target(&self, role: &str) -> Target {
        let wish = TargetWish { url: Some(self.cluster.url(role, &self.database)), ..TargetWish::default() };
        Target::resolve(&wish, &Surroundings::default()).unwrap()
    }

    fn machine(&self, label: &str) -> Member {
        let id = host::clock::uuid(host::clock::now());
        Member { home: PipelineHome::new(), queue: Cut::on(self.way(&id, label)), id }
    }

    /// Another connection of a machine.
    fn way(&self, id: &str, label: &str) -> PgQueue {
        let link = ServerLink::new(self.target("taut_agent"), schema(), PLENTY, Arc::new(host::clock::now));
        let machine = MachineIdentity { id: id.into(), label: label.into() };
        // The cluster has just started: its grace is another test's matter.
        PgQueue::open(link, machine, QUEUE).unwrap().with_grace(Duration::ZERO)
    }

    fn sql(&self, statement: &str) -> String {
        self.cluster.sql(&self.database, statement).trim().to_string()
    }

    /// The lease of a task ran out a while ago, by the only clock that counts.
    fn lapse(&self, slug: &str) {
        self.sql(&format!(
            "UPDATE taut.tasks SET lease_until = clock_timestamp() - interval '1 second' WHERE slug = '{slug}'"
        ));
    }

    fn status(&self, slug: &str) -> String {
        self.sql(&format!("SELECT status || ' ' || attempt FROM taut.tasks WHERE slug = '{slug}'"))
    }
}

fn schema() -> Schema {
    Schema::named("taut").unwrap()
}

impl Member {
    fn project(&self) -> String {
        self.home.folder("acme").to_string_lossy().into_owned()
    }

    fn queue(&mut self) -> Queue<'_> {
        let queue: Queue<'_> = Queue::new(self.home.pipeline.store().unwrap(), host::clock_reading::moment);
        queue.on(&mut self.queue)
    }

    fn plan(&mut self, slug: &str, deps: &[&str]) {
        let deps = deps.iter().map(ToString::to_string).collect();
        let plan = TaskPlan { slug: slug.into(), title: format!("do {slug}"), deps, ..TaskPlan::default() };
        let project = self.project();
        self.queue().create(&project, &plan, &Speaker::Person).unwrap();
    }

    fn claim(&mut self, agent: &str) -> Option<Claimed> {
        let project = self.project();
        self.queue().claim_first(&project, &Claimant::agent(agent, LEASE_MS)).unwrap()
    }

    fn claim_in(&mut self, agent: &str, session: &str) -> Claimed {
        let claimant = Claimant { session: Some(session.into()), ..Claimant::agent(agent, LEASE_MS) };
        let project = self.project();
        self.queue().claim_first(&project, &claimant).unwrap().unwrap()
    }

    fn done(&mut self, agent: &str, slug: &str) -> Result<Settled, QueueError> {
        let project = self.project();
        self.queue().done(&project, slug, &actor(agent), json!({"commit": "c0ffee"}))
    }

    fn round(&mut self) -> Result<pipeline::queue::SharedRound, QueueError> {
        self.queue().shared_round(pipeline::queue::OnUnsure::Tell)
    }

    /// What waits to be told to an agent here.
    fn told(&mut self, agent: &str) -> Vec<String> {
        let filter = store::MessageFilter { agent: Some(agent.into()), ..store::MessageFilter::default() };
        let rows = self.home.pipeline.store().unwrap().addressed_messages(&filter).unwrap();
        rows.into_iter().map(|row| row.message.body).collect()
    }
}

fn actor(agent: &str) -> Actor {
    Actor { agent: agent.into(), attempt: None, token: None, speaker: Speaker::agent(agent) }
}

fn clock() -> ClockReading {
    host::clock_reading::moment()
}

impl Cut {
    fn on(queue: PgQueue) -> Self {
        let (witness, at_meeting, after_claim) = (None, None, None);
        Self {
            queue,
            away: false,
            witness,
            at_meeting,
            after_claim,
            is_mute: false,
            locked: Vec::new(),
            words: Vec::new(),
        }
    }

    fn answered<T>(&self, answer: T) -> Result<T, ServerError> {
        if self.is_mute { Err(ServerError::Away("its answer got lost".into())) } else { Ok(answer) }
    }

    fn there(&mut self) -> Result<&mut PgQueue, ServerError> {
        self.witness.iter_mut().for_each(|look| look());
        if self.away { Err(ServerError::Away("the wall is up".into())) } else { Ok(&mut self.queue) }
    }
}

impl TaskServer for Cut {
    fn place(&self) -> &QueuePlace {
        self.queue.place()
    }

    fn meet(&mut self) -> Result<(), ServerError> {
        if let Some(work) = self.at_meeting.take() {
            work();
        }
        Ok(())
    }

    fn task(&mut self, slug: &str) -> Result<Option<Task>, ServerError> {
        self.there()?.task(slug)
    }

    fn tasks(&mut self, filter: &TaskFilter) -> Result<Vec<Task>, ServerError> {
        self.there()?.tasks(filter)
    }

    fn attempts(&mut self, slug: &str) -> Result<Vec<Attempt>, ServerError> {
        self.there()?.attempts(slug)
    }

    fn blocker_results(&mut self, slug: &str) -> Result<Vec<(String, Value)>, ServerError> {
        self.there()?.blocker_results(slug)
    }

    fn dependencies_below(&mut self, slug: &str) -> Result<Vec<Dependency>, ServerError> {
        self.there()?.dependencies_below(slug)
    }

    fn tasks_of_document(&mut self, spec: &str) -> Result<Vec<Queued>, ServerError> {
        self.there()?.tasks_of_document(spec)
    }

    fn waiting(&mut self) -> Result<WaitingTasks, ServerError> {
        self.there()?.waiting()
    }

    fn look(&mut self) -> Result<QueueLook, ServerError> {
        self.there()?.look()
    }

    fn standing(&mut self, slug: &str, mine: AttemptKey<'_>) -> Result<Option<TaskStanding>, ServerError> {
        self.there()?.standing(slug, mine)
    }

    fn claim(&mut self, wish: &ClaimWish) -> Result<Option<ServerClaim>, ServerError> {
        let made = self.there()?.claim(wish)?;
        if let Some(work) = self.after_claim.take() {
            work();
        }
        Ok(made)
    }

    fn settle(&mut self, turn: &ServerTurn) -> Result<TurnAnswer, ServerError> {
        self.words.push(turn.slug.clone());
        if self.locked.contains(&turn.slug) {
            return Err(ServerError::Busy("another session holds it".into()));
        }
        let answer = self.there()?.settle(turn)?;
        self.answered(answer)
    }

    fn turns(&mut self, turns: &[ServerTurn]) -> Result<Vec<i64>, ServerError> {
        self.there()?.turns(turns)
    }

    fn renew(&mut self, holds: &[Renewal]) -> Result<Renewed, ServerError> {
        let answer = self.there()?.renew(holds)?;
        self.answered(answer)
    }

    fn lapsed(&mut self, most: usize) -> Result<Vec<TaskStanding>, ServerError> {
        self.there()?.lapsed(most)
    }

    fn held(&mut self) -> Result<Vec<HeldThere>, ServerError> {
        self.there()?.held()
    }

    fn plan(&mut self, work: &mut dyn FnMut(&dyn PlanRows) -> Result<(), Error>) -> Result<(), Error> {
        self.there()?.plan(work)
    }
}

/// A moment long past, for what is to look old.
fn long_ago() -> Ms {
    Ms(clock().now.0 - 24 * 3_600_000)
}
