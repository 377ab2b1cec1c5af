//! Which events are registered follows the configuration: `init`, `doctor`, the overview and the switches (I1, I2).

use crate::install::Scene;
use agents::Dialect;
use agents::settings::{KnownClient, ResultsBy, needed};
use serde_json::Value;

/// How many events of an agent the plain configuration needs.
pub fn plain_events(dialect: &Dialect) -> usize {
    needed(dialect.settings.registered, KnownClient::Unknown, ResultsBy::Transcript).count()
}

fn registered(scene: &Scene) -> Vec<String> {
    let settings: Value = serde_json::from_str(&scene.text().unwrap()).unwrap();
    settings["hooks"].as_object().unwrap().keys().cloned().collect()
}

fn after_calls(scene: &Scene) -> usize {
    registered(scene).iter().filter(|event| event.starts_with("PostTool")).count()
}

fn configure(scene: &Scene, text: &str) {
    let folder = scene.sandbox.home().join(".config/taut");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.toml"), text).unwrap();
}

fn said(scene: &Scene, args: &[&str]) -> String {
    let ended = scene.taut(args);
    format!("{}{}", ended.stdout_text(), ended.stderr_text())
}

#[test]
fn i1_the_events_after_a_call_come_and_go_with_what_needs_them() {
    let scene = Scene::new();
    scene.works(&["init", "--yes"]);
    let plain = scene.text();
    assert_eq!((registered(&scene).len(), after_calls(&scene)), (23, 0));
    assert!(said(&scene, &["doctor"]).contains("settings.json: 23 events"), "{}", said(&scene, &["doctor"]));

    configure(&scene, "[context]\nusage = true\n");
    let doctor = said(&scene, &["doctor"]);
    assert!(doctor.contains("lacks PostToolUse, PostToolUseFailure, PostToolBatch"), "{doctor}");
    let overview = said(&scene, &[]);
    assert!(overview.contains("`context.usage` works better with PostToolUse"), "{overview}");
    assert!(overview.contains("taut init            (registers the events"), "{overview}");
    scene.works(&["init", "--yes"]);
    assert_eq!((registered(&scene).len(), after_calls(&scene)), (26, 3));
    assert!(!said(&scene, &[]).contains("works better"), "{}", said(&scene, &[]));

    configure(&scene, "");
    let doctor = said(&scene, &["doctor"]);
    assert!(doctor.contains("26 events; nothing needs 3 of them any more, and `taut init` takes them out"), "{doctor}");
    assert!(!said(&scene, &[]).contains("works better"));
    scene.works(&["init", "--yes"]);
    assert_eq!(scene.text(), plain, "byte for byte");
}

#[test]
fn i1_the_switch_of_answers_brings_the_events_that_it_needs_and_takes_them_away() {
    let scene = Scene::new();
    scene.works(&["init", "--yes"]);
    let plain = scene.text();
    scene.works(&["answer", "on", "--yes"]);
    assert_eq!(after_calls(&scene), 3, "what became of an answer is told after its call");
    scene.works(&["answer", "off", "--yes"]);
    assert_eq!(scene.text(), plain, "byte for byte");
}

#[test]
fn i1_an_older_client_keeps_every_event_it_knows_and_a_team_has_them_all() {
    let older = Scene::with_client("2.1.300");
    older.works(&["init", "--yes"]);
    assert_eq!(after_calls(&older), 3);
}
