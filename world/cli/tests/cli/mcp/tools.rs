//! Each tool does what the command of the agent does, and refuses what that refuses.

use super::McpClient;
use serde_json::{Value, json};
use testkit::stage::{Stage, assert_denied, assert_silent};

const ANN: &[(&str, &str)] = &[("TAUT_AGENT_ID", "ann")];
const BOB: &[(&str, &str)] = &[("TAUT_AGENT_ID", "bob")];

#[test]
fn m5_a_task_is_claimed_renewed_failed_and_done_as_the_agent_that_asks() {
    let stage = Stage::without_daemon();
    stage.tasks(&["a", "b"]);
    let mut ann = McpClient::start(&stage, ANN);
    assert!(ann.done("tasks_list", json!({})).contains("do b"));
    let claimed = ann.done("tasks_claim", json!({"id": "b", "lease": 60}));
    assert!(claimed.starts_with("## Task b") && claimed.contains("\ntoken: "), "{claimed}");
    assert_eq!(stage.show("b")["assignee"], "ann");
    assert_eq!(ann.done("tasks_renew", json!({"id": "b"})), "renewed b");
    assert_eq!(ann.done("tasks_done", json!({"id": "b", "result": {"commit": "c0ffee"}})), "done b");
    assert_eq!(stage.show("b")["result"]["commit"], "c0ffee");
    assert!(ann.done("tasks_claim", json!({})).starts_with("## Task a"));
    assert_eq!(ann.done("tasks_fail", json!({"id": "a", "reason": "--agent=bob"})), "failed a");
    assert_eq!(stage.show("a")["fail_reason"], "--agent=bob");
    let nothing = ann.fails("tasks_claim", json!({"id": "b"}));
    assert!(nothing.starts_with("error: ") && nothing.contains("hint: taut task "), "{nothing}");
}

#[test]
fn m5_what_another_agent_holds_is_not_this_ones_to_end_unless_it_was_handed_the_token() {
    let stage = Stage::without_daemon();
    stage.tasks(&["a"]);
    let token = stage.claim("ann")["token"].as_str().unwrap().to_owned();
    let mut bob = McpClient::start(&stage, BOB);
    // Nobody that Taut knows is no person either.
    let mut nobody = McpClient::start(&stage, &[]);
    for client in [&mut bob, &mut nobody] {
        for (tool, arguments) in [
            ("tasks_done", json!({"id": "a"})),
            ("tasks_fail", json!({"id": "a", "reason": "x"})),
            ("tasks_renew", json!({"id": "a"})),
            ("tasks_claim", json!({"id": "a"})),
        ] {
            let why = client.fails(tool, arguments);
            assert!(why.contains("ann") && why.contains("hint: taut task "), "{tool}: {why}");
        }
    }
    assert_eq!((&stage.show("a")["assignee"], &stage.show("a")["attempt"]), (&json!("ann"), &json!(1)));
    assert_eq!(bob.done("tasks_done", json!({"id": "a", "token": token})), "done a");
}

#[test]
fn m5_what_is_sent_is_read_once_by_whom_it_is_for() {
    let stage = Stage::without_daemon();
    let (mut ann, mut bob) = (McpClient::start(&stage, ANN), McpClient::start(&stage, BOB));
    ann.session("ann-1", "go", ANN);
    bob.session("bob-1", "go", BOB);
    let text = "--help\nthe key is ghp_0123456789abcdefghijABCDEFGHIJ012345 \u{1b}[31mred";
    assert!(ann.done("send", json!({"to": "bob", "text": text})).starts_with("sent to agent bob"));
    assert!(ann.done("inbox", json!({})).starts_with("nothing waits for ann"));
    let read = bob.done("inbox", json!({}));
    assert!(read.contains("ann → agent bob") && read.contains("--help") && read.contains("red"), "{read}");
    assert!(!read.contains("ghp_0123456789") && !read.contains('\u{1b}'), "{read}");
    assert!(bob.done("inbox", json!({})).starts_with("nothing waits for bob"), "told by being read");
    let agents = bob.done("agents", json!({}));
    assert!(agents.contains("ann") && agents.contains("bob"), "{agents}");
}

