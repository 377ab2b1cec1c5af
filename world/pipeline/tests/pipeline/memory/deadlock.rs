//! G0 on the real way: every gate closed at once, and an agent that does what it is told.

use super::{IMPLEMENT, Play, configured, denial};
use serde_json::json;

#[test]
fn g0_an_agent_behind_every_gate_gets_out_by_doing_what_it_is_told() {
    let mut stage = configured(&format!(
        "{IMPLEMENT}directives = [\"TESTING\"]\n[session]\nrequired = true\n[overflow]\nat = 90\n[context]\nwindow = 133000\n"
    ));
    stage.write("acme/src/TESTING.md", "x");
    let transcript = stage.folder("home").join("t.jsonl");
    let client = stage.client("s1").with("TAUT_AGENT_ID", "ann");
    stage.start(&client, "startup");
    stage.line(&client, "taut session activate implement");
    stage.line(&client, "taut effort phase '1: Plan'");
    stage.came_back(&client, "Read", json!({"file_path": "src/main.rs"}));
    for n in 0..3 {
        stage.line(&client, &format!("make {n}"));
    }
    for n in 0..6 {
        stage.call(&client, "Agent", json!({"n": n}));
        stage.call(&client, "Read", json!({"file_path": "src/TESTING.md"}));
    }
    let message = json!({"id": "m", "model": "x", "usage": {"input_tokens": 99_000}});
    std::fs::write(&transcript, format!("{}\n", json!({"type": "assistant", "message": message}))).unwrap();
    stage.send(&client, "PostToolUse", json!({"tool_name": "Bash", "tool_use_id": "u", "transcript_path": transcript}));

    let mut closed = Vec::new();
    let mut now = client.clone();
    for round in 0..6 {
        let reason = denial(&stage.line(&now, &format!("work {round}")));
        let rule = reason.split(']').next().unwrap_or_default().trim_start_matches('[').to_owned();
        let way_out = match rule.as_str() {
            "" => break,
            "overflow" => "taut session dehydrate <<'E'\n{\"summary\":\"s\",\"lastAction\":\"l\",\"nextSteps\":[]}\nE",
            "session-gate" => "taut session activate implement",
            "heartbeat" => "taut log 'what I did'",
            other => panic!("{other}: {reason}"),
        };
        assert_eq!(denial(&stage.line(&now, way_out)), "", "the way out of {rule} is blocked");
        if rule == "overflow" {
            stage.line(&now, "taut effort finish");
            now = now.session_id("s2");
            stage.send(&now, "SessionStart", json!({"source": "clear"}));
        }
        closed.push(rule);
    }
    assert_eq!(closed, ["overflow", "session-gate"], "and then the work goes on");
    assert_eq!(denial(&stage.line(&now, "work")), "");
}
