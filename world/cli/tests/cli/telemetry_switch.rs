//! What `taut telemetry on` changes where it is on already (X3): how much is told, the collector.

use crate::notify::agree;
use model::Ms;
use model::effect::Write;
use model::row::Event;
use serde_json::Value;
use std::time::Duration;
use store::{Durability, Store};
use testkit::stage::Stage;

const PLENTY: Duration = Duration::from_secs(60);

const HERE: &str = "http://127.0.0.1:9";

fn status(stage: &Stage) -> Value {
    serde_json::from_str(&stage.succeed(&["telemetry", "status", "--json"])).unwrap()
}

/// How many events wait for a collector, and how many will never be sent.
fn untold(stage: &Stage) -> (u64, u64) {
    let status = status(stage);
    (status["waiting_events"].as_u64().unwrap(), status["skipped_events"].as_u64().unwrap())
}

/// Something that is recorded. No hook tells of it: this process would be an agent's from then on.
fn happens(stage: &Stage, id: &str) {
    let mut store = Store::open(&stage.sandbox.taut_home(), PLENTY).unwrap();
    let event = Event::noted("PreToolUse", "ada", id.to_owned(), Ms(1));
    store.transact(Durability::Normal, |tx| tx.apply(&[Write::Event(Box::new(event))])).unwrap();
}

#[test]
fn x3_what_waits_for_a_collector_waits_after_other_changes_and_is_counted_where_another_is_named() {
    let stage = Stage::without_daemon();
    happens(&stage, "before");
    agree(&stage, &["telemetry", "on", HERE]);
    assert_eq!(untold(&stage), (0, 0), "what was before was agreed to by nobody");
    happens(&stage, "since");
    happens(&stage, "and again");
    assert_eq!(untold(&stage), (2, 0));
    agree(&stage, &["telemetry", "on", "--level", "full"]);
    assert_eq!(untold(&stage), (2, 0));
    // The same address, spelled otherwise.
    agree(&stage, &["telemetry", "on", &format!("{HERE}/")]);
    assert_eq!(untold(&stage), (2, 0));
    agree(&stage, &["telemetry", "on", "http://127.0.0.1:10"]);
    assert_eq!(untold(&stage), (0, 2), "the other collector is told of what happens from now on");
    happens(&stage, "for the other");
    let config = stage.home_file(".config/taut/config.toml");
    stage.configure(&config.replace("otlp = true", "otlp = false"));
    agree(&stage, &["telemetry", "on"]);
    assert_eq!(untold(&stage), (0, 3), "what happened while it was off was agreed to by nobody");
}
