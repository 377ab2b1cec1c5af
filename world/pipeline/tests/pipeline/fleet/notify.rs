//! What a person is told when an agent turns (F5), through the whole way.

use crate::home::{Client, PipelineHome};
use model::effect::After;
use pipeline::Response;
use serde_json::{Value, json};

const CONFIG: &str = "home/.config/taut/config.toml";

/// An hour of ordinary work with every kind of turn in it.
fn hour() -> Vec<(&'static str, Value)> {
    let bash = |id: &str| json!({"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": id});
    let failed =
        json!({"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "b", "error": "Exit code 2"});
    let limit = json!({"error": "rate_limit", "last_assistant_message": "API Error: too many requests"});
    vec![
        ("SessionStart", json!({"source": "startup"})),
        ("UserPromptSubmit", json!({"prompt": "go"})),
        ("PermissionRequest", json!({"tool_name": "Bash", "tool_input": {"command": "git push"}})),
        ("Notification", json!({"notification_type": "permission_prompt", "message": "permission"})),
        ("PreToolUse", bash("a")),
        ("PostToolUse", bash("a")),
        ("PreToolUse", bash("b")),
        ("PostToolUseFailure", failed),
        ("StopFailure", limit),
        ("UserPromptSubmit", json!({"prompt": "again"})),
        ("Stop", json!({})),
        ("SessionEnd", json!({"reason": "other"})),
    ]
}

/// What each event's answer rings with, and whether others are to be told.
fn play(stage: &mut PipelineHome, client: &Client) -> Vec<(&'static str, Option<String>, bool)> {
    hour().into_iter().map(|(event, fields)| heard(event, &stage.send(client, event, fields))).collect()
}

fn heard(event: &'static str, served: &Response) -> (&'static str, Option<String>, bool) {
    let said: Value = serde_json::from_str(&served.answer.stdout).unwrap_or_default();
    let rung = said["terminalSequence"].as_str().map(str::to_string);
    if rung.is_none() {
        assert_eq!(served.answer.stdout, "", "{event}");
    }
    (event, rung, served.after.contains(&After::Tell))
}

fn loud(heard: Vec<(&'static str, Option<String>, bool)>) -> Vec<(&'static str, String)> {
    heard.into_iter().filter_map(|(event, rung, _)| Some((event, rung?))).collect()
}

fn rings(text: &str) -> String {
    format!("\u{1b}]9;Taut: {text}\u{7}\u{7}")
}

#[test]
fn f5_an_hour_of_ordinary_work_stays_silent_until_it_is_switched_on() {
    for config in ["", "[notify]\nterminal = true\ndesktop = true\ncommand = [\"/bin/true\"]\n"] {
        let mut stage = PipelineHome::new();
        stage.write(CONFIG, config);
        let client = stage.client("one").with("TAUT_AGENT_ID", "ada");
        let quiet = play(&mut stage, &client).into_iter().all(|(_, rung, told)| rung.is_none() && !told);
        assert!(quiet, "{config}");
    }
}

#[test]
fn f5_each_kind_rings_in_the_very_event_that_turned_the_status() {
    let mut stage = PipelineHome::new();
    stage.write(CONFIG, "[notify]\non = [\"attention\", \"error\", \"done\"]\nterminal = true\n");
    let client = stage.client("one").with("TAUT_AGENT_ID", "ada");
    let heard = play(&mut stage, &client);
    assert!(heard.iter().all(|(_, _, told)| !told), "the terminal alone tells nobody else");
    assert_eq!(
        loud(heard),
        [
            ("PermissionRequest", rings("ada needs you: permission for Bash (git push)")),
            ("StopFailure", rings("ada ran into an error: rate limit: “API Error: too many requests”")),
            ("Stop", rings("ada is done")),
        ]
    );
    for kind in ["attention", "error", "done"] {
        let mut stage = PipelineHome::new();
        stage.write(CONFIG, &format!("[notify]\non = [\"{kind}\"]\nterminal = true\ndesktop = true\n"));
        let client = stage.client("one").with("TAUT_AGENT_ID", "ada");
        let heard = play(&mut stage, &client);
        assert_eq!(heard.iter().filter(|(_, rung, told)| rung.is_some() && *told).count(), 1, "{kind}");
        assert_eq!(heard.iter().filter(|(_, rung, told)| rung.is_some() || *told).count(), 1, "{kind}");
    }
}

#[test]
fn f5_a_client_without_a_screen_is_not_rung() {
    for (name, value) in [("CLAUDE_CODE_ENTRYPOINT", "sdk-cli"), ("CLAUDE_SESSION_MODE", "background")] {
        let mut stage = PipelineHome::new();
        stage.write(CONFIG, "[notify]\non = [\"attention\", \"error\", \"done\"]\nterminal = true\ndesktop = true\n");
        let client = stage.client("one").with("TAUT_AGENT_ID", "ada").with(name, value);
        let heard = play(&mut stage, &client);
        assert!(heard.iter().all(|(_, rung, _)| rung.is_none()), "{name}");
        assert_eq!(heard.iter().filter(|(_, _, told)| *told).count(), 3, "others are told all the same");
    }
}

#[test]
fn f5_the_same_turn_rings_once_in_an_interval() {
    let mut stage = PipelineHome::new();
    stage.write(CONFIG, "[notify]\non = [\"attention\"]\nterminal = true\ndebounce = \"1m\"\n");
    let client = stage.client("one").with("TAUT_AGENT_ID", "ada");
    let ask = |line: &str| json!({"tool_name": "Bash", "tool_input": {"command": line}});
    let mut rung = Vec::new();
    // Every event is ten seconds after the one before.
    for turn in 0..8 {
        stage.send(&client, "UserPromptSubmit", json!({"prompt": "go"}));
        let served = stage.send(&client, "PermissionRequest", ask(&format!("make {turn}")));
        rung.push(heard("PermissionRequest", &served).1.is_some());
    }
    assert_eq!(rung, [true, false, false, true, false, false, true, false]);
}

#[test]
fn f5_quiet_hours_ring_nothing() {
    for (quiet, rung) in [("[\"00:00-12:00\", \"12:00-24:00\"]", 0), ("[]", 3)] {
        let mut stage = PipelineHome::new();
        let kinds = "on = [\"attention\", \"error\", \"done\"]";
        stage.write(CONFIG, &format!("[notify]\n{kinds}\nterminal = true\nquiet = {quiet}\n"));
        let client = stage.client("one").with("TAUT_AGENT_ID", "ada");
        assert_eq!(loud(play(&mut stage, &client)).len(), rung, "{quiet}");
    }
}

#[test]
fn f5_g11_a_project_switches_nothing_on_and_may_leave_kinds_out() {
    let loudest = "[notify]\non = [\"attention\", \"error\", \"done\"]\nterminal = true\ndesktop = true\n\
                   command = [\"/bin/sh\", \"-c\", \"evil\"]\n";
    for file in ["acme/.taut/config.toml", "acme/.taut/config.local.toml"] {
        let mut stage = PipelineHome::new();
        stage.write(file, loudest);
        host::trust::grant(&stage.folder("state"), &stage.folder("acme")).unwrap();
        let client = stage.client("one").with("TAUT_AGENT_ID", "ada");
        assert!(play(&mut stage, &client).into_iter().all(|(_, rung, told)| rung.is_none() && !told), "{file}");
        let mut stage = PipelineHome::new();
        stage.write(CONFIG, "[notify]\non = [\"attention\", \"done\"]\nterminal = true\n");
        stage.write(file, "[notify]\non = [\"done\", \"error\"]\n");
        let client = stage.client("one").with("TAUT_AGENT_ID", "ada");
        let heard = play(&mut stage, &client);
        assert_eq!(loud(heard), [("Stop", rings("ada is done"))], "{file}");
    }
}

/// What an agent is asked to run is hostile text, and may hold a secret.
#[test]
fn f5_d9_neither_an_escape_nor_a_secret_reaches_the_terminal() {
    let mut stage = PipelineHome::new();
    stage.write(CONFIG, "[notify]\non = [\"attention\"]\nterminal = true\n");
    let client = stage.client("one").with("TAUT_AGENT_ID", "a\u{7}\u{1b}]0;da");
    let line = "export TOKEN=ghp_0123456789abcdefghij\u{7}\u{1b}[2J; echo \u{202e}x";
    let served =
        stage.send(&client, "PermissionRequest", json!({"tool_name": "Bash", "tool_input": {"command": line}}));
    let rung = heard("PermissionRequest", &served).1.unwrap();
    assert_eq!(rung, rings("a␇␛]0;da needs you: permission for Bash (export TOKEN=[redacted]; echo \\u{202e}x)"));
}

#[test]
fn f5_the_event_that_turned_a_status_says_so() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one").with("TAUT_AGENT_ID", "ada");
    play(&mut stage, &client);
    let turns: Vec<Value> =
        stage.events().into_iter().filter_map(|event| event.detail.get("status").cloned()).collect();
    assert_eq!(
        turns[..3],
        [
            json!({"from": null, "to": "done"}),
            json!({"from": "done", "to": "working"}),
            json!({"from": "working", "to": "attention"}),
        ]
    );
}
