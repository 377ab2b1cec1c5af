//! S11 on the real screen: the user is asked and answers.

use super::{artifact, configured};
use serde_json::json;
use std::time::Duration;
use testkit::{ClientLaunch, Script, Turn, poll};

const PLENTY: Duration = Duration::from_secs(60);

#[test]
fn s11_what_the_user_was_asked_and_said_is_in_the_details() {
    let stage = configured("[skills.implement]\nlog = false\n");
    let questions = json!({"questions": [{
        "header": "Colour", "question": "Which colour should the bridge have?", "multiSelect": false,
        "options": [{"label": "green", "description": "like grass"}, {"label": "red", "description": "like rust"}],
    }]});
    let ask = Turn::call("AskUserQuestion", questions);
    let script =
        Script::new().main(Turn::bash("taut session activate implement")).main(ask).main(Turn::say("green-it-is"));
    let terminal = ClientLaunch::new(&stage.sandbox, script).open(&stage.client).unwrap();
    terminal.submit("build a bridge").unwrap();
    terminal.wait_for("Which colour should the bridge have?").unwrap();
    terminal.press_until("Enter", |screen| !screen.contains("Enter to select")).unwrap();
    terminal.wait_for("green-it-is").unwrap();
    let details =
        poll::until("DETAILS.md", PLENTY, || Some(artifact(&stage, "DETAILS.md")).filter(|text| !text.is_empty()))
            .unwrap();
    for part in ["Colour: Which colour should the bridge have?", "**Options**: green / red", "**User**: green"] {
        assert!(details.contains(part), "{part}\n{details}");
    }
}
