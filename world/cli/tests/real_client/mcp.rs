//! The tools of `taut mcp` under the real Claude Code, registered by `taut init --mcp` and called by the scripted model.

use serde_json::{Value, json};
use std::time::Duration;
use testkit::{ClientLaunch, RealClient, RequestKind, Sandbox, Script, Stage, Terminal, Turn, poll};

const PLENTY: Duration = Duration::from_secs(60);

/// A home with hooks and server, where the client looks for them.
fn home() -> Stage {
    let stage = Stage::installed().with_env("TAUT_NO_DAEMON", "1");
    let mut command = stage.sandbox.command(stage.sandbox.bin());
    command.args(["init", "--mcp", "--yes"]).env("CLAUDE_CONFIG_DIR", stage.sandbox.claude_dir());
    let done = testkit::process::run(command, b"", PLENTY).unwrap();
    assert!(done.success(), "{}{}", done.stdout_text(), done.stderr_text());
    stage.tasks(&["a", "b"]);
    stage
}

fn tool(name: &str, input: Value) -> Turn {
    Turn::call(&format!("mcp__taut__{name}"), input)
}

fn launch(sandbox: &Sandbox, script: Script) -> ClientLaunch {
    ClientLaunch::new(sandbox, script).outside_tmux()
}

#[test]
fn m5_the_model_calls_the_tools_as_the_agent_that_it_is() {
    let stage = home();
    let script = Script::new()
        .main(tool("tasks_list", json!({})))
        .main(tool("tasks_claim", json!({"id": "b"})))
        .main(tool("tasks_claim", json!({"id": "nowhere"})))
        .main(tool("remember", json!({"text": "the brook is deep at the mill"})))
        .main(tool("explain_command", json!({"command": "rm -rf ~"})))
        .main(tool("timeline", json!({})))
        .main(tool("recall", json!({"words": "crossing brook", "kind": "prompt"})))
        .main(tool("tasks_done", json!({"id": "b"})))
        .main(Turn::say("done"));
    let run = launch(&stage.sandbox, script).prompt("cross the brook").run(&RealClient::installed().unwrap()).unwrap();
    assert!(run.success(), "{:?}", run.result());
    let told = run.requests.tool_results();
    for (at, part) in [
        "do a", "## Task b", "task 'nowhere' not found", "brook", "→ denied", "cross the brook", "cross the brook",
        "done b",
    ]
    .into_iter()
    .enumerate()
    {
        assert!(told.get(at).is_some_and(|told| told.contains(part)), "{part}: {told:#?}");
    }
    assert_eq!(stage.show("b")["s"], "done");
    let sessions = stage.list(&["sessions", "--all", "--json"]);
    let session = sessions.iter().find(|session| session["host_session_id"] == run.session_id().unwrap()).unwrap();
    let history = stage.task_ok("", &["history", "b", "--json"]);
    assert!(history.contains(session["agent"].as_str().unwrap()), "{history}\n{session}");
    assert!(stage.succeed(&["facts"]).contains("the brook is deep at the mill"));
}

/// A prompt, and its turn to the end.
fn turn(terminal: &Terminal, prompt: &str, answer: &str) -> String {
    terminal.submit(prompt).unwrap();
    terminal.wait_for(answer).unwrap();
    terminal.requests().of(RequestKind::Main).next_back().unwrap().tool_results().pop().unwrap_or_default()
}

#[test]
fn m5_one_server_serves_the_session_after_clear_and_two_clients_in_one_folder_never_mix() {
    let stage = home();
    let client = RealClient::installed().unwrap();
    let script = |id: &str, word: &str| {
        Script::new()
            .main(tool("tasks_claim", json!({"id": id})))
            .main(Turn::say(&format!("{word}-claimed")))
            .main(tool("timeline", json!({})))
            .main(Turn::say(&format!("{word}-told")))
    };
    let one = launch(&stage.sandbox, script("a", "lamp")).open(&client).unwrap();
    let two = launch(&stage.sandbox, script("b", "oven")).open(&client).unwrap();
    assert!(turn(&one, "Build a lighthouse", "lamp-claimed").contains("## Task a"));
    assert!(turn(&two, "Bake some bread", "oven-claimed").contains("## Task b"));
    assert_ne!(stage.show("a")["assignee"], stage.show("b")["assignee"]);
    one.submit("/clear").unwrap();
    poll::until("the session after /clear", PLENTY, || {
        let events = stage.list(&["events", "--json", "-n", "1000"]);
        events.iter().any(|event| event["detail"]["source"] == "clear").then_some(())
    })
    .unwrap();
    let told = turn(&one, "What now?", "lamp-told");
    assert!(told.contains("What now?"), "{told}");
    assert!(!told.contains("lighthouse") && !told.contains("bread"), "another session's: {told}");
    let told = turn(&two, "And the oven?", "oven-told");
    assert!(told.contains("Bake some bread") && !told.contains("What now?"), "{told}");
    one.leave().unwrap();
    two.leave().unwrap();
}
