//! T7: what planners and workers say of tasks is kept without the secrets in it.

use serde_json::json;
use testkit::stage::Stage;

/// A made-up secret of its own for each place it is said in.
fn secret(place: &str) -> String {
    format!("swordfish{place}77")
}

fn says(place: &str) -> String {
    format!("rotate it: DB_PASSWORD={} (see the runbook)", secret(place))
}

/// Every byte of every file that Taut keeps.
fn kept(stage: &Stage) -> Vec<u8> {
    let mut folders = vec![stage.sandbox.taut_home()];
    let mut bytes = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap()) {
            if entry.path().is_dir() {
                folders.push(entry.path());
            } else {
                bytes.extend(std::fs::read(entry.path()).unwrap_or_default());
            }
        }
    }
    bytes
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn t7_no_secret_of_a_task_is_kept() {
    let stage = Stage::without_daemon();
    let planned = stage.sync(&[
        json!({"id": "s/01", "t": says("synctitle"), "d": says("syncdescription"), "ref": says("syncref"), "steps": [says("syncstep")]}),
        json!({"id": "s/02", "t": "two"}),
    ]);
    assert!(planned.success(), "{}", planned.stderr_text());
    let steps = json!([says("createstep")]).to_string();
    let fields = ["--description", &says("createdescription"), "--steps", &steps, "--ref", &says("createref")];
    stage.task_ok("", &[&["create", "c/01", &says("createtitle")], fields.as_slice()].concat());
    let steps = json!([says("updatestep")]).to_string();
    let fields = ["--description", &says("updatedescription"), "--steps", &steps, "--ref", &says("updateref")];
    stage.task_ok("", &[&["update", "s/02", "--title", &says("updatetitle")], fields.as_slice()].concat());
    stage.task_ok("w", &["claim", "s/01"]);
    stage.task_ok("w", &["fail", "s/01", "--reason", &says("failreason")]);
    stage.task_ok("w", &["claim", "c/01"]);
    let result = json!({"commit": "c0ffee", "said": says("resulttext"), "password": secret("resultfield")}).to_string();
    stage.task_ok("w", &["done", "c/01", "--result", &result]);

    let bytes = kept(&stage);
    assert!(holds(&bytes, "rotate it: DB_PASSWORD=[redacted] (see the runbook)"), "the rest of the words is kept");
    let places = "synctitle syncdescription syncref syncstep createtitle createdescription createref createstep \
        updatetitle updatedescription updateref updatestep failreason resulttext resultfield";
    let found: Vec<&str> = places.split_whitespace().filter(|place| holds(&bytes, &secret(place))).collect();
    assert!(found.is_empty(), "kept of {found:?}");
    assert_eq!(stage.show("c/01")["t"], "rotate it: DB_PASSWORD=[redacted] (see the runbook)");
}
