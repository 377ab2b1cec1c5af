//! `taut task` of a shared project as its user meets it: words and exit codes, with the server there and away.

use super::{Team, config, named, nobody, refused};
use serde_json::Value;
use testkit::postgres::OWNER;
use testkit::stage::{Stage, person_succeeds};

const RESULT: &str = r#"{"commit":"c0ffee"}"#;

/// Two tasks, of which the second waits.
fn with_tasks(team: &Team) -> Stage {
    let stage = team.machine();
    stage.succeed(&["task", "create", "api/01", "Parse the header"]);
    stage.succeed(&["task", "create", "api/02", "Use it"]);
    stage.succeed(&["task", "block", "api/02", "--by", "api/01"]);
    stage
}

/// The network between this machine and the server is cut.
fn cut(stage: &Stage, team: &Team) {
    stage.configure(&config(stage).replace(&team.agent(), &nobody(stage)));
}

#[test]
fn x1_q1_two_machines_work_on_one_queue_with_the_same_commands() {
    let Some(team) = Team::made() else { return };
    let (one, other) = (with_tasks(&team), team.machine());
    let listed = other.succeed(&["task", "list"]);
    assert!(listed.contains("Parse the header") && listed.contains("blocked"), "{listed}");
    let claimed: Value = serde_json::from_str(&other.succeed(&["task", "claim"])).unwrap();
    assert_eq!((&claimed["id"], &claimed["attempt"]), (&"api/01".into(), &1.into()));
    let nothing = one.taut(&["task", "claim"]);
    assert_eq!(nothing.code(), Some(2), "{}", nothing.stderr_text());
    let why = one.succeed(&["task", "why"]);
    assert!(why.contains("leased") && why.contains("api/01"), "{why}");
    assert_eq!(other.succeed(&["task", "done", "api/01", "--result", RESULT]).trim(), "done api/01");
    assert_eq!(one.succeed(&["task", "plan-status"]).trim(), "1 open, 0 active, 1 done, 0 blocked, 0 deleted");
    let claimed: Value = serde_json::from_str(&one.succeed(&["task", "claim"])).unwrap();
    assert_eq!(claimed["blocker_results"]["api/01"]["commit"], "c0ffee");
    let there = other.taut(&["task", "done", "api/02", "--result", RESULT]);
    assert_eq!(there.code(), Some(2), "it is another machine's: {}{}", there.stdout_text(), there.stderr_text());
}

#[test]
fn x2_a_claim_while_the_server_is_away_says_that_nothing_was_claimed() {
    let Some(team) = Team::made() else { return };
    let stage = with_tasks(&team);
    cut(&stage, &team);
    for args in [&["task", "claim"][..], &["task", "claim", "api/01"]] {
        let done = stage.taut(args);
        let said = done.stderr_text();
        assert_eq!(done.code(), Some(1), "{said}");
        assert!(said.contains("cannot be reached") && said.contains("nothing was claimed"), "{said}");
        assert!(
            said.contains("the queue acme/shop is on") && said.contains("hint: taut shared status --check"),
            "{said}"
        );
    }
    let listed = stage.taut(&["task", "list"]);
    assert!(
        listed.code() == Some(1) && !listed.stderr_text().contains("nothing was claimed"),
        "{}",
        listed.stderr_text()
    );
}

