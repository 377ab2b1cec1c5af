//! Workers register under ids nobody can guess, leave, or are found dead.

use super::Client;
use std::collections::BTreeSet;
use testkit::stage::Stage;

#[test]
fn q1_a_worker_registers_is_listed_and_leaves_with_its_tasks_released() {
    let stage = Stage::without_daemon();
    stage.tasks(&["a", "b"]);
    let id = stage.task_ok("", &["agent", "register"]).trim().to_string();
    stage.claim(&id);
    stage.claim(&id);
    let listed = stage.task_list(&["agent", "list", "--json"]);
    assert_eq!((&listed[0]["id"], &listed[0]["status"]), (&id.as_str().into(), &"active".into()));
    assert!(listed[0]["pid"].as_u64().unwrap() > 0 && !listed[0]["hostname"].as_str().unwrap().is_empty());
    assert_eq!(stage.task_ok("", &["agent", "deregister", &id]), format!("deregistered {id}\n"));
    assert_eq!(stage.plan_status(), "2 open, 0 active, 0 done, 0 blocked, 0 deleted");
    assert_eq!(stage.history("a")[0]["reason"], "agent deregistered");
    assert_eq!(stage.task_list(&["agent", "list", "--json"])[0]["status"], "stopped");
    assert!(stage.task(&["agent", "deregister", &id]).success());
}

#[test]
fn worker_ids_are_long_and_never_the_same() {
    let stage = Stage::without_daemon();
    let ids: BTreeSet<String> = (0..8).map(|_| stage.task_ok("", &["agent", "register"]).trim().to_string()).collect();
    assert_eq!(ids.len(), 8);
    assert!(ids.iter().all(|id| id.len() >= 10 && id.chars().all(|c| c.is_ascii_alphanumeric())), "{ids:?}");
}

#[test]
fn a_dead_worker_is_marked_only_once_it_holds_nothing() {
    let stage = Stage::without_daemon();
    stage.tasks(&["a"]);
    let mut client = Client::start();
    let id = stage.task_ok("", &["agent", "register", "--pid", &client.pid()]).trim().to_string();
    stage.claim(&id);
    client.kill();
    assert_eq!(stage.task_list(&["agent", "list", "--json"])[0]["status"], "active");
    stage.task_ok(&id, &["renew", "a", "--lease", "0"]);
    stage.plan_status();
    assert_eq!(stage.task_list(&["agent", "list", "--json"])[0]["status"], "stopped");
}
