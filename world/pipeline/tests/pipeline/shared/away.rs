//! The server is away: what is said is kept, in order, and counts when it is back, or is refused and kept readable.

use super::SharedServer;
use pipeline::queue::{QueueError, Settled};
use serde_json::json;
use store::ServerError;

#[test]
fn x2_a_done_while_the_server_is_away_is_kept_and_counts_when_it_is_back() {
    let Some(server) = SharedServer::start() else { return };
    let mut one = server.machine("one");
    one.plan("a", &[]);
    one.plan("b", &["a"]);
    one.claim("ann").unwrap();
    one.queue.away = true;
    let kept = one.done("ann", "a").unwrap();
    assert!(matches!(&kept, Settled::Kept { why, .. } if why == "the wall is up"), "{kept:?}");
    assert_eq!(server.status("a"), "active 1");
    let (standing, owed) = {
        let store = one.home.pipeline.store().unwrap();
        (store.outbox_standing().unwrap(), store.shared_hold_count().unwrap())
    };
    assert_eq!((standing.turns, owed), (1, 0), "owed, and held no more");
    assert!(one.round().is_err(), "still away");
    one.queue.away = false;
    assert_eq!(one.round().unwrap().said, 1);
    assert_eq!(server.status("a"), "done 1");
    assert_eq!(server.sql("SELECT open_blockers FROM taut.tasks WHERE slug = 'b'"), "0");
    assert_eq!(one.home.pipeline.store().unwrap().outbox_standing().unwrap().turns, 0);
    assert_eq!(one.round().unwrap().said, 0, "once");
}

#[test]
fn x2_a_kept_done_whose_task_was_given_to_another_is_refused_told_and_its_result_kept() {
    let Some(server) = SharedServer::start() else { return };
    let (mut one, mut two) = (server.machine("one"), server.machine("two"));
    one.plan("a", &[]);
    one.claim("ann").unwrap();
    one.queue.away = true;
    let kept = one.done("ann", "a").unwrap();
    assert!(matches!(&kept, Settled::Kept { why, .. } if why == "the wall is up"), "{kept:?}");
    server.lapse("a");
    assert_eq!(two.claim("bob").unwrap().task.queued.attempt, 2, "the lease ran out, so it is another's");
    one.queue.away = false;
    let round = one.round().unwrap();
    assert_eq!((round.said, round.refused), (0, vec!["a".to_string()]));
    assert_eq!(server.status("a"), "active 2", "the late word changed nothing");
    let refused = one.home.pipeline.store().unwrap().refused_turns().unwrap();
    assert_eq!(refused[0].result, Some(json!({"commit": "c0ffee"})));
    assert_eq!((refused[0].slug.as_str(), refused[0].outcome.as_deref()), ("a", Some("done")));
    let told = one.told("ann");
    assert!(told.len() == 1 && told[0].contains("does not count"), "{told:?}");
    assert_eq!(two.done("bob", "a").unwrap(), Settled::Now);
    assert!(one.round().unwrap().refused.is_empty() && one.told("ann").len() == 1, "told once");
}

#[test]
fn x2_a_done_behind_a_lapsed_lease_is_refused_at_once_where_the_server_is_there() {
    let Some(server) = SharedServer::start() else { return };
    let (mut one, mut two) = (server.machine("one"), server.machine("two"));
    one.plan("a", &[]);
    one.claim("ann").unwrap();
    server.lapse("a");
    two.claim("bob").unwrap();
    let refused = one.done("ann", "a").unwrap_err();
    assert!(refused.to_string().contains("lapsed") && refused.to_string().contains("bob"), "{refused}");
    assert_eq!(one.home.pipeline.store().unwrap().refused_turns().unwrap().len(), 1, "its result is kept");
    assert_eq!(server.status("a"), "active 2");
    let again = one.done("ann", "a").unwrap_err();
    assert!(again.to_string().contains("laps"), "what was refused is not done the second time: {again}");
}

