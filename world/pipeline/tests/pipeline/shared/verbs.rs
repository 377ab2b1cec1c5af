//! The verbs of a queue mean the same on a server: two machines, one list of work.

use super::{LEASE_MS, SharedServer, actor};
use engine::queue::{Claimant, Speaker};
use model::task::{TaskPlan, TaskStatus};
use pipeline::queue::{QueueError, Settled, SyncMode, TaskChange, read_plan};
use serde_json::json;
use store::{TaskEdit, TaskFilter};

#[test]
fn x1_q2_two_machines_take_from_one_queue_and_never_one_task() {
    let Some(server) = SharedServer::start() else { return };
    let (mut one, mut two) = (server.machine("one"), server.machine("two"));
    for slug in ["a", "b", "c"] {
        one.plan(slug, &[]);
    }
    let mut got = vec![
        one.claim("ann").unwrap().task.plan.slug,
        two.claim("ann").unwrap().task.plan.slug,
        one.claim("bob").unwrap().task.plan.slug,
    ];
    got.sort();
    assert_eq!(got, ["a", "b", "c"]);
    assert!(two.claim("bob").is_none(), "nothing is left");
}

#[test]
fn x1_a_result_on_one_machine_frees_what_waits_on_another_which_is_told_it() {
    let Some(server) = SharedServer::start() else { return };
    let (mut one, mut two) = (server.machine("one"), server.machine("two"));
    one.plan("a", &[]);
    two.plan("b", &["a"]);
    assert_eq!(one.claim("ann").unwrap().task.plan.slug, "a");
    assert!(two.claim("bob").is_none(), "b waits for a");
    assert_eq!(one.done("ann", "a").unwrap(), Settled::Now);
    let claimed = two.claim("bob").unwrap();
    assert_eq!(claimed.task.plan.slug, "b");
    assert_eq!(claimed.blocker_results, [("a".to_string(), json!({"commit": "c0ffee"}))]);
}

#[test]
fn x1_an_agent_of_one_name_on_two_machines_is_two_agents() {
    let Some(server) = SharedServer::start() else { return };
    let (mut one, mut two) = (server.machine("one"), server.machine("two"));
    one.plan("a", &[]);
    one.claim("ann").unwrap();
    // By name alone this would be the holder's own word.
    let refused = two.done("ann", "a").unwrap_err();
    assert!(matches!(refused, QueueError::Refused { .. }), "{refused}");
    assert_eq!(server.status("a"), "active 1");
    assert_eq!(one.done("ann", "a").unwrap(), Settled::Now);
    assert_eq!(server.status("a"), "done 1");
    assert!(two.done("ann", "a").is_err(), "the other has not done it");
}

#[test]
fn q3_done_twice_is_once_and_said() {
    let Some(server) = SharedServer::start() else { return };
    let mut one = server.machine("one");
    one.plan("a", &[]);
    one.claim("ann").unwrap();
    assert_eq!(one.done("ann", "a").unwrap(), Settled::Now);
    assert!(matches!(one.done("ann", "a").unwrap(), Settled::Already(_)));
}

#[test]
fn x2_a_result_that_no_server_keeps_is_refused_before_anything_is_written_and_one_that_just_fits_is_taken() {
    let Some(server) = SharedServer::start() else { return };
    let mut laptop = server.machine("laptop");
    laptop.plan("a", &[]);
    laptop.claim("ann").unwrap();
    let project = laptop.project();
    let deep = (0..100).fold(json!(1), |inner, _| json!([inner]));
    let long = json!({"commit": "c0ffee", "log": "x".repeat(1_000_001)});
    let written_out = json!({"commit": "c0ffee", "log": vec![1e299; 4_000]});
    for away in [false, true] {
        laptop.queue.away = away;
        for result in [&deep, &long, &written_out, &json!([1e301])] {
            let told = laptop.queue().done(&project, "a", &actor("ann"), result.clone());
            let words = told.unwrap_err().to_string();
            assert!(words.contains("nothing was written") && words.contains("`taut task done a --result"), "{words}");
        }
    }
    laptop.queue.away = false;
    assert_eq!(server.status("a"), "active 1");
    let deep = (0..89).fold(json!(1), |inner, _| json!([inner]));
    let fits = json!({"commit": "c0ffee", "log": "x".repeat(990_000), "deep": deep});
    assert_eq!(laptop.queue().done(&project, "a", &actor("ann"), fits).unwrap(), Settled::Now);
    assert_eq!(server.status("a"), "done 1");
}

