//! `claude -p`: tools, a denied command, a sub-agent, a compaction, and leaving without a trace.

use crate::recorded::{RecordedClient, SETTINGS, assert_quiet_but_for, assert_stored_as_heard, assert_went_well};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use testkit::scripted_model::SUBAGENT_MARK;
use testkit::{ClientLaunch, PrintRun, RequestKind, Script, Turn};

/// Every tool call the model made, by id, as the client's last request repeats it.
fn called_by_the_model(run: &PrintRun) -> BTreeMap<String, Value> {
    let last = run.requests.of(RequestKind::Main).next_back().unwrap();
    let blocks = last.body["messages"].as_array().unwrap().iter().filter_map(|message| message["content"].as_array());
    let calls = blocks.flatten().filter(|block| block["type"] == "tool_use");
    calls.map(|call| (call["id"].as_str().unwrap().to_owned(), call["input"].clone())).collect()
}

#[test]
fn a_session_with_several_tools_is_stored_as_the_model_was_sent_it_and_its_worst_call_is_stopped() {
    let stage = RecordedClient::new();
    let precious = stage.sandbox.home().join("precious.txt");
    std::fs::write(&precious, "years of work").unwrap();
    let notes = stage.sandbox.project().join("notes.md");
    let script = Script::new()
        .main(Turn::bash("echo one > one.txt").and_bash("echo two"))
        .main(Turn::call("Write", json!({"file_path": notes, "content": "alpha\n"})))
        .main(Turn::call("Read", json!({"file_path": notes})))
        .main(Turn::bash("rm -rf ~"))
        .main(Turn::bash("exit 3"))
        .main(Turn::say("done"));
    let run = ClientLaunch::new(&stage.sandbox, script).prompt("tidy up").run(&stage.client).unwrap();
    assert_went_well(&run);

    assert!(precious.exists() && stage.sandbox.project().join("one.txt").exists() && notes.exists());
    let denial = stage.heard().into_iter().find(|heard| !heard.stdout.is_empty()).unwrap();
    let said: Value = serde_json::from_str(&denial.stdout).unwrap();
    let reason = said["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap();
    assert!(run.requests.all_text_sent().contains(reason.lines().next().unwrap()), "{reason}");

    let before: BTreeMap<String, Value> = (stage.events().iter())
        .filter(|event| event["event"] == "PreToolUse" && event["host_session_id"] == run.session_id().unwrap())
        .map(|event| (event["detail"]["call"].as_str().unwrap().to_owned(), event["detail"]["input"].clone()))
        .collect();
    assert_eq!(before, called_by_the_model(&run));
    let prompts: Vec<_> =
        stage.events().iter().filter_map(|event| event["detail"]["prompt"].as_str().map(str::to_owned)).collect();
    assert_eq!(prompts, ["tidy up"]);
    assert_stored_as_heard(&stage);
    assert_quiet_but_for(&stage, 1);

    let sessions = stage.sessions();
    let session = sessions.iter().find(|session| session["host_session_id"] == run.session_id().unwrap()).unwrap();
    assert_eq!((&session["state"], &session["end_reason"]), (&json!("ended"), &json!("other")));
    assert_eq!(session["project"], stage.sandbox.project().canonicalize().unwrap().to_str().unwrap());
}

/// What this product builds on: where a denied call shows up again, and what a hook is told of its client.
#[test]
fn a_denied_call_comes_back_in_its_batch_and_the_hook_is_a_child_of_the_client() {
    let stage = RecordedClient::new();
    let script = Script::new()
        .main(Turn::bash("rm -rf ~").and_bash("echo fine"))
        .main(Turn::bash("rm -rf ~"))
        .main(Turn::say("sorry"));
    let run = ClientLaunch::new(&stage.sandbox, script).run(&stage.client).unwrap();
    assert_went_well(&run);
    let heard = stage.heard();
    let denied: Vec<_> =
        heard.iter().filter(|heard| !heard.stdout.is_empty()).map(|heard| heard.input["tool_use_id"].clone()).collect();
    assert_eq!(denied.len(), 2);
    for id in &denied {
        let after = heard.iter().filter(|heard| heard.input["tool_use_id"] == *id && heard.event != "PreToolUse");
        assert_eq!(after.count(), 0, "a denied call has no event of its own after the denial");
        let in_batch = heard.iter().any(|heard| {
            heard.event == "PostToolBatch"
                && heard.input["tool_calls"]
                    .as_array()
                    .is_some_and(|calls| calls.iter().any(|call| call["tool_use_id"] == *id))
        });
        assert!(in_batch, "{id} is in no batch");
    }
    for heard in &heard {
        let told = |name: &str| heard.env.get(name).map(String::as_str);
        assert_eq!(told("parent"), told("CLAUDE_PID"), "{}", heard.event);
        assert_eq!((told("comm"), told("CLAUDECODE")), (Some("claude"), Some("1")));
        assert_eq!(
            (told("CLAUDE_CODE_ENTRYPOINT"), told("CLAUDE_CODE_SESSION_ATTENDED")),
            (Some("sdk-cli"), Some("0"))
        );
        assert_eq!(told("CLAUDE_PROJECT_DIR"), stage.sandbox.project().to_str());
    }
}

#[test]
fn a_sub_agents_calls_are_stored_under_the_session_that_started_it() {
    let stage = RecordedClient::new();
    let prompt = format!("{SUBAGENT_MARK} look around");
    let order = json!({"description": "look", "prompt": prompt, "subagent_type": "general-purpose", "run_in_background": false});
    let script = Script::new()
        .main(Turn::call("Agent", order))
        .main(Turn::say("done"))
        .sub_agent(Turn::bash("echo from-below"))
        .sub_agent(Turn::bash("rm -rf ~"))
        .sub_agent(Turn::say("I looked"));
    let run = ClientLaunch::new(&stage.sandbox, script).run(&stage.client).unwrap();
    assert_went_well(&run);
    assert!(stage.sandbox.home().exists());
    let events = stage.events();
    let below: Vec<_> = events.iter().filter(|event| event.get("sub_agent").is_some()).collect();
    for expected in ["SubagentStart", "PreToolUse", "PostToolUse", "SubagentStop"] {
        assert!(below.iter().any(|event| event["event"] == expected), "no {expected} of the sub-agent");
    }
    assert!(below.iter().all(|event| event["host_session_id"] == run.session_id().unwrap()));
    assert_stored_as_heard(&stage);
    assert_quiet_but_for(&stage, 1);
}

#[test]
fn s1_a_compaction_makes_a_linked_session_under_the_same_agent() {
    let stage = RecordedClient::new();
    let script = Script::new()
        .main(Turn::bash("echo one").using(970_000))
        .main(Turn::bash("echo two").using(970_000))
        .main(Turn::say("done"))
        .compact(Turn::say("<summary>all there was</summary>"));
    let run = ClientLaunch::new(&stage.sandbox, script).run(&stage.client).unwrap();
    assert_went_well(&run);
    assert!(run.requests.of(RequestKind::Compact).count() >= 1);
    let ours = |session: &&Value| session["host_session_id"] == run.session_id().unwrap();
    let sessions = stage.sessions();
    let sessions: Vec<_> = sessions.iter().filter(ours).collect();
    assert!(sessions.len() >= 2, "{sessions:#?}");
    for pair in sessions.windows(2) {
        assert_eq!(pair[1]["prev_session_id"], pair[0]["id"]);
        assert_eq!(pair[0]["end_reason"], "compact");
        assert_eq!((&pair[0]["conversation"], &pair[0]["agent"]), (&pair[1]["conversation"], &pair[1]["agent"]));
    }
    assert_stored_as_heard(&stage);
    assert_quiet_but_for(&stage, 0);
}

#[test]
fn i1_uninstall_restores_the_settings_byte_for_byte_after_real_work() {
    let stage = RecordedClient::new();
    assert_ne!(stage.settings(), SETTINGS);
    let run = ClientLaunch::new(&stage.sandbox, Script::new().main(Turn::bash("ls")).main(Turn::say("done")))
        .run(&stage.client)
        .unwrap();
    assert_went_well(&run);
    stage.unwitnessed();
    let gone = stage.sandbox.at_terminal(&["uninstall"], "y\n", &[]).unwrap();
    assert!(gone.status.success(), "{}", String::from_utf8_lossy(&gone.stderr));
    assert_eq!(stage.settings(), SETTINGS);
}
