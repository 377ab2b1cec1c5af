//! Leaving: what is owed is said first, nothing is lost, and it is said when somebody connects to the same server again.

use super::{Team, config};
use serde_json::Value;
use testkit::postgres::Cluster;
use testkit::stage::{Stage, person, person_succeeds};

const RESULT: &str = r#"{"commit":"c0ffee"}"#;

/// A server of its own, which can be stopped.
fn own() -> Option<Team> {
    let cluster: &'static Cluster = Box::leak(Box::new(Cluster::plan().durable().start()?));
    let team = Team { cluster, database: cluster.database() };
    team.migrate();
    Some(team)
}

/// A machine that holds a task and was told it is done, while the server was away.
fn owes(team: &Team) -> Stage {
    let stage = team.machine();
    stage.succeed(&["task", "create", "a", "First"]);
    stage.succeed(&["task", "claim", "a"]);
    team.cluster.stop_immediate();
    let done = stage.taut(&["task", "done", "a", "--result", RESULT, "--json"]);
    assert!(done.success(), "{}", done.stderr_text());
    stage
}

#[test]
fn x2_disconnect_takes_the_section_away_and_leaves_the_rest_of_the_file() {
    let Some(team) = Team::made() else { return };
    let stage = Stage::without_daemon();
    stage.configure("# mine\n[notify]\non = [\"done\"] # loud\n");
    person_succeeds(&stage, &["shared", "connect", &team.agent(), "--project", "acme/x", "--yes"], "");
    let said = stage.succeed(&["shared", "disconnect", "--dry-run"]);
    assert!(said.contains("-[shared]") && config(&stage).contains("[shared]"), "{said}");
    let said = person_succeeds(&stage, &["shared", "disconnect"], "y\n");
    assert!(said.contains("its own queue on this machine again"), "{said}");
    assert_eq!(config(&stage), "# mine\n[notify]\non = [\"done\"] # loud\n");
    let again = person_succeeds(&stage, &["shared", "disconnect"], "");
    assert!(again.contains("nothing to change"), "{again}");
    assert!(stage.succeed(&["shared", "status"]).contains("nothing is shared"));
}

#[test]
fn x2_what_is_owed_is_said_before_a_machine_leaves() {
    let Some(team) = own() else { return };
    let stage = owes(&team);
    team.cluster.start_again();
    let object: Value = serde_json::from_str(&stage.succeed(&["shared", "disconnect", "--yes", "--json"])).unwrap();
    assert_eq!((&object["changed"], &object["waiting"]), (&true.into(), &0.into()), "{object}");
    assert_eq!(team.sql("SELECT status || ' ' || (result->>'commit') FROM taut.tasks"), "done c0ffee");
}

#[test]
fn x2_a_server_that_is_away_does_not_keep_a_machine_and_hears_it_when_that_is_back() {
    let Some(team) = own() else { return };
    let stage = owes(&team);
    let said = person_succeeds(&stage, &["shared", "disconnect"], "y\n");
    assert!(
        said.contains("cannot be told anything now") && said.contains("owed: 1 word about a task; kept here"),
        "{said}"
    );
    let status = stage.succeed(&["shared", "status"]);
    assert!(
        status.contains("nothing is shared") && status.contains("was connected to: 1 word about a task"),
        "{status}"
    );
    team.cluster.start_again();
    assert_eq!(team.sql("SELECT status FROM taut.tasks"), "active");
    person_succeeds(&stage, &["shared", "connect", &team.agent()], "y\n");
    let said = stage.succeed(&["shared", "sync", "--wait", "25s"]);
    assert!(said.contains("1 said"), "{said}");
    assert_eq!(team.sql("SELECT status FROM taut.tasks"), "done");
}

#[test]
fn x1_who_leaves_and_goes_on_alone_takes_the_unfinished_tasks_along() {
    let Some(team) = Team::made() else { return };
    let stage = team.machine();
    for (id, title) in [("a", "First"), ("b", "Second"), ("c", "Third")] {
        stage.succeed(&["task", "create", id, title]);
    }
    stage.succeed(&["task", "block", "c", "--by", "b"]);
    stage.succeed(&["task", "claim", "a"]);
    stage.succeed(&["task", "done", "a", "--result", RESULT]);
    let said = person_succeeds(&stage, &["shared", "disconnect"], "y\ny\n");
    assert!(said.contains("2 unfinished tasks of the queue acme/shop") && said.contains("Copy them?"), "{said}");
    assert!(stage.succeed(&["shared", "status"]).contains("nothing is shared"));
    let listed = stage.list(&["task", "list", "--json"]);
    let listed: Vec<(&str, &str)> =
        listed.iter().map(|task| (task["id"].as_str().unwrap(), task["t"].as_str().unwrap())).collect();
    assert_eq!(listed, [("b", "Second"), ("c", "Third")]);
    // They are this machine's own: worked on without the server, in their order.
    team.sql("DELETE FROM taut.tasks");
    assert_eq!(stage.taut(&["task", "claim", "c"]).code(), Some(2), "it waits for b");
    for slug in ["b", "c"] {
        stage.succeed(&["task", "claim", slug]);
        assert_eq!(stage.succeed(&["task", "done", slug, "--result", RESULT]).trim(), format!("done {slug}"));
    }
}

#[test]
fn x2_sync_says_what_waits_and_ends_with_1_while_the_server_is_away() {
    let Some(team) = own() else { return };
    let stage = owes(&team);
    let done = stage.taut(&["shared", "sync", "--once"]);
    assert_eq!(done.code(), Some(1));
    let said = done.stderr_text();
    assert!(said.contains("cannot be reached") && said.contains("waiting here: 1 word about a task"), "{said}");
    let object: Value = serde_json::from_str(&stage.taut(&["shared", "sync", "--json"]).stdout_text()).unwrap();
    assert_eq!((&object["waiting"], object["away"].is_string()), (&1.into(), true), "{object}");
    team.cluster.start_again();
    assert_eq!(stage.succeed(&["shared", "sync"]).trim(), "1 said, 0 renewed");
    assert_eq!(stage.succeed(&["shared", "sync", "--once"]).trim(), "0 said, 0 renewed");
    let (code, said) = person(&stage, &["shared", "sync", "--wait", "soon"], "");
    assert!(code == Some(2) && said.contains("10s or 2m"), "{said}");
}

#[test]
fn x2_a_daemon_that_runs_learns_of_the_connection_and_says_what_is_owed_by_itself() {
    let Some(team) = own() else { return };
    let stage = Stage::with_daemon();
    stage.write(".taut/config.toml", "[shared]\nproject = \"acme/shop\"\n");
    person_succeeds(&stage, &["shared", "connect", &team.agent()], "y\n");
    stage.succeed(&["task", "create", "a", "First"]);
    stage.succeed(&["task", "claim", "a"]);
    team.cluster.stop_immediate();
    stage.succeed(&["task", "done", "a", "--result", RESULT]);
    team.cluster.start_again();
    let waiting = || {
        let object: Value = serde_json::from_str(&stage.taut(&["shared", "status", "--json"]).stdout_text()).unwrap();
        (object["turns_waiting"] == 0).then_some(())
    };
    testkit::poll::until("the daemon to say it", std::time::Duration::from_secs(120), waiting).unwrap();
    assert_eq!(team.sql("SELECT status FROM taut.tasks"), "done");
}