/// What stands for what is taken out may be longer than that, or shorter.
#[test]
fn x2_a_result_is_measured_as_it_leaves_this_machine() {
    let Some(server) = SharedServer::start() else { return };
    let mut laptop = server.machine("laptop");
    let project = laptop.project();
    for slug in ["a", "b"] {
        laptop.plan(slug, &[]);
        laptop.claim("ann").unwrap();
    }
    let grows = json!({"logins": vec![json!({"password": "x"}); 45_000]});
    assert!(grows.to_string().len() < 1_000_000);
    let told = laptop.queue().done(&project, "a", &actor("ann"), grows);
    let words = told.unwrap_err().to_string();
    assert!(words.contains("nothing was written") && words.contains("bytes"), "{words}");
    assert_eq!(server.status("a"), "active 1");
    let shrinks = json!({"logins": vec![json!({"password": "correct horse 7".repeat(4)}); 18_000]});
    assert!(shrinks.to_string().len() > 1_000_000);
    assert_eq!(laptop.queue().done(&project, "b", &actor("ann"), shrinks).unwrap(), Settled::Now);
    assert_eq!(
        server.sql("SELECT result -> 'logins' -> 0 FROM taut.tasks WHERE slug = 'b'"),
        r#"{"password": "[redacted]"}"#
    );
}

#[test]
fn x2_a_result_that_no_server_keeps_is_refused_for_a_copy_too_while_its_machine_is_not_connected() {
    let Some(server) = SharedServer::start() else { return };
    let mut laptop = server.machine("laptop");
    for slug in ["a", "b"] {
        laptop.plan(slug, &[]);
        laptop.claim("ann").unwrap();
    }
    let project = laptop.project();
    let mut unconnected: pipeline::queue::Queue<'_> =
        pipeline::queue::Queue::new(laptop.home.pipeline.store().unwrap(), host::clock_reading::moment);
    let long = json!({"log": "x".repeat(1_000_001)});
    let words = unconnected.done(&project, "a", &actor("ann"), long.clone()).unwrap_err().to_string();
    assert!(words.contains("nothing was written") && words.contains("`taut task done a --result"), "{words}");
    let kept = unconnected.done(&project, "b", &actor("ann"), json!({"commit": "c0ffee"})).unwrap();
    assert!(matches!(kept, Settled::Kept { .. }), "{kept:?}");
    assert_eq!(laptop.home.pipeline.store().unwrap().outbox_standing().unwrap().turns, 1, "the word of b alone");
    // This machine's own queue has no such bound.
    let mut own: pipeline::queue::Queue<'_> =
        pipeline::queue::Queue::new(laptop.home.pipeline.store().unwrap(), host::clock_reading::moment);
    let plan = TaskPlan { slug: "c".into(), title: "do c".into(), ..TaskPlan::default() };
    own.create("/elsewhere", &plan, &Speaker::Person).unwrap();
    own.claim_first("/elsewhere", &Claimant::agent("ann", LEASE_MS)).unwrap().unwrap();
    assert_eq!(own.done("/elsewhere", "c", &actor("ann"), long).unwrap(), Settled::Now);
}

#[test]
fn q3_a_token_acts_on_its_attempt_and_no_other_does() {
    let Some(server) = SharedServer::start() else { return };
    let mut one = server.machine("one");
    one.plan("a", &[]);
    let token = one.claim("ann").unwrap().token;
    let project = one.project();
    let mut stranger = actor("bob");
    let refused = one.queue().fail(&project, "a", &stranger, "no").unwrap_err();
    assert!(matches!(refused, QueueError::Refused { .. }), "{refused}");
    stranger.token = Some("0".repeat(32));
    assert!(one.queue().fail(&project, "a", &stranger, "no").is_err());
    stranger.token = Some(token);
    assert_eq!(one.queue().fail(&project, "a", &stranger, "no").unwrap(), Settled::Now);
    assert_eq!(server.sql("SELECT failures || ' ' || fail_reason FROM taut.tasks"), "1 no");
    assert_eq!(
        server.sql("SELECT ready_at > clock_timestamp() FROM taut.tasks"),
        "t",
        "it rests by the server's clock"
    );
}

