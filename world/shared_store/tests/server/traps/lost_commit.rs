//! A plan whose commit is answered by nobody: it is asked after, and where nobody can be asked, that is said.

use super::{LIMIT, Trap, now, statement, through};
use crate::PLENTY;
use model::task::TaskPlan;
use shared_store::Patience;
use std::thread;
use store::{Error, PlanRows, ServerError, TaskServer};
use testkit::{NetworkProxy, ProxyMode, poll};

/// A commit that makes a task waits for whoever holds this.
const HELD: &str = "CREATE FUNCTION taut.held() RETURNS trigger LANGUAGE plpgsql SET lock_timeout = 0 AS
      $$ BEGIN PERFORM pg_advisory_xact_lock(7); RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER held AFTER INSERT ON taut.tasks DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION taut.held()";
const HOLD: &str = "SELECT to_jsonb(true)::text FROM (SELECT pg_advisory_xact_lock(7)) AS held";

/// What a plan comes to whose connection breaks while it is committed; `then` is how whoever connects anew is met.
fn committed_into_nowhere(trap: &Trap, then: ProxyMode, patience: Patience) -> Result<(), Error> {
    trap.server.sql(HELD);
    let proxy = NetworkProxy::to_unix(&trap.server.cluster.socket()).unwrap();
    let mut queue = trap.machine_by(through(&proxy, &trap.server), patience);
    let mut holder = trap.raw();
    let mut holds = holder.begin();
    holds.flight(&[statement(HOLD, &[])]).unwrap();
    thread::scope(|scope| {
        let planner = scope.spawn(move || {
            let plan = TaskPlan { slug: "a".into(), title: "a".into(), ..TaskPlan::default() };
            // The server undoes what was held up too long before the connection broke.
            poll::until("the commit to be held up for a moment only", LIMIT, || {
                match queue.plan(&mut |rows: &dyn PlanRows| rows.add_task("acme", &plan, now()).map(drop)) {
                    Err(Error::Server(ServerError::Busy(_))) => None,
                    told => Some(told),
                }
            })
            .unwrap()
        });
        trap.until_waiting(1);
        proxy.set(then);
        proxy.reset();
        drop(holds);
        planner.join().unwrap()
    })
}

#[test]
fn x2_a_plan_whose_answer_is_lost_is_written_once() {
    let Some(trap) = Trap::set(&[]) else { return };
    committed_into_nowhere(&trap, ProxyMode::Pass, PLENTY).unwrap();
    assert_eq!(trap.server.sql("SELECT string_agg(slug, ' ') FROM taut.tasks"), "a");
}

#[test]
fn x2_of_a_plan_whose_answer_is_lost_with_its_server_it_is_said_that_nobody_knows_and_what_shows_it() {
    let Some(trap) = Trap::set(&[]) else { return };
    // For so long it is asked for again.
    let told = committed_into_nowhere(&trap, ProxyMode::Refuse, Patience::default());
    let Err(Error::Server(ServerError::Away(words))) = told else { panic!("{told:?}") };
    assert!(
        words.contains("whether the plan was written is not known") && words.contains("`taut task list`"),
        "{words}"
    );
}