#[test]
fn x2_what_a_server_refuses_for_now_is_kept_and_holds_up_no_other_word() {
    let Some(server) = SharedServer::start() else { return };
    let mut one = server.machine("one");
    for slug in ["a", "b"] {
        one.plan(slug, &[]);
        one.claim(slug).unwrap();
    }
    // As after a change of the rights there: of one task it takes no word.
    server.sql(
        "CREATE FUNCTION taut.no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF new.slug = 'a' AND new.status = 'done'
           THEN RAISE insufficient_privilege; END IF; RETURN new; END $$;
         CREATE TRIGGER no BEFORE UPDATE ON taut.tasks FOR EACH ROW EXECUTE FUNCTION taut.no()",
    );
    assert!(matches!(one.done("a", "a").unwrap(), Settled::Kept { .. }));
    one.queue.away = true;
    assert!(matches!(one.done("b", "b").unwrap(), Settled::Kept { .. }));
    one.queue.away = false;
    assert!(one.round().is_err(), "one of them is refused");
    assert_eq!((server.status("a").as_str(), server.status("b").as_str()), ("active 1", "done 1"));
    server.sql("DROP TRIGGER no ON taut.tasks");
    assert_eq!(one.round().unwrap().said, 1);
    assert_eq!(server.status("a"), "done 1");
}

/// As an older program wrote it down, which did not know such a secret yet.
#[test]
fn x3_what_is_owed_leaves_as_the_program_of_today_redacts_it() {
    let Some(server) = SharedServer::start() else { return };
    let mut one = server.machine("one");
    // In pieces, so that nobody takes this file for one with a secret in it.
    let secret = ["ghp_", "16C7e42F292c6912E7", "710c838347Ae178B4a"].concat();
    let project = one.project();
    for slug in ["a", "b"] {
        one.plan(slug, &[]);
        one.claim("ann").unwrap();
        let store = one.home.pipeline.store().unwrap();
        let held = store.task(&project, slug).unwrap().unwrap().queued;
        let (actor, now) = (super::actor("ann"), super::clock().now);
        let act = engine::queue::TaskAction { task: &held, actor: &actor, mine: None, now };
        let said = match slug {
            "a" => act.done(json!({"log": secret}), engine::queue::Proof::None),
            _ => act.fail(&secret, 0),
        };
        let Ok(engine::queue::SettleResult::Turn(turn)) = said else { panic!("{said:?}") };
        store.transact(store::Durability::Full, |tx| tx.apply(&[model::effect::Write::Task(turn.clone())])).unwrap();
    }
    assert_eq!(one.round().unwrap().said, 2);
    let there = server.sql(
        "SELECT string_agg(t::text, ' ') FROM taut.tasks t UNION ALL SELECT string_agg(t::text, ' ') FROM taut.attempts t",
    );
    assert!(there.contains("[redacted]") && !there.contains(&secret), "{there}");
}

#[test]
fn x1_a_copy_of_a_home_gives_back_nothing_that_the_other_one_claimed() {
    let Some(server) = SharedServer::start() else { return };
    let mut one = server.machine("one");
    one.plan("a", &[]);
    one.claim("ann").unwrap();
    // To a copy that was made before, this is a claim of its own machine that nobody here knows of.
    server
        .sql("UPDATE taut.tasks SET renewed_at = clock_timestamp() - interval '5 minutes', claim = gen_random_uuid()");
    one.round().unwrap();
    assert_eq!(server.status("a"), "active 1");
}

#[test]
fn x2_what_one_server_is_owed_is_never_said_to_another_at_its_address() {
    let (Some(server), Some(other)) = (SharedServer::start(), SharedServer::start()) else { return };
    let mut one = server.machine("one");
    one.plan("a", &[]);
    one.claim("ann").unwrap();
    let stranger = other.machine("one").queue;
    let there = std::mem::replace(&mut one.queue, stranger);
    assert!(matches!(one.done("ann", "a").unwrap(), Settled::Kept { why, .. } if why.contains("another server")));
    one.round().unwrap();
    assert_eq!(server.status("a"), "active 1");
    assert!(one.home.pipeline.store().unwrap().refused_turns().unwrap().is_empty(), "nobody has refused it");
    one.queue = there;
    assert_eq!(one.round().unwrap().said, 1);
    assert_eq!(server.status("a"), "done 1");
}

