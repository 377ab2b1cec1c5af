//! How it stands, as `taut shared status`, `taut doctor` and bare `taut` say it.

use super::{QUEUE, Team, nobody};
use model::effect::Write;
use model::row::Event;
use serde_json::Value;
use std::time::Duration;
use store::{Clocks, Durability, Retention, SharedState, Store};
use testkit::process;
use testkit::stage::{LIMIT, Stage, person_succeeds};

fn object(stage: &Stage, args: &[&str]) -> Value {
    serde_json::from_str(&stage.taut(args).stdout_text()).unwrap()
}

/// What `taut doctor` says of the shared store, and how bad it is.
fn doctor(stage: &Stage) -> Vec<(String, String, String)> {
    let checks = stage.taut(&["doctor", "--json"]).stdout_text();
    let checks = checks.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let text = |check: &Value, key: &str| check[key].as_str().unwrap_or_default().to_owned();
    let ours = checks.filter(|check| check["name"] == "shared");
    ours.map(|check| (text(&check, "state"), text(&check, "detail"), text(&check, "fix"))).collect()
}

#[test]
fn x2_without_a_server_nothing_is_said_of_one_but_by_status() {
    let stage = Stage::without_daemon();
    let done = stage.taut(&["shared", "status"]);
    assert!(done.success() && done.stdout_text().starts_with("nothing is shared"), "{}", done.stdout_text());
    assert!(done.stderr_text().contains("taut shared connect postgresql://"), "{}", done.stderr_text());
    assert_eq!(object(&stage, &["shared", "status", "--json"])["configured"], false);
    assert_eq!(doctor(&stage), []);
    assert!(!stage.succeed(&[]).contains("shared"));
}