#[test]
fn m5_a_note_goes_into_the_log_of_the_effort_and_without_one_says_what_to_do() {
    let stage = Stage::without_daemon();
    stage.configure("[skills.implement]\nphases = [\"1: Plan\"]\nlog = true\n");
    let mut ann = McpClient::start(&stage, ANN);
    ann.session("ann-1", "go", ANN);
    assert_eq!(ann.done("note", json!({"text": "early"})), "noted; no effort is active, so there is no log file");
    let call = json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "1",
        "tool_input": {"command": "taut session activate implement"}});
    ann.hook("ann-1", call, ANN);
    let said = ann.done("note", json!({"text": "--json laid\na stone"}));
    let path = said.strip_prefix("logged to ").unwrap_or_else(|| panic!("{said}"));
    let path = path.split_whitespace().next().unwrap().trim_end_matches(['.', ',', ';']);
    let log = std::fs::read_to_string(path).unwrap();
    assert!(log.contains("--json laid\na stone"), "{log}");
}

#[test]
fn m5_a_timeline_is_of_this_session_agent_or_project_and_bounded() {
    let stage = Stage::without_daemon();
    let (mut ann, bob) = (McpClient::start(&stage, ANN), McpClient::start(&stage, BOB));
    bob.session("bob-1", "a prompt of bob's", BOB);
    ann.session("ann-1", "the first prompt", ANN);
    ann.hook("ann-1", json!({"hook_event_name": "SessionEnd", "reason": "clear"}), ANN);
    ann.session("ann-2", "the second prompt", ANN);
    let session = ann.done("timeline", json!({}));
    assert!(session.contains("the second prompt") && !session.contains("the first prompt"), "{session}");
    let agent = ann.done("timeline", json!({"of": "agent"}));
    assert!(agent.contains("the first prompt") && !agent.contains("bob"), "{agent}");
    assert!(ann.done("timeline", json!({"of": "project"})).contains("a prompt of bob's"));
    assert_eq!(ann.done("timeline", json!({"of": "project", "limit": 1})).lines().count(), 1);
    for turn in 0..90 {
        ann.hook(
            "ann-2",
            json!({"hook_event_name": "UserPromptSubmit", "prompt": format!("{turn} {}", "x".repeat(60))}),
            ANN,
        );
    }
    let long = ann.done("timeline", json!({"limit": 100}));
    assert!(long.chars().count() <= 4_000 && long.contains("cut here"), "{long}");
}

#[test]
fn m5_a_command_is_explained_and_not_run() {
    let stage = Stage::without_daemon();
    let mut client = McpClient::start(&stage, &[]);
    let said = client.done("explain_command", json!({"command": "touch made && rm -rf ~"}));
    assert!(said.contains("→ denied") && said.contains("[rm-root]"), "{said}");
    assert!(!stage.path("made").exists());
    assert!(client.done("explain_command", json!({"command": "--version"})).contains("→ passes"));
}

#[test]
fn m5_a_fact_is_noted_and_taken_back_as_the_agent_may() {
    let stage = Stage::without_daemon();
    let mut ann = McpClient::start(&stage, ANN);
    ann.session("ann-1", "go", ANN);
    ann.done("remember", json!({"text": "--global the tests need a running database"}));
    let facts = stage.succeed(&["facts"]);
    assert!(facts.contains("--global the tests need a running database") && facts.contains("ann"), "{facts}");
    assert!(!stage.sandbox.taut_home().join("memory.md").exists(), "what is for all projects is for people to say");
    assert!(ann.fails("forget", json!({"what": "no such fact"})).contains("taut facts"));
    ann.done("forget", json!({"what": "running database"}));
    assert!(!stage.succeed(&["facts"]).contains("running database"));
}

/// A call of a tool as the client tells the hook of it.
fn asked(tool: &str, input: Value, server: Value) -> Value {
    json!({"hook_event_name": "PreToolUse", "tool_name": format!("mcp__taut__{tool}"), "tool_input": input,
        "tool_use_id": tool, "mcp_server": server})
}

