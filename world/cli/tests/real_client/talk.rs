//! The interactive client in a terminal: `/clear`, and leaving.

use crate::recorded::{RecordedClient, assert_quiet_but_for, assert_stored_as_heard, is_proof};
use std::time::Duration;
use testkit::{ClientLaunch, Script, Turn, poll};

const PLENTY: Duration = Duration::from_secs(60);

#[test]
fn s1_clear_makes_a_linked_session_under_the_same_agent_in_its_pane() {
    let stage = RecordedClient::new();
    let script = Script::new()
        .main(Turn::bash("echo one > one.txt"))
        .main(Turn::say("forty-two"))
        .main(Turn::bash("rm -rf ~"))
        .main(Turn::say("forty-three"));
    let terminal = ClientLaunch::new(&stage.sandbox, script).open(&stage.client).unwrap();
    terminal.submit("what is it?").unwrap();
    terminal.wait_for("forty-two").unwrap();
    terminal.submit("/clear").unwrap();
    poll::until("SessionStart after /clear", PLENTY, || {
        stage.heard().iter().any(|heard| heard.input["source"] == "clear").then_some(())
    })
    .unwrap();
    terminal.submit("and now?").unwrap();
    terminal.wait_for("forty-three").unwrap();
    poll::until("the second turn to end", PLENTY, || {
        (stage.heard().iter().filter(|heard| heard.input["hook_event_name"] == "Stop").count() >= 2).then_some(())
    })
    .unwrap();
    terminal.leave().unwrap();
    drop(terminal);

    let pane: Vec<_> = stage.sessions().into_iter().filter(|session| !is_proof(session)).collect();
    assert_eq!(pane.len(), 2, "{pane:#?}");
    assert_eq!(pane[1]["prev_session_id"], pane[0]["id"]);
    assert_eq!((&pane[0]["agent"], &pane[0]["conversation"]), (&pane[1]["agent"], &pane[1]["conversation"]));
    assert_ne!(pane[0]["host_session_id"], pane[1]["host_session_id"]);
    assert_eq!(pane[0]["end_reason"], "clear");
    assert_eq!((&pane[1]["state"], &pane[1]["end_reason"]), (&"ended".into(), &"prompt_input_exit".into()));
    for heard in stage.heard() {
        let told = |name: &str| heard.env.get(name).map(String::as_str);
        assert_eq!(told("CLAUDE_CODE_ENTRYPOINT"), Some("cli"));
        assert_eq!(told("CLAUDE_CODE_SESSION_ATTENDED"), Some("1"));
        assert_eq!(told("parent"), told("CLAUDE_PID"));
        assert_eq!(told("comm"), Some("claude"));
    }
    assert_stored_as_heard(&stage);
    assert_quiet_but_for(&stage, 1);
}
