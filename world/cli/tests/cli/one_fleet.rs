//! Claude Code, Codex and Gemini at work in one folder, each a process that runs its hooks and its commands.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use testkit::stage::Stage;

/// A shell under an agent's name: what it runs has that agent above it, and the marks that the agent gives.
struct LiveAgent {
    agent: &'static str,
    session: String,
    child: Child,
    asked: ChildStdin,
    said: BufReader<ChildStdout>,
    files: usize,
}

impl LiveAgent {
    fn start(stage: &Stage, agent: &'static str, program: &str, marks: &[(&str, &str)]) -> Self {
        let copy = stage.sandbox.root().join("bin").join(program);
        let done = stage.sandbox.command("cp").args(["-L", "/bin/sh"]).arg(&copy).status().unwrap();
        assert!(done.success(), "{}", copy.display());
        let mut child = stage
            .sandbox
            .command(copy)
            .env("TAUT_NO_DAEMON", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .current_dir(stage.sandbox.project())
            .spawn()
            .unwrap();
        let mut asked = child.stdin.take().unwrap();
        for (name, value) in marks {
            writeln!(asked, "export {name}={value}").unwrap();
        }
        let said = BufReader::new(child.stdout.take().unwrap());
        Self { agent, session: format!("session-of-{program}"), child, asked, said, files: 0 }
    }

    /// What a line prints.
    fn run(&mut self, line: &str) -> String {
        const END: &str = "-- ended --";
        writeln!(self.asked, "{line}\necho '{END}'").unwrap();
        let mut printed = String::new();
        loop {
            let mut line = String::new();
            assert!(self.said.read_line(&mut line).unwrap() > 0, "{} is gone", self.agent);
            if line.trim_end() == END {
                return printed;
            }
            printed.push_str(&line);
        }
    }

    /// What its hook answers.
    fn tell(&mut self, stage: &Stage, mut payload: Value) -> String {
        payload["session_id"] = json!(self.session);
        payload["cwd"] = json!(stage.sandbox.project());
        self.files += 1;
        let file = stage.sandbox.tmp().join(format!("{}-{}.json", self.session, self.files));
        std::fs::write(&file, payload.to_string()).unwrap();
        let taut = stage.sandbox.bin().display();
        self.run(&format!("'{taut}' hook --agent {} < '{}'", self.agent, file.display()))
    }

    fn start_session(&mut self, stage: &Stage) -> String {
        self.tell(stage, json!({"hook_event_name": "SessionStart", "source": "startup"}))
    }

    fn prompt(&mut self, stage: &Stage, text: &str) -> String {
        let event = if self.agent == "gemini" { "BeforeAgent" } else { "UserPromptSubmit" };
        self.tell(stage, json!({"hook_event_name": event, "prompt": text, "turn_id": "u"}))
    }

    fn taut(&mut self, stage: &Stage, args: &str) -> String {
        let taut = stage.sandbox.bin().display();
        self.run(&format!("'{taut}' {args} 2>&1"))
    }
}

impl Drop for LiveAgent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn three(stage: &Stage) -> Vec<LiveAgent> {
    let mut all = vec![
        LiveAgent::start(stage, "claude-code", "claude", &[("CLAUDECODE", "1"), ("CLAUDE_PID", "$$")]),
        // Started by somebody who was started by another agent: marks go on to whatever is started.
        LiveAgent::start(stage, "codex", "codex", &[("CODEX_THREAD_ID", "session-of-codex"), ("CLAUDECODE", "1")]),
        LiveAgent::start(stage, "gemini", "gemini", &[("GEMINI_CLI", "1")]),
    ];
    for (live, word) in all.iter_mut().zip(["pillar", "arch", "railing"]) {
        assert_eq!(live.start_session(stage), "");
        assert_eq!(live.prompt(stage, &format!("build the {word} of the bridge")), "");
    }
    all
}

/// The agent that is listed as this client.
fn id_of(rows: &[Value], client: &str) -> String {
    told_of(rows, client, "id")
}

fn told_of(rows: &[Value], client: &str, field: &str) -> String {
    let of = |row: &&Value| row["client"] == client;
    let row = rows.iter().find(of).unwrap_or_else(|| panic!("no {client} in {rows:?}"));
    row[field].as_str().unwrap().to_string()
}

#[test]
fn a4_three_agents_in_one_folder_are_listed_as_three_and_each_as_what_it_is() {
    let stage = Stage::without_daemon();
    let _three = three(&stage);
    let rows = stage.list(&["agents", "--json"]);
    let mut clients: Vec<&str> = rows.iter().map(|row| row["client"].as_str().unwrap()).collect();
    clients.sort_unstable();
    assert_eq!(clients, ["claude-code", "codex", "gemini"], "{rows:?}");
    let mut ids: Vec<&str> = rows.iter().map(|row| row["id"].as_str().unwrap()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 3, "{rows:?}");
    let table = stage.succeed(&["agents"]);
    assert!(table.contains("CLIENT") && table.contains("codex") && table.contains("gemini"), "{table}");
    let sessions = stage.list(&["sessions", "--json"]);
    assert!(
        sessions.iter().all(|row| row["client"].is_string() && row.get("prev_session_id").is_none()),
        "{sessions:?}"
    );
}

#[test]
fn a4_they_share_one_queue_and_nothing_in_it_is_had_twice() {
    let stage = Stage::without_daemon();
    let mut three = three(&stage);
    stage.tasks(&["one", "two"]);
    let rows = stage.list(&["agents", "--json"]);
    let claims: Vec<Value> = three
        .iter_mut()
        .map(|live| serde_json::from_str(&live.taut(&stage, "task claim")).unwrap_or_default())
        .collect();
    let mut had: Vec<&str> = claims.iter().filter_map(|claim| claim["id"].as_str()).collect();
    had.sort_unstable();
    assert_eq!(had, ["one", "two"], "{claims:?}");
    for (live, claim) in three.iter_mut().zip(&claims) {
        let Some(task) = claim["id"].as_str() else { continue };
        assert_eq!(stage.show(task)["assignee"], id_of(&rows, live.agent), "{claim}");
    }
    // Another's task is not one's own.
    let theirs = claims[1]["id"].as_str().unwrap_or_else(|| claims[0]["id"].as_str().unwrap()).to_string();
    let stranger = three.iter().position(|live| id_of(&rows, live.agent) != stage.show(&theirs)["assignee"]).unwrap();
    three[stranger].taut(&stage, &format!("task done {theirs}"));
    assert_eq!(stage.show(&theirs)["s"], "active");
    for (live, claim) in three.iter_mut().zip(&claims) {
        let Some(task) = claim["id"].as_str() else { continue };
        live.taut(&stage, &format!("task done {task}"));
        assert_eq!(stage.show(task)["s"], "done");
    }
}

#[test]
fn a4_each_writes_to_each_and_recall_finds_what_all_of_them_were_told() {
    let stage = Stage::without_daemon();
    let mut three = three(&stage);
    let rows = stage.list(&["agents", "--json"]);
    for from in 0..3 {
        for to in (0..3).filter(|to| *to != from) {
            let (word, name) = (format!("stone-{from}-{to}"), id_of(&rows, three[to].agent));
            three[from].taut(&stage, &format!("send {name} 'lay the {word}'"));
            let told = three[to].prompt(&stage, "and now?");
            let sender = format!("agent `{}`", told_of(&rows, three[from].agent, "name"));
            assert!(told.contains(&word) && told.contains(&sender), "{from} to {to}: {told}");
        }
    }
    for word in ["pillar", "arch", "railing"] {
        let found = three[1].taut(&stage, &format!("recall '{word} bridge' --json"));
        assert!(found.contains(&format!("build the {word} of the bridge")), "{word}: {found}");
    }
}
