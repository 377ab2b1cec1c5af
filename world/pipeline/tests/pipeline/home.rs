//! A throw-away home with the way open in it, and clients that send events along it.

use model::row::{Agent, Event};
use model::session::Session;
use model::{Call, Environment, Ms};
use pipeline::{Pipeline, PipelineSetup, Response};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use store::{EventFilter, SessionFilter};
use tempfile::TempDir;

/// A home, a project with a repository in it, and the way.
pub struct PipelineHome {
    root: TempDir,
    pub pipeline: Pipeline,
    now: i64,
    calls: u64,
}

/// One client process as its hooks see it: an environment, a folder and a session id.
#[derive(Clone)]
pub struct Client {
    pub env: Vec<(String, String)>,
    pub cwd: PathBuf,
    pub session: String,
    /// Which agent it is.
    pub agent: &'static str,
}

/// A process that lives until it is dropped, to stand for a client.
pub struct Living(Child);

impl PipelineHome {
    pub fn new() -> Self {
        Self::speaking(agents::ALL)
    }

    /// One that understands these agents.
    pub fn speaking(dialects: agents::Dialects) -> Self {
        let root = tempfile::tempdir().unwrap();
        for folder in ["home", "state", "acme/src", "acme/.git", "other/.git"] {
            std::fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        for repository in ["acme", "other"] {
            std::fs::write(root.path().join(repository).join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        }
        let setting = PipelineSetup {
            state: root.path().join("state"),
            home: root.path().join("home"),
            user_config: root.path().join("home/.config/taut/config.toml"),
            patience: Duration::from_secs(5),
            dialects,
        };
        Self { root, pipeline: Pipeline::new(setting), now: 1_800_000_000_000, calls: 0 }
    }

    /// A folder below the stage, with symlinks resolved as the product shows it.
    pub fn folder(&self, name: &str) -> PathBuf {
        let root = self.root.path().canonicalize().unwrap();
        if name.is_empty() { root } else { root.join(name) }
    }

    /// A client in the project whose process is the one that runs this test.
    pub fn client(&self, session: &str) -> Client {
        let (env, cwd, agent) = (Vec::new(), self.folder("acme"), agents::DEFAULT.id());
        Client { env, cwd, session: session.into(), agent }.of(std::process::id())
    }

    pub fn send(&mut self, client: &Client, event: &str, fields: Value) -> Response {
        let mut payload = json!({
            "session_id": client.session,
            "transcript_path": format!("/t/{}.jsonl", client.session),
            "cwd": client.cwd,
            "hook_event_name": event,
        });
        for (key, value) in fields.as_object().into_iter().flatten() {
            payload[key] = value.clone();
        }
        self.send_bytes(client, payload.to_string().into_bytes())
    }

    pub fn send_bytes(&mut self, client: &Client, stdin: Vec<u8>) -> Response {
        self.send_as(client.agent, client, stdin)
    }

    pub fn send_as(&mut self, agent: &str, client: &Client, stdin: Vec<u8>) -> Response {
        self.now += 10_000;
        self.calls += 1;
        let call = Call {
            request: format!("request-{}", self.calls),
            agent: agent.into(),
            stdin,
            cwd: client.cwd.to_string_lossy().into_owned(),
            env: Environment(client.env.iter().cloned().collect()),
            parent: None,
            at: Ms(self.now),
        };
        self.pipeline.handle(call)
    }

    /// The next event happens at the same moment as the last one.
    pub fn rewind(&mut self) {
        self.now -= 10_000;
    }

    /// The next event happens soon after that moment.
    pub fn move_clock(&mut self, at: i64) {
        self.now = at;
    }

    pub fn start(&mut self, client: &Client, source: &str) -> Session {
        self.send(client, "SessionStart", json!({"source": source}));
        self.current(client)
    }

    pub fn end(&mut self, client: &Client, reason: &str) {
        self.send(client, "SessionEnd", json!({"reason": reason}));
    }

    pub fn bash(&mut self, client: &Client, id: &str, command: &str) -> Response {
        let input = json!({"command": command});
        self.send(client, "PreToolUse", json!({"tool_name": "Bash", "tool_input": input, "tool_use_id": id}))
    }

    pub fn done(&mut self, client: &Client, id: &str) -> Response {
        let fields =
            json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": id, "tool_response": {}});
        self.send(client, "PostToolUse", fields)
    }

    /// The session the last event was put into.
    pub fn current(&mut self, client: &Client) -> Session {
        let event = self.events().pop().unwrap();
        let id = event.session.unwrap_or_else(|| panic!("the last event of {} has no session", client.session));
        self.session(&id)
    }

    pub fn session(&mut self, id: &str) -> Session {
        self.pipeline.store().unwrap().session(id).unwrap().unwrap()
    }

    /// All sessions, the oldest first.
    pub fn sessions(&mut self) -> Vec<Session> {
        let mut all = self.pipeline.store().unwrap().sessions(&SessionFilter::default()).unwrap();
        all.reverse();
        all
    }

    pub fn events(&mut self) -> Vec<Event> {
        self.pipeline.store().unwrap().events(&EventFilter::default()).unwrap()
    }

    pub fn agent(&mut self, id: &str) -> Agent {
        let agents = self.pipeline.store().unwrap().agents().unwrap();
        agents.into_iter().find(|agent| agent.id == id).unwrap_or_else(|| panic!("no agent {id}"))
    }

    pub fn write(&self, file: &str, text: &str) {
        let file = self.folder("").join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
}

impl Client {
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.env.retain(|(known, _)| known != name);
        self.env.push((name.into(), value.into()));
        self
    }

    /// The same terminal and environment with this process as the client.
    pub fn of(self, pid: u32) -> Self {
        self.with("CLAUDE_PID", &pid.to_string())
    }

    pub fn in_folder(mut self, folder: &Path) -> Self {
        folder.clone_into(&mut self.cwd);
        self
    }

    /// The same place with another agent in it.
    pub fn speaking(mut self, agent: &'static str) -> Self {
        self.agent = agent;
        self
    }

    pub fn session_id(mut self, session: &str) -> Self {
        self.session = session.into();
        self
    }
}

impl Living {
    pub fn new() -> Self {
        // Waits for input that never comes, and ends by itself when this process does.
        Self(Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap())
    }

    pub fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Living {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What was answered to a tool call: `deny`, `ask`, or nothing.
pub fn decision(served: &Response) -> Option<String> {
    let said: Value = serde_json::from_str(&served.answer.stdout).ok()?;
    said["hookSpecificOutput"]["permissionDecision"].as_str().map(str::to_owned)
}