#[test]
fn x2_a_result_behind_a_lapse_that_was_noticed_here_stays_readable() {
    let Some(server) = SharedServer::start() else { return };
    let mut one = server.machine("one");
    one.plan("a", &[]);
    one.claim("ann").unwrap();
    server.sql("UPDATE taut.tasks SET lease_until = clock_timestamp() - interval '1 second', graced = true");
    one.round().unwrap();
    one.round().unwrap();
    assert!(one.done("ann", "a").is_err());
    assert!(one.done("ann", "a").is_err());
    let refused = one.home.pipeline.store().unwrap().refused_turns().unwrap();
    assert_eq!(refused.len(), 1, "kept once: {refused:?}");
    assert_eq!(refused[0].result, Some(json!({"commit": "c0ffee"})));
}

#[test]
fn x1_a_task_of_this_machines_own_that_is_done_keeps_its_result_beside_a_shared_one_of_its_name() {
    let Some(server) = SharedServer::start() else { return };
    let mut one = server.machine("one");
    let project = one.project();
    let plan = model::task::TaskPlan { slug: "a".into(), title: "ours".into(), ..model::task::TaskPlan::default() };
    let store = one.home.pipeline.store().unwrap();
    let mut own = pipeline::queue::Queue::new(store, host::clock_reading::moment as fn() -> _);
    own.create(&project, &plan, &engine::queue::Speaker::Person).unwrap();
    own.claim_first(&project, &engine::queue::Claimant::agent("ann", super::LEASE_MS)).unwrap().unwrap();
    own.done(&project, "a", &super::actor("ann"), json!({"own": 1})).unwrap();
    one.plan("a", &[]);
    assert_eq!(one.claim("bob").unwrap().task.plan.slug, "a");
    let tasks = one.home.pipeline.store().unwrap().tasks(&project, &store::TaskFilter::default()).unwrap();
    let own = tasks.iter().find(|task| task.plan.title == "ours").unwrap();
    assert_eq!((&own.result, own.queued.slug.starts_with("a~")), (&Some(json!({"own": 1})), true), "{own:?}");
}

#[test]
fn x2_nothing_is_claimed_while_the_server_is_away_and_that_is_said() {
    let Some(server) = SharedServer::start() else { return };
    let mut one = server.machine("one");
    one.plan("a", &[]);
    one.queue.away = true;
    let project = one.project();
    let claimant = engine::queue::Claimant::agent("ann", super::LEASE_MS);
    let refused = one.queue().claim_first(&project, &claimant).unwrap_err();
    assert!(matches!(&refused, QueueError::Server { error: ServerError::Away(_), .. }), "{refused}");
    assert!(
        refused.to_string().contains("acme/shop") && refused.to_string().contains("cannot be reached"),
        "{refused}"
    );
    assert_eq!(server.status("a"), "open 0");
}

/// The claim was made there, and whoever made it died before it wrote that down here.
#[test]
fn x2_a_claim_that_nobody_here_knows_of_goes_back_and_counts_against_nobody() {
    let Some(server) = SharedServer::start() else { return };
    let mut one = server.machine("one");
    one.plan("a", &[]);
    let wish = store::ClaimWish {
        slug: None,
        agent: "ann".into(),
        session: None,
        lease_ms: super::LEASE_MS,
        claim: host::clock::uuid(host::clock::now()),
    };
    let place = store::TaskServer::place(&one.queue).clone();
    one.home.pipeline.store().unwrap().draw_claim(&wish.claim, &place, super::clock().now).unwrap();
    store::TaskServer::claim(&mut one.queue, &wish).unwrap().unwrap();
    one.round().unwrap();
    assert_eq!(server.status("a"), "active 1", "it may be about to be written down");
    server.sql("UPDATE taut.tasks SET renewed_at = renewed_at - interval '2 minutes'");
    one.round().unwrap();
    assert_eq!(server.status("a"), "open 1");
    assert_eq!(server.sql("SELECT releases || ' ' || retry_count FROM taut.tasks"), "0 0");
}
