//! A stop carries a code, and what a person lets pass by it passes once: that call, there, in that session (G13).

use crate::home::{Client, PipelineHome, decision};
use model::effect::{Allowance, AllowedOnce, Write};
use model::{Call, Environment, Ms, stop_code};
use pipeline::{Pipeline, PipelineSetup, Response};
use serde_json::{Value, json};
use std::sync::Barrier;
use std::time::Duration;
use store::Durability;

const HALF_AN_HOUR: i64 = 30 * 60 * 1000;

/// The whole code of a stop, as it is stored.
fn code(stopped: &Response) -> String {
    let event = stopped.event.as_ref().unwrap();
    event.detail["stop"]["code"].as_str().unwrap_or_else(|| panic!("no code: {}", event.detail)).to_string()
}

/// What `taut allow` writes once a person has agreed.
fn allow(stage: &mut PipelineHome, code: &str, at: Ms) {
    let allowance = Allowance { what: AllowedOnce::Call(code.to_string()), by: "ann".into(), at };
    let store = stage.pipeline.store().unwrap();
    store.transact(Durability::Full, |tx| tx.apply(&[Write::Allowance(allowance)])).unwrap();
}

fn allowed(stage: &mut PipelineHome, client: &Client, line: &str) -> String {
    let stopped = stage.bash(client, "first", line);
    let (code, at) = (code(&stopped), stopped.event.unwrap().at);
    allow(stage, &code, at);
    code
}

fn deny() -> Option<String> {
    Some("deny".to_string())
}

#[test]
fn g13_a_stop_names_its_code_to_model_and_user_and_the_floor_has_none() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one");
    for (at, line) in ["pkill node", "git reset --hard", "sudo ls"].into_iter().enumerate() {
        let stopped = stage.bash(&client, &format!("t{at}"), line);
        let short = stop_code::short(&code(&stopped)).to_string();
        let said: Value = serde_json::from_str(&stopped.answer.stdout).unwrap();
        let reason = said["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap();
        assert!(reason.ends_with(&format!("(code {short}: the user can let exactly this pass once.)")), "{reason}");
        let user = said["systemMessage"].as_str().unwrap_or_default();
        assert_eq!(user.contains(&format!("`taut allow {short}` (exactly this, once), ")), line != "sudo ls", "{said}");
        assert_eq!(stage.events().pop().unwrap().detail["stop"]["code"], code(&stopped), "stored as it was said");
    }
    let floor = stage.bash(&client, "floor", "rm -rf /");
    assert!(!floor.answer.stdout.contains("(code ") && !floor.answer.stdout.contains("taut allow"), "{floor:?}");
    assert_eq!(floor.event.unwrap().detail["stop"]["floor"], true);
    assert!(stage.bash(&client, "plain", "ls").event.unwrap().detail.get("stop").is_none());
}

#[test]
fn g13_what_a_person_lets_pass_passes_once_and_is_recorded_with_rule_code_and_who() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one");
    let code = allowed(&mut stage, &client, "pkill node");
    let input = json!({"command": "pkill node", "description": "said in other words"});
    let again = json!({"tool_name": "Bash", "tool_input": input, "tool_use_id": "t2"});
    let passed = stage.send(&client, "PreToolUse", again.clone());
    assert_eq!((decision(&passed), passed.answer.stdout.as_str()), (None, ""));
    let event = stage.events().pop().unwrap();
    assert_eq!(event.rules, ["kill-by-name"]);
    let expected = json!([{"rule": "kill-by-name", "code": stop_code::short(&code), "call": code, "by": "ann"}]);
    assert_eq!(event.detail["allowed"], expected);
    assert_eq!(stage.send(&client, "PreToolUse", again).answer, passed.answer, "the same call is answered the same");
    let second = stage.bash(&client, "t3", "pkill node");
    assert_eq!(decision(&second), deny(), "it is spent");
    assert_eq!(self::code(&second), code, "the same call has the same code");
}

#[test]
fn g13_another_line_folder_session_tool_or_option_is_not_what_was_allowed() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one");
    allowed(&mut stage, &client, "pkill node");
    let elsewhere = client.clone().in_folder(&stage.folder("other"));
    assert_eq!(decision(&stage.bash(&elsewhere, "t2", "pkill node")), deny());
    let below = client.clone().in_folder(&stage.folder("acme/src"));
    assert_eq!(decision(&stage.bash(&below, "t3", "pkill node")), deny());
    assert_eq!(decision(&stage.bash(&stage.client("two"), "t4", "pkill node")), deny());
    for (at, line) in ["pkill nodes", "pkill node ", "pkill node; pkill node", "killall node"].into_iter().enumerate() {
        assert_eq!(decision(&stage.bash(&client, &format!("l{at}"), line)), deny(), "{line}");
    }
    let free = json!({"command": "pkill node", "dangerouslyDisableSandbox": true});
    let unboxed = json!({"tool_name": "Bash", "tool_input": free, "tool_use_id": "t5"});
    assert_eq!(decision(&stage.send(&client, "PreToolUse", unboxed)), deny());
    assert_eq!(decision(&stage.bash(&client, "t6", "pkill node")), None, "none of these has used it up");
}

#[test]
fn g13_it_holds_for_half_an_hour_and_not_where_the_clock_was_set_back() {
    for (age, passes) in [(HALF_AN_HOUR - 20_000, true), (HALF_AN_HOUR + 1, false), (-2 * HALF_AN_HOUR, false)] {
        let mut stage = PipelineHome::new();
        let client = stage.client("one");
        let stopped = stage.bash(&client, "t1", "pkill node");
        let at = stopped.event.as_ref().unwrap().at.plus(-age);
        allow(&mut stage, &code(&stopped), at);
        assert_eq!(decision(&stage.bash(&client, "t2", "pkill node")).is_none(), passes, "{age}");
    }
}

