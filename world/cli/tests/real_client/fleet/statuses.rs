//! F1 and F2: permission prompt, answer, stop; and what no hook tells.

use super::pane::Pane;
use serde_json::{Value, json};
use std::process::Command;
use std::time::Duration;
use testkit::stage::put_program;
use testkit::{Script, Turn};

#[test]
fn f1_f2_a_permission_prompt_is_attention_its_answer_working_and_the_stop_done() {
    let script = Script::new()
        .main(Turn::bash("touch one.txt"))
        .main(Turn::say("made it").after(Duration::from_secs(3)))
        .otherwise(Turn::say("nothing more"));
    let pane = Pane::open(script);
    pane.apply();
    pane.terminal.submit("make a file").unwrap();
    pane.terminal.wait_for("Do you want to proceed?").unwrap();
    pane.wait_for_status("attention");
    pane.wait_for_style("bg=#1f1604");
    let window = pane.terminal.tmux(&["show-options", "-wqv", "@taut_status"]).unwrap();
    assert_eq!(window.trim(), "attention");
    pane.say_yes("touch one.txt");
    pane.wait_for_status("working");
    pane.wait_for_style("bg=#07140c");
    pane.terminal.wait_for("made it").unwrap();
    pane.wait_for_status("done");
    pane.wait_for_style("bg=#0a0a0a");
    assert!(pane.stage.sandbox.project().join("one.txt").exists());
    pane.terminal.leave().unwrap();
    // The pane is no agent's any more: it gets its own look back.
    pane.wait_for_style("");
}

/// One client, through all that its hooks are silent about: a No, a Yes before a long tool, an Esc at work, a death.
#[test]
fn f1_f2_what_no_hook_tells_is_seen_at_once() {
    let question = json!({"questions": [{
        "header": "Colour", "question": "Which colour?", "multiSelect": false,
        "options": [{"label": "green", "description": "grass"}, {"label": "red", "description": "rust"}],
    }]});
    let script = Script::new()
        .main(Turn::bash("touch one.txt"))
        .main(Turn::bash("./slow.sh two"))
        .main(Turn::call("AskUserQuestion", question))
        .main(Turn::bash("./slow.sh three"))
        .otherwise(Turn::say("nothing more"));
    let pane = Pane::open(script);
    put_program(&pane.stage.sandbox.project().join("slow.sh"), "#!/bin/sh\nexec sleep 300\n");
    pane.apply();

    pane.terminal.submit("first").unwrap();
    pane.terminal.wait_for("Do you want to proceed?").unwrap();
    pane.wait_for_status("attention");
    pane.terminal.press_until("Escape", |screen| !screen.contains("Do you want to proceed?")).unwrap();
    // The daemon by itself: a command that lists agents looks too.
    pane.wait_for_style("bg=#0a0a0a");
    pane.wait_for_status("done");

    pane.terminal.submit("second").unwrap();
    pane.terminal.wait_for("Do you want to proceed?").unwrap();
    pane.wait_for_status("attention");
    pane.say_yes("slow.sh two");
    pane.wait_for_style("bg=#07140c");
    pane.wait_for_status("working");
    pane.terminal.press_until("Escape", |screen| !screen.contains("esc to interrupt")).unwrap();
    pane.wait_for_style("bg=#0a0a0a");
    pane.wait_for_status("done");

    pane.terminal.submit("third").unwrap();
    pane.terminal.wait_for("Which colour?").unwrap();
    pane.wait_for_status("attention");
    pane.terminal.press_until("Enter", |screen| !screen.contains("Enter to select")).unwrap();
    pane.terminal.wait_for("Do you want to proceed?").unwrap();
    pane.wait_for_status("attention");
    pane.say_yes("slow.sh three");
    pane.wait_for_status("working");
    let heard: Vec<String> = pane.stage.heard().into_iter().map(|call| call.event).collect();
    assert!(!heard.iter().any(|event| event == "Stop"), "no hook told of any of it: {heard:?}");

    let pid = pane.terminal.client_pid().unwrap().to_string();
    assert!(Command::new("kill").args(["-KILL", &pid]).status().unwrap().success());
    pane.wait_for_status("error");
    let row: Value = serde_json::from_str(pane.taut(&["agents", "--json"]).trim()).unwrap();
    assert_eq!(row["why"], "its client is gone", "{row}");
}