#[test]
fn q1_plans_are_made_changed_linked_and_deleted_as_at_home() {
    let Some(server) = SharedServer::start() else { return };
    let (mut one, mut two) = (server.machine("one"), server.machine("two"));
    let (here, there) = (one.project(), two.project());
    let lines = "{\"id\":\"x/1\",\"t\":\"one\",\"spec\":\"s.md\"}\n\
                 {\"id\":\"x/2\",\"t\":\"two\",\"spec\":\"s.md\",\"deps\":[\"x/1\"],\"steps\":[\"first\",\"then\"]}\n";
    let plan = read_plan(lines).unwrap();
    let synced = one.queue().sync(&here, plan.clone(), &Speaker::Person, &SyncMode::default()).unwrap();
    assert_eq!((synced.inserted, synced.updated), (2, 0));
    let again = two.queue().sync(&there, plan, &Speaker::Person, &SyncMode::default()).unwrap();
    assert_eq!((again.inserted, again.updated), (0, 2));
    let shown = two.queue().task(&there, "x/2").unwrap().unwrap();
    assert_eq!((shown.plan.title.as_str(), shown.plan.deps.len(), shown.plan.steps.len()), ("two", 1, 2));
    assert!(two.queue().finish_step(&there, "x/2", 1, &Speaker::Person).unwrap());
    assert!(one.queue().task(&here, "x/2").unwrap().unwrap().plan.steps[0].done);
    let circle = one.queue().block(&here, "x/1", "x/2").unwrap_err();
    assert!(circle.to_string().contains("would wait for each other"), "{circle}");
    let edit = TaskEdit { title: Some("two again".into()), ..TaskEdit::default() };
    let change = TaskChange { edit, ..TaskChange::default() };
    two.queue().update(&there, "x/2", &change, &Speaker::Person).unwrap();
    two.queue().delete(&there, "x/1", &Speaker::Person).unwrap();
    let left = one.queue().tasks(&here, &TaskFilter { statuses: vec![TaskStatus::Open], ..TaskFilter::default() });
    let left: Vec<(String, i64)> =
        left.unwrap().into_iter().map(|task| (task.plan.title, task.queued.open_blockers)).collect();
    assert_eq!(left, [("two again".to_string(), 0)], "what waited for a deleted task may go on");
}

#[test]
fn x3_a_command_that_proves_a_task_never_goes_to_a_server() {
    let Some(server) = SharedServer::start() else { return };
    let mut one = server.machine("one");
    let project = one.project();
    let plan =
        TaskPlan { slug: "a".into(), title: "a".into(), verify: Some("touch /tmp/x".into()), ..TaskPlan::default() };
    let refused = one.queue().create(&project, &plan, &Speaker::Person).unwrap_err();
    assert!(refused.to_string().contains("no command comes from there"), "{refused}");
    let lines = read_plan("{\"id\":\"a\",\"t\":\"a\",\"verify\":\"touch /tmp/x\"}\n").unwrap();
    let synced = one.queue().sync(&project, lines, &Speaker::Person, &SyncMode::default()).unwrap();
    assert_eq!(synced.inserted, 1);
    assert!(synced.left.iter().any(|why| why.contains("not sent to a server")), "{:?}", synced.left);
    assert_eq!(one.claim("ann").unwrap().task.plan.verify, None);
}

#[test]
fn x1_a_task_of_this_machines_own_queue_is_not_written_over() {
    let Some(server) = SharedServer::start() else { return };
    let mut one = server.machine("one");
    one.plan("a", &[]);
    let project = one.project();
    let own = TaskPlan { slug: "a".into(), title: "mine".into(), ..TaskPlan::default() };
    let store = one.home.pipeline.store().unwrap();
    let mut local = pipeline::queue::Queue::new(store, host::clock_reading::moment);
    local.create(&project, &own, &Speaker::Person).unwrap();
    let refused = one.queue().claim_first(&project, &Claimant::agent("ann", LEASE_MS)).unwrap_err();
    assert!(refused.to_string().contains("taut shared import"), "{refused}");
    assert_eq!(server.status("a"), "open 1", "and nobody is left to hold it there");
    let kept = one.home.pipeline.store().unwrap().task(&project, "a").unwrap().unwrap();
    assert_eq!((kept.plan.title.as_str(), kept.queued.status), ("mine", TaskStatus::Open));
}

#[test]
fn x1_who_holds_a_task_is_shown_with_the_name_of_its_machine_though_no_daemon_ever_spoke_there() {
    let Some(server) = SharedServer::start() else { return };
    let (mut one, mut two) = (server.machine("one"), server.machine("vm-3"));
    one.plan("a", &[]);
    two.claim("bob").unwrap();
    let project = one.project();
    let task = one.queue().task(&project, "a").unwrap().unwrap();
    assert_eq!(task.queued.hold.unwrap().agent, "bob@vm-3");
}