#[test]
fn m5_the_guard_knows_a_question_about_a_command_from_a_command_by_whose_server_it_is() {
    let stage = Stage::without_daemon();
    let client = McpClient::start(&stage, &[]);
    // Each is a call of its own: one that was answered before is answered the same.
    let question = |server: Value| {
        let mut call = asked("explain_command", json!({"command": "rm -rf ~"}), server);
        call["tool_use_id"] = call["mcp_server"].to_string().into();
        client.hook("s", call, &[])
    };
    assert_silent(&question(json!({"name": "taut", "source": "user"})), "our own");
    for server in [
        Value::Null,
        json!({"name": "taut", "source": "project"}),
        json!({"name": "taut", "source": "local"}),
        json!({"name": "taut"}),
        json!({"name": "other", "source": "user"}),
        json!("taut"),
    ] {
        assert_denied(&question(server.clone()), &server.to_string());
    }
    let other = asked("run", json!({"command": "rm -rf ~"}), json!({"name": "taut", "source": "user"}));
    assert_denied(&client.hook("s", other, &[]), "no tool of ours");
}

#[test]
fn m5_a_note_is_a_way_out_of_the_heartbeats_gate_as_its_command_is() {
    let stage = Stage::without_daemon();
    stage.configure("[skills.implement]\nphases = [\"1: Plan\"]\nlog = true\nheartbeat = { warn = 1, block = 2 }\n");
    let mut ann = McpClient::start(&stage, ANN);
    ann.session("ann-1", "go", ANN);
    let bash = |id: &str, command: &str| json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": id, "tool_input": {"command": command}});
    ann.hook("ann-1", bash("1", "taut session activate implement"), ANN);
    ann.hook("ann-1", bash("phase", "taut effort phase '1: Plan'"), ANN);
    ann.hook("ann-1", bash("2", "true"), ANN);
    assert_denied(&ann.hook("ann-1", bash("3", "true"), ANN), "the gate is closed");
    let note = asked("note", json!({"text": "a stone"}), json!({"name": "taut", "source": "user"}));
    assert_silent(&ann.hook("ann-1", note, ANN), "the way out");
    ann.done("note", json!({"text": "a stone"}));
    assert!(!ann.hook("ann-1", bash("4", "true"), ANN).stdout_text().contains("\"deny\""), "and it is open");
}

#[test]
fn m5_what_was_said_in_this_project_is_recalled_and_nothing_of_another() {
    let stage = Stage::without_daemon();
    let elsewhere = stage.sandbox.root().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let mut ann = McpClient::start(&stage, ANN);
    ann.session("ann-1", "why does the login form reject umlauts", ANN);
    let other =
        json!({"hook_event_name": "UserPromptSubmit", "prompt": "login secrets of another project", "cwd": elsewhere});
    ann.hook("bob-1", other, BOB);
    let found = ann.done("recall", json!({"words": "umlauts login", "kind": "prompt", "since": "2d"}));
    assert!(found.contains("reject umlauts"), "{found}");
    let found = ann.done("recall", json!({"words": "login"}));
    assert!(found.contains("umlauts") && !found.contains("another project"), "{found}");
    assert!(!ann.call("recall", json!({"words": "--all login"})).text.contains("another project"));
    assert!(ann.fails("recall", json!({"words": "login", "kind": "rumour"})).contains("prompt"));
    assert!(!ann.call("recall", json!({"words": "\"unbalanced AND (NEAR"})).failed);
}

#[test]
fn f9_an_agent_writes_to_one_of_another_machine_by_its_tool() {
    let stage = Stage::without_daemon();
    let mut ann = McpClient::start(&stage, ANN);
    ann.session("ann-1", "go", ANN);
    let told = store::RemoteAgentRow { name: "api".into(), status: "working".into(), ..Default::default() };
    let (machine, label, agent) = ("m3".into(), "vm-3".into(), "id-api".into());
    let remote = store::RemoteAgent { machine, label, agent, told, heard_at: host::clock::now() };
    let open = || store::Store::open_and_migrate(&stage.sandbox.taut_home(), testkit::stage::LIMIT).unwrap();
    open().put_remote_agents("srv", &[remote]).unwrap();
    let said = ann.done("send", json!({"to": "api@vm-3", "text": "rebase"}));
    assert!(said.starts_with("sent to api@vm-3 on another machine"), "{said}");
    let sent = open().outgoing_messages("srv", 9).unwrap();
    assert_eq!((sent.len(), sent[0].from_agent.as_deref(), sent[0].kind.as_str()), (1, Some("ann"), "note"));
    let listed = ann.done("agents", json!({}));
    assert!(listed.contains("vm-3") && listed.contains("api"), "{listed}");
}
