//! D8: `taut rpc` goes through the daemon's socket where there is a daemon, and is the same work without one.

use serde_json::{Value, json};
use testkit::stage::{IN_PROCESS, signal};
use testkit::{Stage, is_missing};

fn served(stage: &Stage) -> u64 {
    let status = stage.taut(&["daemon", "status", "--json"]);
    let status: Value = serde_json::from_str(&status.stdout_text()).unwrap();
    status["served"].as_u64().unwrap()
}

/// The result of a method, called by hand with these variables besides.
fn rpc(stage: &Stage, args: &[&str], params: &Value, env: &[(&str, &str)]) -> Value {
    let mut command = stage.command(&[&["rpc"], args].concat());
    command.envs(env.iter().copied());
    let done = testkit::process::run(command, params.to_string().as_bytes(), testkit::stage::PLENTY).unwrap();
    assert!(done.success(), "{}", done.stderr_text());
    assert_eq!(done.stderr_text(), "");
    serde_json::from_slice(&done.stdout).unwrap()
}

fn bash(id: &str, line: &str) -> Value {
    json!({"session_id": "s", "tool_name": "Bash", "tool_input": {"command": line}, "tool_use_id": id})
}

#[test]
fn d8_with_a_daemon_a_method_goes_through_its_socket_and_says_so_only_where_asked() {
    let stage = Stage::with_daemon();
    let before = served(&stage);
    let result = rpc(&stage, &["hooks.preToolUse"], &bash("t1", "rm -rf /"), &[]);
    assert_eq!(served(&stage), before + 1);
    assert_eq!((&result["allow"], result.get("via")), (&json!(false), None));
    let asked = rpc(&stage, &["hooks.preToolUse", "--json"], &bash("t2", "ls"), &[]);
    assert_eq!(asked["via"], "daemon");
    let alone = rpc(&stage, &["hooks.preToolUse", "--json"], &bash("t3", "ls"), IN_PROCESS);
    assert_eq!((&alone["via"], served(&stage)), (&json!("process"), before + 2));
}

/// D7: who calls, from where and with which variables is the same either way.
#[test]
fn d8_a_call_is_of_the_same_agent_session_and_project_with_and_without_a_daemon() {
    let stage = Stage::with_daemon();
    rpc(&stage, &["hooks.sessionStart"], &json!({"session_id": "s", "source": "startup"}), &[]);
    let env = [("CLAUDE_SESSION_ROLE", "chief"), ("TAUT_SESSION_ID", "mine")];
    let by_daemon = rpc(&stage, &["hooks.preToolUse"], &bash("t1", "git push --force"), &env);
    let alone = rpc(&stage, &["hooks.preToolUse"], &bash("t2", "git push --force"), &[&env[..], IN_PROCESS].concat());
    for field in ["allow", "sessionId", "logicalId", "verdict", "rules", "inject"] {
        let without_code = |result: &Value| result[field].to_string().split("\\n(code").next().unwrap().to_owned();
        assert_eq!(without_code(&by_daemon), without_code(&alone), "{field}");
    }
    let events = stage.events();
    let calls: Vec<_> = events.iter().filter(|event| event["event"] == "PreToolUse").collect();
    assert_eq!(calls.len(), 2);
    assert_eq!((&calls[0]["agent"], &calls[0]["session"]), (&calls[1]["agent"], &calls[1]["session"]));
    let sessions = stage.list(&["sessions", "--all", "--json"]);
    let session = sessions.iter().find(|session| session["logical_id"] == "mine").unwrap();
    let project = stage.sandbox.project().canonicalize().unwrap();
    assert_eq!((&session["role"], &session["project"]), (&json!("chief"), &json!(project)));
}

/// What the parameters say of the caller is used, and is no part of the event.
#[test]
fn d8_parameters_may_say_where_a_call_comes_from() {
    let stage = Stage::with_daemon();
    let elsewhere = stage.sandbox.home().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let params =
        json!({"sessionId": "s", "source": "startup", "cwd": elsewhere, "env": {"AGENT_ID": "ann", "SECRET": "hush"}});
    rpc(&stage, &["hooks.sessionStart"], &params, &[("AGENT_ID", "bob")]);
    let sessions = stage.list(&["sessions", "--json"]);
    assert_eq!(
        (&sessions[0]["agent"], &sessions[0]["project"]),
        (&json!("ann"), &json!(elsewhere.canonicalize().unwrap()))
    );
    let events = stage.succeed(&["events", "--json"]);
    assert!(!events.contains("hush") && !events.contains("parent_pid") && !events.contains("request_id"), "{events}");
}

#[test]
fn d8_what_is_no_method_is_refused_the_same_with_and_without_a_daemon() {
    let stage = Stage::with_daemon();
    for (method, params) in [("hooks.noSuchEvent", "{}"), ("fleet.changed", "{}"), ("hooks.preToolUse", "[1]")] {
        let before = served(&stage);
        let refused = stage.sandbox.taut(&["rpc", method], params.as_bytes()).unwrap();
        assert_eq!((refused.code(), refused.stdout_text().as_str()), (Some(2), ""), "{method}");
        assert!(refused.stderr_text().contains("\nhint: "), "{}", refused.stderr_text());
        assert_eq!(served(&stage), before, "nobody was asked for {method}");
    }
}

/// D7: a daemon that does not answer costs a moment, and the call is stored once even if it wakes up.
#[test]
fn d8_a_daemon_that_is_stuck_is_done_without_and_the_call_counts_once() {
    let stage = Stage::with_daemon();
    let status: Value = serde_json::from_str(&stage.succeed(&["daemon", "status", "--json"])).unwrap();
    let pid = i32::try_from(status["pid"].as_u64().unwrap()).unwrap();
    signal(pid, libc::SIGSTOP).unwrap();
    let result = rpc(&stage, &["hooks.userPrompt", "--json"], &json!({"session_id": "s", "prompt": "go"}), &[]);
    signal(pid, libc::SIGCONT).unwrap();
    assert_eq!(result["via"], "process");
    // Its answer to this comes after whatever it had still to do.
    rpc(&stage, &["hooks.notification"], &json!({"session_id": "s"}), &[]);
    let prompts = stage.events().iter().filter(|event| event["event"] == "UserPromptSubmit").count();
    assert_eq!(prompts, 1);
}

/// The program that the page shows speaks to a real daemon as it stands there.
#[test]
fn d8_the_program_on_the_page_about_the_socket_runs_as_it_stands() {
    if is_missing("python3") {
        return;
    }
    let page = include_str!("../../../../docs/socket.md");
    let program = page.split("```python\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let stage = Stage::with_daemon();
    let mut command = stage.sandbox.command("python3");
    command.args(["-c", program]);
    let done = testkit::process::run(command, b"", testkit::stage::PLENTY).unwrap();
    assert!(done.success(), "{}", done.stderr_text());
    let shown = page.split("```text\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    assert_eq!(done.stdout_text(), shown, "what the page says it prints");
}
