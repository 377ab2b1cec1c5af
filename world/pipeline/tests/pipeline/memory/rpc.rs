//! D8: every hook as a method, with the fields its callers know.

use super::{IMPLEMENT, Play, configured};
use pipeline::{RpcCaller, rpc};
use serde_json::{Value, json};

#[test]
fn d8_every_hook_gives_the_fields_it_promises() {
    let mut stage = configured(&format!("{IMPLEMENT}preload = [\"NOTES.md\"]\n"));
    stage.write("acme/NOTES.md", "notes");
    let client = stage.client("s1");
    stage.start(&client, "startup");
    stage.invoke(&client, "implement");
    let caller = RpcCaller {
        cwd: client.cwd.to_string_lossy().into_owned(),
        env: model::Environment(client.env.iter().cloned().collect()),
        parent: None,
    };
    let mut ask = |method: &str, mut params: Value| {
        params["sessionId"] = json!("s1");
        params["cwd"] = json!(client.cwd);
        rpc(&mut stage.pipeline, method, params, caller.clone()).unwrap_or_else(|error| panic!("{method}: {error}"))
    };
    let tool = json!({"toolName": "Bash", "toolInput": {"command": "ls"}, "toolUseId": "t1"});
    for (method, params, fields) in [
        (
            "hooks.preToolUse",
            tool.clone(),
            "allow heartbeatCount contextUsage overflowWarning pendingPreloads firedRules",
        ),
        ("hooks.postToolUse", tool.clone(), "heartbeatCount pendingInjections dialogueEntry"),
        ("hooks.postToolUseFailure", json!({"toolName": "Bash", "toolUseId": "t1", "error": "x"}), "status"),
        (
            "hooks.userPrompt",
            json!({"prompt": "hi"}),
            "sessionContext effortId sessionId taskDir skill phase heartbeat",
        ),
        (
            "hooks.userPromptSubmit",
            json!({"prompt": "hi"}),
            "sessionContext effortId sessionId taskDir skill phase heartbeat",
        ),
        ("hooks.notification", json!({"notificationType": "idle_prompt"}), "status"),
        ("hooks.permissionRequest", tool.clone(), "status"),
        ("hooks.subagentStart", json!({"agentId": "h", "agentType": "x"}), "effortId logTemplate directives metadata"),
        ("hooks.subagentStop", json!({"agentId": "h", "agentType": "x"}), "effortId"),
        ("hooks.teammateIdle", json!({"teammateName": "bob"}), "status"),
        ("hooks.taskCompleted", json!({"taskId": "1", "taskSubject": "x"}), "effortId"),
        ("hooks.configChange", json!({"source": "skills"}), "allow"),
        ("hooks.stop", json!({"stopHookActive": false}), "status"),
        ("hooks.preCompact", json!({"trigger": "manual"}), "allow"),
        (
            "hooks.sessionStart",
            json!({"source": "compact"}),
            "found effortId sessionId skill phase filesToPreload dehydratedContext skillConfig",
        ),
        ("hooks.sessionEnd", json!({"reason": "other"}), "status"),
    ] {
        let result = ask(method, params);
        for field in fields.split(' ') {
            assert!(result.get(field).is_some(), "{method} lacks {field}: {result}");
        }
    }
}

#[test]
fn d8_a_blocked_call_says_so_and_why() {
    let mut stage = configured("[session]\nrequired = true\n");
    let client = stage.client("s1");
    stage.start(&client, "startup");
    let params = json!({"session_id": "s1", "cwd": client.cwd, "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t"});
    let env = model::Environment(client.env.iter().cloned().collect());
    let result =
        rpc(&mut stage.pipeline, "hooks.preToolUse", params, RpcCaller { cwd: "/".into(), env, parent: None }).unwrap();
    assert_eq!(result["allow"], false);
    assert!(result["reason"].as_str().unwrap().contains("taut session activate"));
    assert_eq!(result["rules"], json!(["session-gate"]));
}

/// ORIGINS §4.3 no. 4 and 5: each call carries its own environment, and none is seen by another.
#[test]
fn d8_two_callers_are_two_agents_whatever_order_they_call_in() {
    let mut stage = configured(IMPLEMENT);
    let folder = stage.folder("acme");
    let mut ask = |method: &str, agent: &str, mut params: Value| {
        params["session_id"] = json!(format!("s-{agent}"));
        params["cwd"] = json!(folder);
        params["env"] = json!({"AGENT_ID": agent, "SECRET": "x"});
        rpc(&mut stage.pipeline, method, params, RpcCaller { cwd: "/".into(), ..RpcCaller::default() }).unwrap()
    };
    for agent in ["ann", "bob"] {
        ask("hooks.sessionStart", agent, json!({"source": "startup"}));
    }
    let line =
        json!({"tool_name": "Bash", "tool_input": {"command": "taut session activate implement"}, "tool_use_id": "t"});
    ask("hooks.preToolUse", "ann", line);
    let of_bob = ask("hooks.userPromptSubmit", "bob", json!({"prompt": "x"}));
    let of_ann = ask("hooks.userPrompt", "ann", json!({"prompt": "x"}));
    assert_eq!((&of_bob["skill"], &of_ann["skill"]), (&Value::Null, &json!("implement")));
    let efforts = stage.efforts();
    assert_eq!((efforts.len(), efforts[0].agent.as_str()), (1, "ann"));
}
