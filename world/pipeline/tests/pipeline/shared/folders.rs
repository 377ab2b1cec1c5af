//! Two folders of one queue on a machine, and claims that nobody wrote down.

use super::{LEASE_MS, Member, SharedServer, actor, clock};
use engine::queue::Claimant;
use pipeline::queue::{Queue, QueueError, Settled};
use serde_json::{Value, json};
use store::{ClaimWish, TaskServer};

impl Member {
    fn other(&self) -> String {
        self.home.folder("other").to_string_lossy().into_owned()
    }

    fn claim_at(&mut self, project: &str, agent: &str) -> Option<pipeline::queue::Claimed> {
        self.queue().claim_first(project, &Claimant::agent(agent, LEASE_MS)).unwrap()
    }

    fn done_at(&mut self, project: &str, agent: &str, slug: &str) -> Result<Settled, QueueError> {
        self.queue().done(project, slug, &actor(agent), json!({"commit": "c0ffee"}))
    }

    fn holds(&mut self) -> Vec<(String, i64)> {
        let store = self.home.pipeline.store().unwrap();
        let server = store.server_of(super::QUEUE).unwrap().unwrap_or_default();
        store.shared_holds(&server).unwrap().into_iter().map(|hold| (hold.project, hold.attempt)).collect()
    }
}

#[test]
fn q3_a_holder_is_heard_where_another_folder_of_its_machine_held_the_task_before() {
    let Some(server) = SharedServer::start() else { return };
    let mut one = server.machine("one");
    one.plan("a", &[]);
    let (first, second) = (one.project(), one.other());
    one.claim_at(&first, "ann").unwrap();
    server.lapse("a");
    assert_eq!(one.claim_at(&second, "bob").unwrap().task.queued.attempt, 2);
    assert_eq!(
        one.holds(),
        [(second.clone(), 2)],
        "the server has given it away, so the first folder holds it no more"
    );
    let told = one.told("ann");
    assert!(told.len() == 1 && told[0].contains("lease (attempt 1) is over"), "{told:?}");
    assert_eq!(one.done_at(&second, "bob", "a").unwrap(), Settled::Now);
    assert_eq!(server.status("a"), "done 2");
}

#[test]
fn q3_who_claims_again_in_the_same_folder_takes_it_from_an_agent_that_is_told() {
    let Some(server) = SharedServer::start() else { return };
    let mut one = server.machine("one");
    one.plan("a", &[]);
    let project = one.project();
    one.claim_at(&project, "ann").unwrap();
    server.lapse("a");
    one.claim_at(&project, "bob").unwrap();
    assert_eq!(one.holds(), [(project.clone(), 2)]);
    assert_eq!(one.told("ann").len(), 1);
    let late = one.done_at(&project, "ann", "a").unwrap_err().to_string();
    assert!(!late.contains("73071226"), "{late}");
    assert_eq!(one.done_at(&project, "bob", "a").unwrap(), Settled::Now);
}

#[test]
fn q3_a_refusal_names_no_end_of_a_lease_that_is_the_servers_to_end() {
    let Some(server) = SharedServer::start() else { return };
    let mut one = server.machine("one");
    one.plan("a", &[]);
    let project = one.project();
    one.claim_at(&project, "ann").unwrap();
    let refused = one.done_at(&project, "bob", "a").unwrap_err().to_string();
    assert!(refused.contains("held by agent ann (attempt 1)") && !refused.contains("until"), "{refused}");
}

/// A server that answers a claim; and before the claimant has written that down, this happens.
struct StandsStill<'a> {
    queue: &'a mut dyn TaskServer,
    meanwhile: Box<dyn FnMut(&str) + 'a>,
}

/// Everything but the claim goes through.
macro_rules! through {
    ($($verb:ident($($name:ident: $kind:ty),*) -> $answer:ty;)*) => {
        $(fn $verb(&mut self, $($name: $kind),*) -> Result<$answer, store::ServerError> { self.queue.$verb($($name),*) })*
    };
}

