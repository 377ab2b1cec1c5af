//! What `taut telemetry on` changes where it is on already (X3): a token, how much is told, the collector.

use crate::notify::agree;
use model::Ms;
use model::effect::Write;
use model::row::Event;
use serde_json::Value;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;
use store::{Durability, Store};
use testkit::stage::{Stage, person};

const PLENTY: Duration = Duration::from_secs(60);

const HEADERS: &str = ".config/taut/secrets/otlp-headers";
const HERE: &str = "http://127.0.0.1:9";

fn holding(stage: Stage, token: &str) -> Stage {
    stage.with_env("OTEL_EXPORTER_OTLP_HEADERS", &format!("authorization=Bearer {token}"))
}

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
fn x3_a_new_token_for_the_same_collector_is_asked_about_and_written_down() {
    let stage = holding(Stage::new(), "of-last-month");
    agree(&stage, &["telemetry", "on", HERE]);
    let (config, before) = (stage.home_file(".config/taut/config.toml"), stage.home_file(HEADERS));
    let stage = holding(stage, "of-this-month");
    let (code, said) = person(&stage, &["telemetry", "on"], "n\n");
    assert!(code == Some(1) && said.contains("nothing was changed"), "{said}");
    let said = stage.succeed(&["telemetry", "on", "--dry-run"]);
    assert!(said.contains(HEADERS) && !said.contains("of-this-month"), "{said}");
    assert_eq!(stage.home_file(HEADERS), before);
    let said = agree(&stage, &["telemetry", "on"]);
    assert!(said.contains(HEADERS) && !said.contains("of-this-month"), "{said}");
    assert_eq!(stage.home_file(HEADERS), "authorization=Bearer%20of-this-month\n");
    assert_eq!(stage.home_file(".config/taut/config.toml"), config);
    let said = agree(&stage, &["telemetry", "on"]);
    assert!(said.contains("it is so already"), "{said}");
    // What the daemon would not read is written anew.
    let file = stage.sandbox.home().join(HEADERS);
    fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    agree(&stage, &["telemetry", "on"]);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
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
