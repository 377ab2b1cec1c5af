//! What agents are called: given once, shown everywhere, typed as people can type it, changed by a person only.

use model::Ms;
use model::agent_name::NameWish;
use model::effect::Write;
use model::row::{Agent, AgentStatus};
use serde_json::{Value, json};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use store::{Durability, Store};
use testkit::is_missing;
use testkit::stage::{Stage, assert_denied, person, person_succeeds};

/// Two agents that nothing names, in two panes of one project, and one that its environment names.
struct Scene {
    stage: Stage,
    clients: Vec<Child>,
    /// What the project's folder is called.
    folder: String,
}

impl Scene {
    fn new() -> Self {
        let stage = Stage::installed().with_env("TAUT_NO_DAEMON", "1");
        let folder = stage.sandbox.project().file_name().unwrap().to_string_lossy().into_owned();
        let client = || Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let scene = Self { stage, clients: vec![client(), client(), client()], folder };
        for nth in 0..2 {
            scene.hook(nth, &json!({"hook_event_name": "SessionStart", "source": "startup"}));
            scene.hook(nth, &json!({"hook_event_name": "UserPromptSubmit", "prompt": format!("task {nth}")}));
        }
        scene
    }

    fn hook(&self, nth: usize, fields: &Value) -> testkit::Finished {
        let mut fields = fields.clone();
        fields["session_id"] = json!(format!("0000000{nth}-0000-4000-8000-000000000000"));
        let (pid, pane) = (self.clients[nth].id().to_string(), format!("%{nth}"));
        let mut env =
            vec![("CLAUDE_PID", pid.as_str()), ("TMUX", "/tmp/tmux-0/made-up,1,0"), ("TMUX_PANE", pane.as_str())];
        if nth == 2 {
            env.push(("TAUT_AGENT_ID", "worker-1"));
        }
        self.stage.hook(&self.stage.payload(&fields), &env)
    }

    fn agents(&self) -> Vec<Value> {
        let mut rows = self.stage.list(&["agents", "--json"]);
        rows.sort_by_key(|row| row["name"].to_string());
        rows
    }

    fn id(&self, nth: usize) -> String {
        let pane = format!("/tmp/tmux-0/made-up %{nth}");
        let row = self.agents().into_iter().find(|row| row["pane"] == json!(pane));
        row.unwrap()["id"].as_str().unwrap().to_string()
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        for client in &mut self.clients {
            let _ = client.kill();
            let _ = client.wait();
        }
    }
}

#[test]
fn f4_every_list_shows_the_name_and_its_json_keeps_the_id_beside_it() {
    let scene = Scene::new();
    let (first, second) = (scene.folder.clone(), format!("{}·2", scene.folder));
    let rows = scene.agents();
    assert_eq!(rows.iter().map(|row| row["name"].clone()).collect::<Vec<_>>(), [json!(first), json!(second)]);
    assert_eq!((&rows[0]["place"], &rows[1]["place"]), (&json!("%0"), &json!("%1")));
    let id = rows[1]["id"].as_str().unwrap();
    assert!(id.starts_with(&format!("{}-", scene.folder)) && id != second, "{id}");
    for list in [&["agents"][..], &["sessions"], &["events"], &["top", "--once"], &["stats", "--by", "agent"]] {
        let shown = scene.stage.succeed(list);
        assert!(shown.contains(&second) && !shown.contains(id), "{list:?}: {shown}");
    }
    assert!(scene.stage.succeed(&["agents"]).contains("%1"));
    for list in [&["sessions", "--json"][..], &["events", "--json"]] {
        let of_second: Vec<Value> =
            scene.stage.list(list).into_iter().filter(|row| row["agent_name"] == json!(second)).collect();
        assert!(!of_second.is_empty() && of_second.iter().all(|row| row["agent"] == json!(id)), "{list:?}");
    }
    let stats: Value = serde_json::from_str(&scene.stage.succeed(&["stats", "--json"])).unwrap();
    let agents = stats["agents"].as_array().unwrap();
    assert!(agents.iter().any(|row| row["name"] == json!(id) && row["agent_name"] == json!(second)), "{stats:#}");
    assert!(scene.stage.succeed(&["events", "--csv"]).lines().any(|line| line.ends_with(&format!(",{second}"))));
}

