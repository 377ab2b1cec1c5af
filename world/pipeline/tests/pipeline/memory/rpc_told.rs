//! D8: what a hook called as a method gives is what the hook itself would have said, in one shape for all of them.

use super::{IMPLEMENT, Play, configured};
use crate::home::{Client, PipelineHome};
use pipeline::{RpcCaller, rpc};
use serde_json::{Value, json};

/// The hook as a method, called by this client.
fn ask(stage: &mut PipelineHome, client: &Client, method: &str, mut params: Value) -> Value {
    params["session_id"] = json!(client.session);
    params["cwd"] = json!(client.cwd);
    let env = model::Environment(client.env.iter().cloned().collect());
    let caller = RpcCaller { cwd: "/".into(), env, parent: None };
    rpc(&mut stage.pipeline, method, params, caller).unwrap_or_else(|error| panic!("{method}: {error}"))
}

fn bash(id: &str, line: &str) -> Value {
    json!({"tool_name": "Bash", "tool_input": {"command": line}, "tool_use_id": id})
}

#[test]
fn d8_every_result_has_the_verdict_what_the_model_is_told_and_the_bytes_to_print() {
    let mut stage = configured(IMPLEMENT);
    let client = stage.client("s1");
    for method in pipeline::methods() {
        let params =
            json!({"tool_name": "Read", "tool_input": {}, "source": "startup", "prompt": "x", "reason": "clear"});
        let result = ask(&mut stage, &client, &method, params);
        for field in ["eventId", "sessionId", "logicalId", "verdict", "rules", "reason", "inject", "userLine", "answer"]
        {
            assert!(result.get(field).is_some(), "{method} lacks {field}: {result}");
        }
        assert_eq!(result["answer"], json!({"stdout": "", "stderr": "", "exit": 0}), "{method}");
        assert_eq!((&result["inject"], &result["userLine"]), (&Value::Null, &Value::Null), "{method}");
    }
}

/// The text of a warning, which the result of `hooks.preToolUse` was without.
#[test]
fn d8_a_call_that_passes_with_a_warning_gives_the_warnings_text() {
    let mut stage = configured(IMPLEMENT);
    let client = stage.client("s1");
    stage.start(&client, "startup");
    stage.invoke(&client, "implement");
    stage.line(&client, "taut effort phase '1: Plan'");
    let results: Vec<Value> =
        (1..=3).map(|n| ask(&mut stage, &client, "hooks.preToolUse", bash(&format!("t{n}"), "make all"))).collect();
    assert_eq!((&results[1]["inject"], &results[1]["verdict"]), (&Value::Null, &json!("pass")));
    let third = &results[2];
    assert_eq!((&third["allow"], &third["verdict"]), (&json!(true), &json!("warn")));
    assert!(third["inject"].as_str().unwrap().contains("[heartbeat]"), "{third}");
    let printed: Value = serde_json::from_str(third["answer"]["stdout"].as_str().unwrap()).unwrap();
    assert_eq!(printed["hookSpecificOutput"]["additionalContext"], third["inject"]);
}

#[test]
fn d8_what_stops_something_is_told_the_same_way_whichever_hook_it_is() {
    let mut stage = configured("[context]\nreport = true\n[compaction]\nauto = \"stop\"\n");
    let client = stage.client("s1").with("CLAUDE_SESSION_MODE", "background").with("TAUT_AGENT_ID", "ann");
    let session = stage.start(&client, "startup");
    stage.hold("bridge/01", "ann", Some(&session.id));
    let denied = ask(&mut stage, &client, "hooks.preToolUse", bash("t1", "pkill node"));
    assert_eq!((&denied["allow"], &denied["inject"]), (&json!(false), &denied["reason"]));
    assert!(denied["userLine"].as_str().unwrap().contains("taut"), "{denied}");
    let stopped = ask(&mut stage, &client, "hooks.stop", json!({"stop_hook_active": false}));
    assert!(stopped["inject"].as_str().unwrap().contains("before ending"), "{stopped}");
    let refused = ask(&mut stage, &client, "hooks.preCompact", json!({"trigger": "auto"}));
    assert_eq!(refused["allow"], false, "{refused}");
    assert!(refused["answer"]["stdout"].as_str().unwrap().contains("\"decision\":\"block\""), "{refused}");
    assert_eq!(refused["halt"], json!("Context Limit Reached"));
}

