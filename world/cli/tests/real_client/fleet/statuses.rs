//! F1 and F2: permission prompt, answer, stop.

use super::pane::Pane;
use std::time::Duration;
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
    pane.wait_for_style("bg=#081a10");
    let window = pane.terminal.tmux(&["show-options", "-wqv", "@taut_status"]).unwrap();
    assert_eq!(window.trim(), "attention");
    pane.say_yes("touch one.txt");
    pane.wait_for_status("working");
    pane.wait_for_style("bg=#080c10");
    pane.terminal.wait_for("made it").unwrap();
    pane.wait_for_status("done");
    pane.wait_for_style("bg=#0a0a0a");
    assert!(pane.stage.sandbox.project().join("one.txt").exists());
    pane.terminal.leave().unwrap();
    // The pane is no agent's any more: it gets its own look back.
    pane.wait_for_style("");
}