#[test]
fn g13_the_floor_stays_even_where_its_call_was_let_through() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one");
    allowed(&mut stage, &client, "pkill node; rm -rf /");
    assert_eq!(decision(&stage.bash(&client, "t2", "pkill node; rm -rf /")), deny());
}

#[test]
fn g13_what_is_found_in_the_line_is_part_of_what_was_allowed() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one");
    allowed(&mut stage, &client, "pkill node && deploy");
    let rule = "[[guard.rule]]\nid = \"no-deploy\"\nkind = \"deny\"\nprogram = \"deploy\"\nreason = \"Not today.\"\n";
    stage.write("home/.config/taut/config.toml", rule);
    let stopped = stage.bash(&client, "t2", "pkill node && deploy");
    assert_eq!(decision(&stopped), deny(), "another reason than the one a person has seen");
}

#[test]
fn g13_a_call_that_a_gate_stops_does_not_use_it_up() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one");
    allowed(&mut stage, &client, "pkill node");
    stage.write("home/.config/taut/config.toml", "[session]\nrequired = true\n");
    assert_eq!(decision(&stage.bash(&client, "t2", "pkill node")), deny(), "no session is active");
    stage.write("home/.config/taut/config.toml", "");
    assert_eq!(decision(&stage.bash(&client, "t3", "pkill node")), None);
}

#[test]
fn g13_of_two_calls_at_once_one_passes() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one");
    allowed(&mut stage, &client, "pkill node");
    let at = stage.events().pop().unwrap().at.plus(1_000);
    let call = |id: &str| Call {
        request: id.to_string(),
        agent: "claude-code".into(),
        stdin: json!({
            "session_id": "one", "cwd": client.cwd, "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": {"command": "pkill node"}, "tool_use_id": id,
        })
        .to_string()
        .into_bytes(),
        cwd: client.cwd.to_string_lossy().into_owned(),
        env: Environment(client.env.iter().cloned().collect()),
        parent: None,
        at,
    };
    let setting = || PipelineSetup {
        state: stage.folder("state"),
        home: stage.folder("home"),
        user_config: stage.folder("home/.config/taut/config.toml"),
        patience: Duration::from_secs(20),
        dialects: agents::ALL,
    };
    let together = Barrier::new(4);
    let racing: Vec<Response> = std::thread::scope(|scope| {
        let racers: Vec<_> = (0..4)
            .map(|nth| {
                let (call, setting, together) = (call(&format!("racer-{nth}")), setting(), &together);
                scope.spawn(move || {
                    let mut pipeline = Pipeline::new(setting);
                    together.wait();
                    pipeline.handle(call)
                })
            })
            .collect();
        racers.into_iter().map(|racer| racer.join().unwrap()).collect()
    });
    assert_eq!(racing.iter().filter(|one| decision(one).is_none()).count(), 1, "{racing:#?}");
    // And of calls that share one transaction, as the daemon's do.
    allow(&mut stage, &code(racing.iter().find(|one| decision(one).is_some()).unwrap()), at);
    let shared = stage.pipeline.handle_all(vec![call("a"), call("b"), call("c")]);
    assert_eq!(shared.iter().filter(|one| decision(one).is_none()).count(), 1, "{shared:#?}");
}

#[test]
fn g11_a_call_that_the_configuration_lets_pass_is_recorded_with_its_rule_and_the_entry() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one");
    let entry = format!(
        "[[guard.allow]]\nrule = \"git-reset-hard\"\npath = \"{}\"\nreason = \"scratch\"\n",
        stage.folder("acme").display()
    );
    stage.write("home/.config/taut/config.toml", &entry);
    assert_eq!(decision(&stage.bash(&client, "t1", "git reset --hard")), None);
    let event = stage.events().pop().unwrap();
    assert_eq!((event.rules.as_slice(), event.answer.stdout.as_str()), (&["git-reset-hard".to_string()][..], ""));
    let by = event.detail["allowed"][0]["by"].as_str().unwrap();
    assert!(by.ends_with("/acme (scratch); `taut policy forget 1` takes it back"), "{by}");
    let elsewhere = client.in_folder(&stage.folder("other"));
    assert_eq!(decision(&stage.bash(&elsewhere, "t2", "git reset --hard")), deny());
}

#[test]
fn g10_one_cause_is_said_once_and_all_its_rules_are_recorded_and_struck() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one");
    let rule = "[[guard.rule]]\nid = \"my-reset\"\nkind = \"strike\"\nprogram = \"git\"\nargs = [\"reset\"]\n\
                reason = \"A hard reset throws changes away.\"\ninstead = \"`git diff`\"\n";
    stage.write("home/.config/taut/config.toml", rule);
    let stopped = stage.bash(&client, "t1", "git reset --hard");
    let said: Value = serde_json::from_str(&stopped.answer.stdout).unwrap();
    let reason = said["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap();
    assert!(reason.starts_with("[git-reset-hard] `git reset --hard`: "), "{reason}");
    assert!(reason.contains("(Also against it: my-reset.)"), "{reason}");
    assert_eq!((reason.matches("Instead").count(), reason.matches("denied once").count()), (1, 1), "{reason}");
    assert_eq!(stopped.event.unwrap().rules, ["git-reset-hard", "my-reset"]);
    stage.send(&client, "PostToolBatch", json!({"tool_calls": [{"tool_use_id": "t1"}]}));
    assert_eq!(decision(&stage.bash(&client, "t2", "git reset --hard")), None, "both strikes were taken");
}