#[test]
fn x1_a_command_that_the_server_is_too_new_for_writes_nothing_and_what_it_owes_waits() {
    let Some(team) = Team::made() else { return };
    let stage = with_tasks(&team);
    stage.succeed(&["task", "claim", "api/01"]);
    team.sql("UPDATE taut.meta SET value = '9' WHERE name IN ('oldest', 'version')");
    for args in [&["task", "claim"][..], &["task", "create", "api/03", "Ship"], &["task", "list"]] {
        let done = stage.taut(args);
        let said = done.stderr_text();
        assert!(done.code() == Some(1) && said.contains("update taut on this machine"), "{args:?}: {said}");
    }
    let done = stage.taut(&["task", "done", "api/01", "--result", RESULT, "--json"]);
    assert_eq!((done.code(), done.stdout_text().trim()), (Some(0), r#"{"id":"api/01","did":"kept"}"#));
    assert_eq!(
        team.sql("SELECT string_agg(slug || ' ' || status, ', ' ORDER BY slug) FROM taut.tasks"),
        "api/01 active, api/02 open"
    );
    team.sql("UPDATE taut.meta SET value = '1' WHERE name IN ('oldest', 'version')");
    stage.succeed(&["shared", "sync"]);
    assert_eq!(team.sql("SELECT status FROM taut.tasks WHERE slug = 'api/01'"), "done");
}

#[test]
fn x1_a_branch_that_names_no_queue_is_said_to_be_one() {
    let Some(team) = Team::made() else { return };
    let stage = with_tasks(&team);
    stage.succeed(&["task", "claim", "api/01"]);
    assert!(!stage.taut(&["task", "list"]).stderr_text().contains("note: "));
    let named = stage.path(".taut/config.toml");
    std::fs::remove_file(&named).unwrap();
    let listed = stage.taut(&["task", "list"]);
    let said = listed.stderr_text();
    assert!(listed.success() && said.contains("queue was acme/shop") && said.contains("own queue"), "{said}");
    // Who takes part in it no more is told nothing.
    stage.configure(&config(&stage).replace("acme/shop", "acme/other"));
    assert_eq!(stage.taut(&["task", "list"]).stderr_text(), "");
}

#[test]
fn x2_a_done_while_the_server_is_away_is_kept_with_0_and_told_when_it_is_back() {
    let Some(team) = Team::made() else { return };
    let stage = with_tasks(&team);
    stage.succeed(&["task", "claim", "api/01"]);
    let there = config(&stage);
    cut(&stage, &team);
    let done = stage.taut(&["task", "done", "api/01", "--result", RESULT, "--json"]);
    assert_eq!((done.code(), done.stdout_text().trim()), (Some(0), r#"{"id":"api/01","did":"kept"}"#));
    assert!(done.stderr_text().starts_with("kept: "), "{}", done.stderr_text());
    let status = stage.taut(&["shared", "status"]).stdout_text();
    assert!(status.contains("1 word about a task"), "{status}");
    assert!(stage.succeed(&[]).contains("1 word about a task to be said"));
    stage.configure(&there);
    stage.succeed(&["shared", "sync"]);
    assert_eq!(team.sql("SELECT status FROM taut.tasks WHERE slug = 'api/01'"), "done");
}

#[test]
fn x2_q3_a_done_behind_a_lapsed_lease_ends_with_2_and_its_result_stays_readable() {
    let Some(team) = Team::made() else { return };
    let (one, other) = (with_tasks(&team), team.machine());
    one.succeed(&["task", "claim", "api/01"]);
    // The server has answered renewals since it started, and this lease is long over.
    team.sql("UPDATE taut.tasks SET graced = true, lease_until = clock_timestamp() - interval '1 hour' WHERE slug = 'api/01'");
    other.succeed(&["task", "claim", "api/01"]);
    let done = one.taut(&["task", "done", "api/01", "--result", RESULT]);
    assert_eq!(done.code(), Some(2), "{}{}", done.stdout_text(), done.stderr_text());
    assert!(done.stderr_text().contains("api/01"), "{}", done.stderr_text());
    let refused = one.list(&["shared", "refused", "--json"]);
    assert_eq!(refused.len(), 1);
    assert_eq!((&refused[0]["id"], &refused[0]["result"]["commit"]), (&"api/01".into(), &"c0ffee".into()));
    let shown = one.succeed(&["shared", "refused"]);
    assert!(shown.contains("api/01") && shown.contains("c0ffee"), "{shown}");
    assert!(other.succeed(&["shared", "refused"]).contains("nothing was refused"));
}

#[test]
fn x1_q1_two_teams_of_one_server_are_two_queues_in_a_schema_each() {
    let Some(team) = Team::empty() else { return };
    let schemas = ["red", "blue"].map(|name| format!("{name}_{}", team.database));
    let stages = schemas.each_ref().map(|schema| {
        let stage = named();
        stage.succeed(&["shared", "migrate", &team.url(OWNER), "--schema", schema, "--yes"]);
        let member = team.url(&format!("{schema}_agent"));
        person_succeeds(&stage, &["shared", "connect", &member, "--schema", schema, "--events", "summary"], "y\n");
        assert!(stage.succeed(&["shared", "status"]).contains(&format!("schema     {schema}, version 1")));
        stage
    });
    let [red, blue] = &stages;
    red.succeed(&["task", "create", "api/01", "of red"]);
    blue.succeed(&["task", "create", "api/01", "of blue"]);
    let claimed: Value = serde_json::from_str(&red.succeed(&["task", "claim"])).unwrap();
    assert_eq!(claimed["t"], "of red");
    assert_eq!(red.succeed(&["task", "done", "api/01", "--result", RESULT]).trim(), "done api/01");
    assert!(blue.succeed(&["task", "list"]).contains("open"), "it is another task");
    for (stage, schema, status) in [(red, &schemas[0], "done"), (blue, &schemas[1], "open")] {
        stage.working("ann");
        stage.succeed(&["shared", "sync", "--wait", "25s"]);
        assert_eq!(team.sql(&format!("SELECT status FROM {schema}.tasks")), status);
        assert_eq!(team.sql(&format!("SELECT count(*) FROM {schema}.machines")), "1");
        assert_eq!(team.sql(&format!("SELECT count(*) > 0 FROM {schema}.events")), "t");
    }
    let (crossed, there) = (team.url(&format!("{}_agent", schemas[0])), &schemas[1]);
    let said = refused(&named(), &["shared", "connect", &crossed, "--schema", there], "y\n");
    assert!(said.contains("nothing was changed"), "{said}");
}

/// As after another version of Taut, that wrote it otherwise.
#[test]
fn x2_a_word_that_cannot_be_read_holds_up_no_other_and_is_said_once() {
    let Some(team) = Team::made() else { return };
    let stage = team.machine();
    for id in ["api/01", "api/02"] {
        stage.succeed(&["task", "create", id, "Parse the header"]);
        stage.succeed(&["task", "claim", id]);
    }
    let there = config(&stage);
    cut(&stage, &team);
    for id in ["api/01", "api/02"] {
        stage.succeed(&["task", "done", id, "--result", RESULT]);
    }
    let database = rusqlite::Connection::open(stage.database()).unwrap();
    let otherwise = "UPDATE outbox SET body = '{\"later\":1}' WHERE seq = (SELECT min(seq) FROM outbox)";
    assert_eq!(database.execute(otherwise, []).unwrap(), 1);
    stage.configure(&there);
    for said in ["1 said, 0 renewed\n", "0 said, 0 renewed\n"] {
        let done = stage.succeed(&["shared", "sync"]);
        assert!(done.contains("of another version of taut: 1 word, kept here") && done.ends_with(said), "{done}");
    }
    assert_eq!(team.sql("SELECT string_agg(status, ' ' ORDER BY slug) FROM taut.tasks"), "active done");
    let status = stage.taut(&["shared", "status"]).stdout_text();
    assert_eq!(status.matches("1 word about a task cannot be read by this taut").count(), 1, "{status}");
    assert!(status.contains("`taut shared sync`"), "{status}");
}