impl TaskServer for StandsStill<'_> {
    fn place(&self) -> &store::QueuePlace {
        self.queue.place()
    }

    fn claim(&mut self, wish: &ClaimWish) -> Result<Option<store::ServerClaim>, store::ServerError> {
        let made = self.queue.claim(wish)?;
        (self.meanwhile)(&wish.claim);
        Ok(made)
    }

    through! {
        task(slug: &str) -> Option<model::task::Task>;
        tasks(filter: &store::TaskFilter) -> Vec<model::task::Task>;
        attempts(slug: &str) -> Vec<model::task::Attempt>;
        blocker_results(slug: &str) -> Vec<(String, Value)>;
        dependencies_below(slug: &str) -> Vec<store::Dependency>;
        tasks_of_document(spec: &str) -> Vec<model::task::Queued>;
        waiting() -> store::WaitingTasks;
        look() -> store::QueueLook;
        standing(slug: &str, mine: store::AttemptKey<'_>) -> Option<store::TaskStanding>;
        settle(turn: &store::ServerTurn) -> store::TurnAnswer;
        turns(turns: &[store::ServerTurn]) -> Vec<i64>;
        renew(holds: &[store::Renewal]) -> store::Renewed;
        lapsed(most: usize) -> Vec<store::TaskStanding>;
        held() -> Vec<store::HeldThere>;
    }

    fn plan(
        &mut self,
        work: &mut dyn FnMut(&dyn store::PlanRows) -> Result<(), store::Error>,
    ) -> Result<(), store::Error> {
        self.queue.plan(work)
    }
}

#[test]
fn x2_a_claim_that_was_given_back_before_it_was_written_down_is_held_by_nobody() {
    let Some(server) = SharedServer::start() else { return };
    let mut one = server.machine("one");
    one.plan("a", &[]);
    let project = one.project();
    // The daemon has a way and a store of its own.
    let (state, mut way) = (one.home.folder("state"), server.way(&one.id, "one"));
    let meanwhile = Box::new(|claim: &str| {
        server.sql("UPDATE taut.tasks SET renewed_at = renewed_at - interval '2 minutes'");
        let mut store = store::Store::open(&state, std::time::Duration::from_secs(5)).unwrap();
        assert!(store.is_drawn_and_lost(claim).unwrap());
        let mut daemon: Queue<'_> = Queue::new(&mut store, host::clock_reading::moment as fn() -> _).on(&mut way);
        daemon.shared_round(pipeline::queue::OnUnsure::Tell).unwrap();
    });
    let told = {
        let mut stands = StandsStill { queue: &mut one.queue, meanwhile };
        let store = one.home.pipeline.store().unwrap();
        let mut queue: Queue<'_> = Queue::new(store, host::clock_reading::moment as fn() -> _).on(&mut stands);
        queue.claim_first(&project, &Claimant::agent("ann", LEASE_MS)).unwrap_err().to_string()
    };
    assert!(told.contains("was given back") && told.contains("nothing is held"), "{told}");
    assert_eq!((server.status("a"), one.holds()), ("open 1".into(), Vec::new()));
    assert_eq!(one.claim_at(&project, "ann").unwrap().task.queued.attempt, 2);
}

#[test]
fn x2_a_queue_in_which_a_claim_was_never_heard_of_is_looked_after_until_that_is_settled() {
    let Some(server) = SharedServer::start() else { return };
    let mut one = server.machine("one");
    one.plan("a", &[]);
    let place = TaskServer::place(&one.queue).clone();
    let wish = ClaimWish {
        slug: None,
        agent: "ann".into(),
        session: None,
        lease_ms: LEASE_MS,
        claim: host::clock::uuid(clock().now),
    };
    let in_hand = |one: &mut Member| one.home.pipeline.store().unwrap().queues_in_hand(&place.server).unwrap();
    assert_eq!(in_hand(&mut one), Vec::<String>::new());
    one.home.pipeline.store().unwrap().draw_claim(&wish.claim, &place, clock().now).unwrap();
    one.queue.claim(&wish).unwrap().unwrap();
    assert_eq!(in_hand(&mut one), [super::QUEUE], "whoever drew it is gone");
    server.sql("UPDATE taut.tasks SET renewed_at = renewed_at - interval '2 minutes'");
    one.round().unwrap();
    assert_eq!((server.status("a"), in_hand(&mut one)), ("open 1".into(), Vec::new()));
    // One that never reached the server is forgotten after a while, so that the server may sleep.
    let long_ago = model::Ms(clock().now.0 - 61_000);
    one.home.pipeline.store().unwrap().draw_claim("never-sent", &place, long_ago).unwrap();
    one.home.pipeline.store().unwrap().draw_claim("just-sent", &place, clock().now).unwrap();
    one.round().unwrap();
    let store = one.home.pipeline.store().unwrap();
    assert!(!store.is_drawn_and_lost("never-sent").unwrap() && store.is_drawn_and_lost("just-sent").unwrap());
}
