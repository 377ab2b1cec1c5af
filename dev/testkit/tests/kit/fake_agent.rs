//! The agent that is only its hooks.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use testkit::{AgentStep, FakeAgent, FakeTool, HookCall};

const DENY: &str = r#"case "$(cat)" in *'"PreToolUse"'*rm\ -rf*)
 echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}';; esac"#;

fn events(calls: &[HookCall]) -> Vec<&str> {
    calls.iter().map(|call| call.event.as_str()).collect()
}

fn payload(call: &HookCall) -> Value {
    serde_json::from_slice(&call.payload).unwrap()
}

#[test]
fn a_session_goes_through_the_hook_in_the_order_of_the_real_client() {
    let sandbox = crate::sandbox();
    let mut agent = FakeAgent::new(&sandbox).with_hook(&crate::shell_hook("cat"));
    let steps =
        [AgentStep::start(), AgentStep::prompt("hello"), AgentStep::bash("ls"), AgentStep::stop(), AgentStep::end()];
    let calls = agent.play(&steps).unwrap();
    let expected =
        ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolBatch", "Stop", "SessionEnd"];
    assert_eq!(events(&calls), expected);
    for call in &calls {
        assert_eq!(call.finished.stdout, call.payload, "{}", call.event);
        assert_eq!(payload(call)["session_id"], agent.session_id());
        assert_eq!(payload(call)["cwd"], sandbox.project().to_str().unwrap());
    }
    assert_eq!(payload(&calls[2])["tool_use_id"], payload(&calls[3])["tool_use_id"]);
    assert_eq!(payload(&calls[0])["prompt_id"], Value::Null);
    assert_eq!(payload(&calls[1])["prompt_id"], payload(&calls[5])["prompt_id"]);
}

#[test]
fn a_denied_tool_is_not_run_and_its_neighbour_is() {
    let sandbox = crate::sandbox();
    let mut agent = FakeAgent::new(&sandbox).with_hook(&crate::shell_hook(DENY));
    let tools = vec![FakeTool::bash("rm -rf /"), FakeTool::bash("ls").failing_with("exit 1")];
    let calls = agent.play(&[AgentStep::Tools(tools)]).unwrap();
    assert_eq!(events(&calls), ["PreToolUse", "PreToolUse", "PostToolUseFailure", "PostToolBatch"]);
    assert!(calls[0].denies() && !calls[1].denies());
    assert!(calls[1].is_silent());
}

#[test]
fn parallel_tools_have_ids_of_their_own() {
    let sandbox = crate::sandbox();
    let mut agent = FakeAgent::new(&sandbox).with_hook(&crate::shell_hook("cat >/dev/null"));
    let tools = (0..8).map(|n| FakeTool::bash(&format!("echo {n}"))).collect();
    let calls = agent.play(&[AgentStep::Tools(tools)]).unwrap();
    let before = calls.iter().filter(|call| call.event == "PreToolUse");
    let ids: BTreeSet<_> = before.map(|call| payload(call)["tool_use_id"].to_string()).collect();
    assert_eq!(ids.len(), 8);
}

#[test]
fn clear_ends_the_old_session_and_starts_another() {
    let sandbox = crate::sandbox();
    let mut agent = FakeAgent::new(&sandbox).with_hook(&crate::shell_hook("cat >/dev/null"));
    let old = agent.session_id().to_owned();
    let calls = agent.play(&[AgentStep::Clear]).unwrap();
    assert_eq!(events(&calls), ["SessionEnd", "SessionStart"]);
    assert_eq!(payload(&calls[0])["session_id"], old.as_str());
    assert_eq!(payload(&calls[1])["session_id"], agent.session_id());
    assert_ne!(agent.session_id(), old);
}

#[test]
fn a_compaction_is_told_in_the_clients_order_unless_it_is_blocked() {
    let sandbox = crate::sandbox();
    let auto = [AgentStep::Compact { trigger: "auto" }];
    let mut agent = FakeAgent::new(&sandbox).with_hook(&crate::shell_hook("cat >/dev/null"));
    let calls = agent.play(&auto).unwrap();
    assert_eq!(events(&calls), ["PreCompact", "SubagentStop", "SessionStart", "PostCompact"]);
    let mut agent = agent.with_hook(&crate::shell_hook("echo '{\"decision\":\"block\"}'"));
    assert_eq!(events(&agent.play(&auto).unwrap()), ["PreCompact"]);
}

#[test]
fn a_template_is_filled_in_and_the_hook_sees_the_clients_variables() {
    let sandbox = crate::sandbox();
    let hook = crate::shell_hook("cat; echo \"$CLAUDECODE $CLAUDE_PROJECT_DIR $TAUT_AGENT_ID\"");
    let mut agent = FakeAgent::new(&sandbox).with_hook(&hook).with_session("s-1").with_env("TAUT_AGENT_ID", "a");
    let template = json!({"hook_event_name": "CwdChanged", "session_id": "{session_id}", "new_cwd": ["{cwd}/x"]});
    let calls = agent.play(&[AgentStep::Template(template)]).unwrap();
    let project = sandbox.project().display().to_string();
    let filled = json!({"hook_event_name": "CwdChanged", "session_id": "s-1", "new_cwd": [format!("{project}/x")]});
    assert_eq!(calls[0].finished.stdout_text(), format!("{filled}1 {project} a\n"));
}

#[test]
fn bytes_that_are_no_json_are_sent_as_they_are() {
    let sandbox = crate::sandbox();
    let agent = FakeAgent::new(&sandbox).with_hook(&crate::shell_hook("cat; exit 2"));
    let call = agent.send("PreToolUse", vec![0xff, 0x00, b'{']).unwrap();
    assert_eq!(call.finished.stdout, [0xff, 0x00, b'{']);
    assert!(call.denies());
}
