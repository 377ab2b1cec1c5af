//! Claude Code, Codex and Gemini at work in one folder at the same time.

use std::path::Path;
use std::thread;

use serde_json::{Value, json};
use testkit::real_client::agent::{CODEX, GEMINI};
use testkit::{AgentLaunch, ClientLaunch, Ending, RealClient, Requests, Script, Turn, skipped};

use crate::home::AgentHome;

const NAMES: [&str; 3] = ["claude-code", "codex", "gemini"];

/// Takes a task, waits until the others have one too, writes to the next of them, and waits for the others' words.
fn work(taut: &Path, nth: usize) -> String {
    // A login shell, as one of them starts, has a search path of its own.
    let taut = taut.display();
    let (name, next) = (NAMES[nth], NAMES[(nth + 1) % NAMES.len()]);
    let there = |what: &str| NAMES.map(|name| format!("-e {what}-{name}")).join(" -a ");
    let until = |what: &str| format!("while ! [ {} ]; do sleep 0.1; done", there(what));
    format!(
        "{taut} task claim > claim-{name}.json 2>&1; touch here-{name}; {}; {taut} agents --json > fleet-{name}.json; \
         {taut} send {next} 'stones from {name}'; touch sent-{name}; {}",
        until("here"),
        until("sent")
    )
}

fn plays(tool: &str, input: Value) -> Script {
    Script::new().main(Turn::call(tool, input)).main(Turn::say("done"))
}

fn read(project: &Path, name: &str) -> String {
    std::fs::read_to_string(project.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn a4_three_real_agents_share_a_queue_write_to_each_other_and_are_three() {
    let Some(home) = AgentHome::of(&CODEX) else { return };
    let claude = match RealClient::installed() {
        Ok(claude) => claude,
        Err(cause) => return skipped(&cause.to_string()),
    };
    if let Err(cause) = RealClient::of(GEMINI.client) {
        return skipped(&cause.to_string());
    }
    GEMINI.settle(&home.stage.sandbox).unwrap();
    for agent in NAMES {
        home.taut(&["init", "--agent", agent, "--yes"]);
    }
    home.stage.tasks(&["one", "two", "three"]);
    let sandbox = &home.stage.sandbox;
    let taut = sandbox.bin();
    let driven = |agent, name: &str, script| AgentLaunch::new(sandbox, agent, script).env("TAUT_AGENT_ID", name);
    let codex = driven(&CODEX, "codex", plays("exec_command", json!({"cmd": work(taut, 1), "yield_time_ms": 60_000})));
    let gemini =
        driven(&GEMINI, "gemini", plays("run_shell_command", json!({"command": work(taut, 2), "description": "x"})));
    // Nothing runs after its calls: once that is seen, it is told of messages before the next one. It is seen in the
    // transcript, which the client writes a moment later, and a model that answers at once has asked again by then.
    let bash = |command: &str| Turn::call("Bash", json!({"command": command, "description": "x"}));
    let written = "until grep -qrs tool_result ~/.claude/projects; do sleep 0.1; done";
    let script =
        [&work(taut, 0), written, "ls", "ls -a"].iter().fold(Script::new(), |script, line| script.main(bash(line)));
    let script = script.main(Turn::say("done"));
    let claudes = ClientLaunch::new(sandbox, script).env("TAUT_AGENT_ID", "claude-code");
    let sent: Vec<String> = thread::scope(|scope| {
        let told = |ending: Ending, requests: Requests, said: String| {
            assert_eq!(ending, Ending::Code(0), "{said}");
            requests.all_text_sent()
        };
        let first = scope.spawn(|| claudes.run(&claude).unwrap());
        let others = [&codex, &gemini].map(|launch| scope.spawn(|| launch.run().unwrap()));
        let run = first.join().unwrap();
        let mut all = vec![told(run.ending, run.requests, run.stderr)];
        for other in others {
            let run = other.join().unwrap();
            all.push(told(run.ending, run.requests, run.stderr));
        }
        all
    });
    let project = home.project();
    let claimed = |name: &&str| {
        let said = read(&project, &format!("claim-{name}.json"));
        serde_json::from_str::<Value>(&said).unwrap_or_else(|error| panic!("{name}: {error}: {said}"))["id"].take()
    };
    let mut had: Vec<Value> = NAMES.iter().map(claimed).collect();
    had.sort_by_key(ToString::to_string);
    assert_eq!(had, [json!("one"), json!("three"), json!("two")], "each has a task, and nobody another's");
    for (nth, name) in NAMES.iter().enumerate() {
        let fleet: Vec<Value> = read(&project, &format!("fleet-{name}.json"))
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        for other in NAMES {
            let row = fleet.iter().find(|row| row["id"] == other).unwrap_or_else(|| panic!("no {other} in {fleet:#?}"));
            assert_eq!((&row["client"], &row["status"]), (&json!(other), &json!("working")));
        }
        let before = NAMES[(nth + 2) % NAMES.len()];
        assert!(sent[nth].contains(&format!("stones from {before}")), "{name} was not told: {}", sent[nth]);
        for other in NAMES.iter().filter(|other| **other != before && *other != name) {
            assert!(!sent[nth].contains(&format!("stones from {other}")), "{name} was told what is not for it");
        }
    }
    let sessions = home.stage.list(&["sessions", "--all", "--json"]);
    let own: Vec<&Value> = sessions.iter().filter(|row| NAMES.iter().any(|name| row["agent"] == *name)).collect();
    assert_eq!(own.len(), 3, "{sessions:#?}");
    assert!(own.iter().all(|row| row.get("prev_session_id").is_none() && row["client"] == row["agent"]), "{own:#?}");
}
