//! A queue that moves to the server, and comes back.

use super::{QUEUE, Team, named, refused};
use serde_json::Value;
use testkit::stage::{Stage, person, person_succeeds};

fn local_tasks() -> Stage {
    let stage = named();
    for (id, title) in [("a", "First"), ("b", "Second"), ("held", "Mine")] {
        stage.succeed(&["task", "create", id, title]);
    }
    stage.succeed(&["task", "block", "b", "--by", "a"]);
    stage.succeed(&["task", "claim", "held"]);
    stage
}

#[test]
fn x1_import_shows_what_moves_and_what_stays_and_moves_it_once() {
    let Some(team) = Team::made() else { return };
    let stage = local_tasks();
    let said = person_succeeds(&stage, &["shared", "connect", &team.agent()], "y\n");
    assert!(said.contains("`taut shared import`"), "{said}");
    let dry = stage.succeed(&["shared", "import", "--dry-run"]);
    assert!(dry.contains("2 tasks would move to the queue acme/shop") && dry.contains("stays: held"), "{dry}");
    assert_eq!(team.sql("SELECT count(*) FROM taut.tasks"), "0");
    let said = refused(&stage, &["shared", "import"], "n\n");
    assert!(said.contains("nothing was moved"), "{said}");
    let said = person_succeeds(&stage, &["shared", "import"], "y\n");
    assert!(said.contains("moved 2 tasks"), "{said}");
    assert_eq!(team.sql("SELECT string_agg(slug, ',' ORDER BY slug) FROM taut.tasks"), "a,b");
    let again = person_succeeds(&stage, &["shared", "import"], "");
    assert!(again.contains("nothing moves"), "{again}");
    let listed = stage.succeed(&["task", "list", "--json"]);
    assert!(listed.contains("\"id\":\"a\"") && listed.contains("\"id\":\"b\""), "{listed}");
}

#[test]
fn x2_an_import_that_stopped_half_way_ends_the_same_when_it_is_done_again() {
    let Some(team) = Team::made() else { return };
    let stage = local_tasks();
    person_succeeds(&stage, &["shared", "connect", &team.agent()], "y\n");
    // The server had it, and whoever moved it died before it was marked here.
    team.sql(&format!(
        "INSERT INTO taut.projects (name) VALUES ('{QUEUE}'); INSERT INTO taut.tasks (project, slug, title) VALUES (1, 'a', 'First')"
    ));
    let object: Value = serde_json::from_str(&stage.succeed(&["shared", "import", "--yes", "--json"])).unwrap();
    assert_eq!(object["moved"], serde_json::json!(["b"]), "{object}");
    assert_eq!(object["known"], serde_json::json!(["a"]), "{object}");
    assert_eq!(team.sql("SELECT string_agg(slug || open_blockers, ',' ORDER BY slug) FROM taut.tasks"), "a0,b1");
}

#[test]
fn x1_export_writes_what_plan_sync_reads_and_copies_back_on_request() {
    let Some(team) = Team::made() else { return };
    let stage = team.machine();
    stage.succeed(&["task", "create", "a", "First"]);
    stage.succeed(&["task", "create", "b", "Second"]);
    stage.succeed(&["task", "block", "b", "--by", "a"]);
    let plan = stage.succeed(&["shared", "export"]);
    let lines: Vec<Value> = plan.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!((&lines[1]["id"], &lines[1]["deps"]), (&"b".into(), &serde_json::json!(["a"])));
    assert_eq!(plan, stage.succeed(&["task", "export"]), "it is the same form");
    let said = person_succeeds(&stage, &["shared", "export", "--local"], "y\n");
    assert!(said.contains("copied: 2 new"), "{said}");
    person_succeeds(&stage, &["shared", "disconnect"], "n\ny\n");
    let listed = stage.succeed(&["task", "list"]);
    assert!(listed.contains("First") && listed.contains("blocked"), "{listed}");
}

#[test]
fn x1_a_project_that_is_not_shared_is_told_how_it_would_be() {
    let Some(team) = Team::made() else { return };
    let stage = named();
    let said = refused(&stage, &["shared", "import"], "");
    assert!(said.contains("shares nothing") && said.contains("taut shared connect"), "{said}");
    person_succeeds(&stage, &["shared", "connect", &team.agent(), "--project", "acme/other"], "y\n");
    let (code, said) = person(&stage, &["shared", "export"], "");
    assert!(code == Some(1) && said.contains("taut shared connect --project acme/shop"), "{said}");
    stage.write(".taut/config.toml", "");
    let said = refused(&stage, &["shared", "import"], "");
    assert!(said.contains("no repository that says what its queue is called"), "{said}");
}
