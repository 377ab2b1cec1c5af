//! What `taut metrics` says of a shared machine: what waits, how old it is, what of the record is unsent, and the last contact.

use super::{Team, config, nobody};
use serde_json::json;
use testkit::stage::{IN_PROCESS, Stage, person_succeeds};

fn value(stage: &Stage, sample: &str) -> f64 {
    let page = stage.succeed(&["metrics"]);
    let found = page.lines().find_map(|line| line.strip_prefix(sample)?.strip_prefix(' ')?.parse().ok());
    found.unwrap_or_else(|| panic!("{sample}: {page}"))
}

fn deny(stage: &Stage, id: &str) {
    assert!(stage.hook(&stage.bash(id, "rm -rf /"), IN_PROCESS).success());
}

/// What was written at that moment was written so long before.
fn age(stage: &Stage, seconds: i64) {
    let database = rusqlite::Connection::open(stage.database()).unwrap();
    assert_eq!(database.execute("UPDATE outbox SET at = at - ?1", [seconds * 1_000]).unwrap(), 1);
}

#[test]
fn x3_numbers_of_a_shared_machine_tell_what_waits_how_long_what_is_unsent_and_the_last_contact() {
    let Some(team) = Team::made() else { return };
    let stage = super::named();
    person_succeeds(&stage, &["shared", "connect", &team.agent(), "--events", "summary"], "y\n");
    let begun = host::clock::now().0 as f64 / 1_000.0;
    let start = json!({"hook_event_name": "SessionStart", "source": "startup"});
    assert!(stage.hook(&stage.payload(&start), IN_PROCESS).success());
    stage.succeed(&["task", "create", "a", "do it"]);
    stage.succeed(&["task", "claim", "a"]);
    stage.succeed(&["shared", "sync"]);
    for nothing in [
        "taut_outbox_length{kind=\"turn\"}", "taut_outbox_length{kind=\"message\"}", "taut_outbox_age_seconds",
        "taut_record_lag_events", "taut_record_dropped_events_total", "taut_server_failing",
    ] {
        assert_eq!(value(&stage, nothing), 0.0, "{nothing}");
    }
    let contact = value(&stage, "taut_server_last_contact_timestamp_seconds");
    let now = host::clock::now().0 as f64 / 1_000.0;
    assert!((begun..=now).contains(&contact), "{begun} {contact} {now}");
    let there = config(&stage);
    stage.configure(&there.replace(&team.agent(), &nobody(&stage)));
    stage.succeed(&["task", "done", "a", "--result", r#"{"commit":"c0ffee"}"#]);
    deny(&stage, "c1");
    deny(&stage, "c2");
    age(&stage, 3_600);
    assert!(!stage.taut(&["shared", "sync", "--once"]).success(), "it is away");
    assert_eq!(value(&stage, "taut_outbox_length{kind=\"turn\"}"), 1.0);
    let waits = value(&stage, "taut_outbox_age_seconds");
    assert!((3_600.0..3_900.0).contains(&waits), "{waits}");
    let unsent = value(&stage, "taut_record_lag_events");
    assert!(unsent >= 2.0, "both denials wait: {unsent}");
    assert_eq!(value(&stage, "taut_server_failing"), 1.0);
    assert_eq!(value(&stage, "taut_server_last_contact_timestamp_seconds"), contact, "the last one stays");
    stage.configure(&there);
    stage.succeed(&["shared", "sync"]);
    for nothing in ["taut_outbox_length{kind=\"turn\"}", "taut_outbox_age_seconds", "taut_record_lag_events"] {
        assert_eq!(value(&stage, nothing), 0.0, "{nothing}");
    }
    assert_eq!(value(&stage, "taut_server_failing"), 0.0);
    assert!(value(&stage, "taut_server_last_contact_timestamp_seconds") >= contact);
}