#[test]
fn f4_every_command_finds_an_agent_by_its_name_its_id_or_a_beginning() {
    let scene = Scene::new();
    let (folder, id) = (&scene.folder, scene.id(1));
    let typed = [format!("{folder}·2"), format!("{folder}.2"), format!("{folder}-2"), id.clone()];
    for typed in typed.iter().map(String::as_str).chain([&id[..id.len() - 3]]) {
        let events = scene.stage.list(&["events", "--json", "--agent", typed]);
        assert!(!events.is_empty() && events.iter().all(|event| event["agent"] == json!(id)), "{typed}");
        let sessions = scene.stage.list(&["sessions", "--json", "--agent", typed]);
        assert_eq!(sessions.len(), 1, "{typed}");
        let shown = scene.stage.succeed(&["sessions", "show", typed, "--json"]);
        assert!(shown.contains(&format!("\"agent\":\"{id}\"")), "{typed}: {shown}");
        let sent = scene.stage.succeed(&["send", typed, "hello"]);
        assert!(sent.contains(&format!("sent to agent {folder}·2")), "{typed}: {sent}");
        let waits = scene.stage.list(&["inbox", "--agent", typed, "--json"]);
        assert!(
            waits.iter().all(|one| one["to"] == json!(id) && one["to_name"] == json!(format!("{folder}·2"))),
            "{waits:?}"
        );
        let seen = scene.stage.succeed(&["agent", "focus", typed, "--json"]);
        assert!(seen.contains(&format!("\"id\":\"{id}\"")), "{typed}: {seen}");
    }
    assert_eq!(scene.stage.list(&["inbox", "--agent", &id, "--json"]).len(), 5, "all of it was for one agent");
    let unknown = scene.stage.taut(&["agent", "focus", &format!("{folder}·3")]);
    assert_eq!(unknown.code(), Some(2), "{}", unknown.stderr_text());
    assert!(unknown.stderr_text().contains("nearest: `"), "{}", unknown.stderr_text());
    let several = scene.stage.taut(&["agent", "focus", &folder[..folder.len() - 1]]);
    assert_eq!(several.code(), Some(2), "{}", several.stderr_text());
    assert!(several.stderr_text().contains(&format!("`{folder}`, `{folder}·2`")), "{}", several.stderr_text());
    let said = scene.stage.taut(&["send", &folder[..folder.len() - 1], "hello"]);
    assert!(said.stderr_text().contains("may be any of"), "{}", said.stderr_text());
    let offered = scene.stage.succeed(&["complete", "--", "taut", "send", ""]);
    assert!(offered.contains(&format!("{folder}.2")), "{offered}");
}

/// Agents as they are stored, without clients: beside a client that cannot be seen from its sandbox nobody is a person.
fn stored_fleet() -> Stage {
    let stage = Stage::installed().with_env("TAUT_NO_DAEMON", "1");
    let row = |id: &str, named: bool| Agent {
        id: id.into(),
        named,
        status: AgentStatus::Working,
        dialect: None,
        session: Some(format!("session-of-{id}")),
        project: "/home/ada/acme".into(),
        since: Ms(1),
    };
    let wish = |id: &str| NameWish { agent: id.into(), project: "/home/ada/acme".into(), at: Ms(1) };
    let mut store = Store::open_and_migrate(&stage.sandbox.taut_home(), Duration::from_secs(5)).unwrap();
    let writes = [
        Write::Agent(row("acme-2345678", false)),
        Write::AgentName(wish("acme-2345678")),
        Write::Agent(row("acme-bcdefgh", false)),
        Write::AgentName(wish("acme-bcdefgh")),
        Write::Agent(row("worker-1", true)),
    ];
    store.transact(Durability::Full, |tx| tx.apply(&writes)).unwrap();
    drop(store);
    stage
}