#[test]
fn x1_status_tells_server_versions_contact_queues_and_machine() {
    let Some(team) = Team::made() else { return };
    let stage = team.machine();
    let said = stage.succeed(&["shared", "status"]);
    for part in [
        "version 1 (this taut speaks 1)", "contact", "s ago", "acme/shop (this repository's is acme/shop)",
        "waiting    nothing", "nothing of it is sent",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let object = object(&stage, &["shared", "status", "--json"]);
    assert_eq!((&object["configured"], &object["version"], &object["queue"]), (&true.into(), &1.into(), &QUEUE.into()));
    assert_eq!(object["machine"].as_str().unwrap().len(), 36);
    let checked = stage.succeed(&["shared", "status", "--check"]);
    assert!(checked.contains("PostgreSQL 1") && checked.contains("role       taut_agent"), "{checked}");
    let doctor = doctor(&stage);
    assert!(doctor.len() == 1 && doctor[0].0 == "ok" && doctor[0].1.contains("answers taut_agent"), "{doctor:?}");
    assert!(!stage.succeed(&[]).contains("shared"), "nothing is wrong and nothing waits");
}

#[test]
fn x2_a_server_that_went_away_is_said_with_what_helps_by_status_doctor_and_the_overview() {
    let Some(team) = Team::made() else { return };
    let stage = team.machine();
    let gone = nobody(&stage);
    let config = super::config(&stage).replace(&team.agent(), &gone);
    stage.configure(&config);
    let done = stage.taut(&["shared", "status", "--check"]);
    assert_eq!(done.code(), Some(1), "{}", done.stdout_text());
    assert!(done.stdout_text().contains("cannot be reached"), "{}", done.stdout_text());
    let doctor = doctor(&stage);
    assert!(doctor[0].0 == "bad" && doctor[0].2.contains("taut shared status --check"), "{doctor:?}");
    let overview = stage.succeed(&[]);
    let lines: Vec<&str> = overview.lines().filter(|line| line.contains("shared")).collect();
    assert!(lines.len() == 1 && lines[0].contains("away for"), "{overview}");
    assert!(object(&stage, &["shared", "status", "--json"])["error"].is_string());
}

#[test]
fn x3_rights_that_were_taken_away_are_said_by_check_and_doctor() {
    let Some(team) = Team::made() else { return };
    let role = format!("worker_{}", team.database);
    team.sql(&format!("CREATE ROLE {role} LOGIN IN ROLE taut_agent"));
    let stage = super::named();
    person_succeeds(&stage, &["shared", "connect", &team.url(&role)], "y\n");
    team.sql(&format!("REVOKE taut_agent FROM {role}"));
    let done = stage.taut(&["shared", "status", "--check"]);
    let said = done.stdout_text();
    assert!(done.code() == Some(1) && said.contains(&format!("GRANT taut_agent TO {role};")), "{said}");
    let doctor = doctor(&stage);
    assert!(doctor[0].0 == "bad" && doctor[0].2.contains("GRANT taut_agent"), "{doctor:?}");
}

#[test]
fn x1_a_server_of_the_environment_is_said_to_be_of_this_command_alone() {
    let Some(team) = Team::made() else { return };
    for name in ["TAUT_DATABASE_URL", "RALPH_DB_URL"] {
        let stage = super::named().with_env(name, &team.agent());
        stage.succeed(&["task", "create", name.to_lowercase().as_str(), "Parse"]);
        let claimed = stage.taut(&["task", "claim"]);
        let said = claimed.stderr_text();
        assert!(claimed.success() && said.contains("nothing renews the lease"), "{name}: {said}");
    }
    let stage = super::named().with_env("TAUT_DATABASE_URL", &team.agent());
    let said = stage.succeed(&["shared", "status"]);
    assert!(said.contains("named by the environment of this command alone"), "{said}");
    stage.succeed(&["task", "create", "one", "One"]);
    assert_eq!(team.sql("SELECT count(*) FROM taut.tasks"), "3");
}

#[test]
fn x2_the_overview_tells_for_a_day_what_was_forgotten_or_refused_of_the_record() {
    let stage = super::named();
    let now = host::clock::now();
    let mut store = Store::open_and_migrate(&stage.sandbox.taut_home(), Duration::from_secs(5)).unwrap();
    let (mut state, hour) = (SharedState::default(), 3_600_000);
    state.note("3 events were forgotten before a server was sent them".into(), now.plus(-25 * hour));
    store.set_shared_state(&state).unwrap();
    assert!(!stage.succeed(&[]).contains("shared"), "that was yesterday");
    state.note("the server refused 1 event of the record for good".into(), now.plus(-23 * hour));
    state.note("5 events were forgotten before a server was sent them".into(), now.plus(-hour));
    store.set_shared_state(&state).unwrap();
    let said = stage.succeed(&[]);
    assert!(said.contains("shared") && said.contains("5 events were forgotten"), "{said}");
    assert!(said.contains("them and 1 more (`taut shared status`)"), "{said}");
}

#[test]
fn x2_status_tells_how_long_ago_the_server_answered_what_waits_and_what_was_forgotten_before_it_was_sent() {
    let stage = super::named();
    let gone = nobody(&stage);
    stage.configure(&format!("[shared]\nurl = \"{gone}\"\nprojects = [\"{QUEUE}\"]\nevents = \"summary\"\n"));
    let (now, hour) = (host::clock::now(), 3_600_000);
    let mut store = Store::open_and_migrate(&stage.sandbox.taut_home(), Duration::from_secs(5)).unwrap();
    let event = |n: i64| Event::noted("PreToolUse", "ann", format!("e-{n}"), now.plus(n - 100));
    let events: Vec<Write> = (0..8).map(|n| Write::Event(Box::new(event(n)))).collect();
    let mut state = SharedState { server: "srv".into(), events_sent: 12, ..SharedState::default() };
    state.heard(now.plus(-2 * hour - 60_000));
    store.begin_shipping("srv").unwrap();
    store.set_shared_state(&state).unwrap();
    store.transact(Durability::Full, |tx| tx.apply(&events)).unwrap();
    let said = stage.succeed(&["shared", "status"]);
    assert!(said.contains("summary: 12 sent, 8 wait\n") && !said.contains("wrong"), "{said}");
    state.failed("nobody answers".into(), now.plus(-hour));
    store.set_shared_state(&state).unwrap();
    // There is room for none, and three go in one step.
    let tight = Retention { bytes: 1, unsent_bytes: 1, rows: 3, ..Retention::default() };
    assert_eq!(store.prune_by(&Clocks::at(now), &tight).unwrap().events, 3);
    let done = stage.taut(&["shared", "status"]);
    let said = done.stdout_text();
    assert_eq!(done.code(), Some(1), "it has failed for long: {said}");
    for part in [
        "2h ago; since ",
        "nobody answers",
        "summary: 12 sent, 5 wait, 3 forgotten before they were sent",
        "3 events were forgotten here before they could be sent",
        "it last answered 2h ago: nobody answers",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let object = object(&stage, &["shared", "status", "--json"]);
    let number = |name: &str| object[name].as_i64().unwrap_or_else(|| panic!("{name}: {object}"));
    assert_eq!((number("events_sent"), number("events_waiting"), number("events_dropped")), (12, 5, 3));
    assert!((2 * hour..24 * hour).contains(&number("lag_ms")), "{object}");
    assert_eq!(object["wrong"].as_array().unwrap().len(), 2, "{object}");
    // Of a disturbance that has just begun nobody's script need know.
    state.heard(now.plus(-60_000));
    state.failed("nobody answers".into(), now);
    store.set_shared_state(&state).unwrap();
    assert!(stage.taut(&["shared", "status"]).success());
}

#[test]
fn x1_a_try_of_a_server_that_the_environment_names_says_nothing_of_the_configured_one() {
    let (Some(team), Some(other)) = (Team::made(), Team::made()) else { return };
    let stage = team.machine();
    let store = Store::open_and_migrate(&stage.sandbox.taut_home(), Duration::from_secs(5)).unwrap();
    let known = store.shared_state().unwrap();
    for (url, is_there) in [(other.agent(), true), (nobody(&stage), false)] {
        let mut command = stage.command(&["shared", "status", "--check"]);
        command.env("TAUT_DATABASE_URL", &url);
        let done = process::run(command, b"", LIMIT).unwrap();
        assert_eq!(done.success(), is_there, "{}{}", done.stdout_text(), done.stderr_text());
        assert!(done.stdout_text().contains("contact    never"), "{}", done.stdout_text());
        assert_eq!(store.shared_state().unwrap(), known, "{url}");
    }
}