/// T3: whoever asks again is told what was answered, and a call that was denied does not pass the second time.
#[test]
fn d8_the_same_call_twice_is_denied_twice() {
    let mut stage = configured("");
    let client = stage.client("s1");
    stage.start(&client, "startup");
    let first = ask(&mut stage, &client, "hooks.preToolUse", bash("t1", "rm -rf /"));
    let second = ask(&mut stage, &client, "hooks.preToolUse", bash("t1", "rm -rf /"));
    for field in ["allow", "verdict", "reason", "inject", "userLine", "answer"] {
        assert_eq!(first[field], second[field], "{field}");
    }
    assert_eq!(second["allow"], false);
}

#[test]
fn d8_the_line_about_the_session_is_given_once_and_with_one_id() {
    for config in ["[context]\nruntime = true\n", ""] {
        let mut stage = configured(config);
        let client = stage.client("host-id").with("TAUT_SESSION_ID", "my-own-name");
        let session = stage.start(&client, "startup");
        let result = ask(&mut stage, &client, "hooks.userPrompt", json!({"prompt": "hi"}));
        let context = result["sessionContext"].as_str().unwrap();
        assert_eq!(context.matches("[Session Context]").count(), 1, "{context}");
        assert_eq!(context.matches("Session: my-own-name").count(), 1, "{context}");
        assert!(!context.contains(&session.id), "{context}");
        assert_eq!((&result["sessionId"], &result["logicalId"]), (&json!(session.id), &json!("my-own-name")));
    }
}

/// What is told besides is told once too.
#[test]
fn d8_a_message_stands_once_behind_the_line_about_the_session() {
    let mut stage = configured("");
    let client = stage.client("s1").with("TAUT_AGENT_ID", "ann");
    let other = stage.client("s2").with("TAUT_AGENT_ID", "bob");
    stage.start(&client, "startup");
    stage.start(&other, "startup");
    stage.line(&other, "taut send ann 'the bridge is open'");
    let result = ask(&mut stage, &client, "hooks.userPrompt", json!({"prompt": "hi"}));
    let context = result["sessionContext"].as_str().unwrap();
    assert!(context.starts_with("[Session Context] "), "{context}");
    assert_eq!(context.matches("the bridge is open").count(), 1, "{context}");
    assert!(result["inject"].as_str().unwrap().contains("the bridge is open"), "{result}");
}

#[test]
fn d8_a_sub_agent_that_stops_gives_the_files_of_the_effort_after_the_merge() {
    let mut stage = configured(IMPLEMENT);
    let client = stage.client("s1");
    stage.start(&client, "startup");
    stage.line(&client, "taut session activate implement");
    let helper = json!({"agent_id": "h1", "agent_type": "general-purpose"});
    stage.send(&client, "SubagentStart", helper.clone());
    let mut read = helper.clone();
    read["tool_name"] = json!("Read");
    read["tool_input"] = json!({"file_path": "src/lib.rs"});
    read["tool_use_id"] = json!("r1");
    stage.send(&client, "PostToolUse", read);
    let result = ask(&mut stage, &client, "hooks.subagentStop", helper);
    assert_eq!(result["loadedFiles"], json!([stage.folder("acme/src/lib.rs")]));
    assert_eq!(result["loadedFiles"], json!(stage.efforts()[0].files), "as it is stored");
}

/// A caller of methods sends no event of its own for a command that a prompt invokes.
#[test]
fn d8_a_prompt_that_invokes_a_skill_begins_its_effort_and_the_result_tells_of_it() {
    let mut stage = configured(IMPLEMENT);
    let client = stage.client("s1");
    stage.start(&client, "startup");
    let result = ask(&mut stage, &client, "hooks.userPrompt", json!({"prompt": "/implement the bridge"}));
    let [effort] = &stage.efforts()[..] else { panic!("{result}") };
    assert_eq!((&result["skill"], &result["effortId"]), (&json!("implement"), &json!(effort.id)));
    assert_eq!(result["taskDir"], json!(effort.folder));
    assert!(result["inject"].as_str().unwrap().contains("effort begun: implement"), "{result}");
    let context = result["sessionContext"].as_str().unwrap();
    assert_eq!(context.matches("Skill: implement").count(), 1, "{context}");
    stage.invoke(&client, "implement");
    assert_eq!(stage.efforts().len(), 1, "the event that the real client sends after it begins no other");
}