#[test]
fn f4_a_person_names_an_agent_and_takes_it_back() {
    if is_missing("script") {
        return;
    }
    let stage = stored_fleet();
    let said = person_succeeds(&stage, &["agent", "name", "acme.2", "reviewer"], "");
    assert!(said.contains("acme·2 is called reviewer from now on"), "{said}");
    let called = |id: &str| {
        let row = stage.list(&["agents", "--json"]).into_iter().find(|row| row["id"] == json!(id));
        row.unwrap()["name"].as_str().unwrap().to_string()
    };
    assert_eq!(called("acme-bcdefgh"), "reviewer");
    assert!(stage.succeed(&["agent", "focus", "review", "--json"]).contains("\"id\":\"acme-bcdefgh\""));
    let long = "x".repeat(33);
    for (agent, name, why) in [
        ("acme", "Reviewer", "another agent is called"),
        ("acme", "worker-1", "another agent is called"),
        ("acme", "two words", "letters, digits"),
        ("acme", "a\u{1b}[31mb", "letters, digits"),
        ("acme", "a\u{202e}b", "letters, digits"),
        ("acme", long.as_str(), "1 to 32"),
        ("worker-1", "boss", "named by its environment"),
        ("nobody-at-all", "x", "there is no agent"),
    ] {
        let (code, said) = person(&stage, &["agent", "name", agent, name], "");
        assert_ne!(code, Some(0), "{name:?}: {said}");
        assert!(said.contains(why) && !said.contains("\u{1b}[31mb") && !said.contains('\u{202e}'), "{name:?}: {said}");
    }
    assert_eq!((called("acme-2345678"), called("worker-1")), ("acme".into(), "worker-1".into()));
    let said = person_succeeds(&stage, &["agent", "name", "reviewer", "--forget", "--json"], "");
    let told: Value = serde_json::from_str(said.trim()).unwrap();
    assert_eq!(told, json!({"id": "acme-bcdefgh", "name": "acme·2", "before": "reviewer"}));
}

#[test]
fn g8_f4_no_agent_names_itself_or_another() {
    let scene = Scene::new();
    let call = json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "t1",
        "tool_input": {"command": format!("taut agent name {}.2 your-user", scene.folder)}});
    assert_denied(&scene.hook(0, &call), "an agent's own call");
    let process = scene.stage.taut(&["agent", "name", &scene.folder, "your-user"]);
    assert_ne!(process.code(), Some(0), "no terminal, no person: {}", process.stdout_text());
    assert!(scene.agents().iter().all(|row| row["name"] != "your-user"));
}

#[test]
fn f4_a_folder_made_to_harm_gives_a_name_that_does_not() {
    let scene = Scene::new();
    let folder = scene.stage.sandbox.root().join(format!("\u{1b}]0;owned\u{7} {}", "x".repeat(200)));
    std::fs::create_dir_all(&folder).unwrap();
    scene.hook(2, &json!({"hook_event_name": "SessionStart", "source": "startup"}));
    let pid = scene.clients[2].id().to_string();
    let payload = json!({"hook_event_name": "SessionStart", "source": "startup", "cwd": folder,
        "session_id": "00000009-0000-4000-8000-000000000000"});
    scene.stage.hook(&scene.stage.payload(&payload), &[("CLAUDE_PID", &pid), ("TMUX_PANE", "%9")]);
    let names: Vec<String> = scene.agents().iter().map(|row| row["name"].as_str().unwrap().to_string()).collect();
    let name = names.iter().find(|name| name.starts_with("0-owned")).unwrap_or_else(|| panic!("{names:?}"));
    assert_eq!(name.chars().count(), 32, "{name}");
    assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'), "{name:?}");
    assert!(scene.stage.succeed(&["agents"]).contains(name.as_str()));
}
