//! A house with work going on in it, and a fresh copy of its state for every try.

use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use testkit::{Sandbox, process};

/// The worker that holds a task and has a session.
pub const WORKER: &str = "w1";
/// What it holds.
pub const HELD: &str = "held";
/// How many tasks there are.
pub const TASKS: usize = 4;

pub struct House {
    pub sandbox: Sandbox,
    /// Events stored before any fault.
    pub events: usize,
    tries: AtomicUsize,
}

/// The state one try works on.
pub struct State {
    pub folder: PathBuf,
    /// Nobody else's, and gone afterwards.
    own: bool,
}

impl House {
    pub fn build() -> Self {
        let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_taut").into()).unwrap();
        let mut house = Self { sandbox, events: 0, tries: AtomicUsize::new(0) };
        let lines: String = ["held", "t1", "t2", "t3"].map(|id| format!("{}\n", json!({"id": id, "t": "T"}))).concat();
        let state = house.sandbox.taut_home();
        house.must(&state, &["task", "plan-sync"], &lines);
        house.must(&state, &["hook"], &house.payload("SessionStart", &json!({"source": "startup"})));
        house.must(&state, &["task", "claim", HELD], "");
        for id in ["a", "b"] {
            let call = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": id});
            house.must(&state, &["hook"], &house.payload("PreToolUse", &call));
        }
        let folder = house.template();
        private_folder(&folder);
        copy_files(&state, &folder);
        let started = house.sandbox.taut(&["daemon", "start"], b"").unwrap();
        assert!(started.success(), "{}", started.stderr_text());
        let store = store::Store::open(&state, std::time::Duration::from_secs(5)).unwrap();
        house.events = store.events(&store::EventFilter::default()).unwrap().len();
        assert_eq!(house.events, 3);
        house
    }

    /// What the worker's client would send.
    pub fn payload(&self, event: &str, fields: &serde_json::Value) -> String {
        let mut payload = json!({"session_id": "host-1", "cwd": self.sandbox.project(), "hook_event_name": event});
        payload.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        payload.to_string()
    }

    /// The program as the worker calls it, on this state. There is a daemon on the shared one only.
    pub fn command(&self, state: &Path, args: &[&str]) -> Command {
        let mut command = self.reaching_daemon(state, args);
        if state != self.sandbox.taut_home() {
            command.env("TAUT_NO_DAEMON", "1");
        }
        command
    }

    /// The same, and a daemon on that state is asked first.
    pub fn reaching_daemon(&self, state: &Path, args: &[&str]) -> Command {
        let mut command = self.sandbox.command(self.sandbox.bin());
        command.args(args).env("TAUT_HOME", state).env("RALPH_AGENT_ID", WORKER);
        command
    }

    /// A number no other try has.
    pub fn number(&self) -> usize {
        self.tries.fetch_add(1, Ordering::Relaxed)
    }

    pub fn copy(&self, number: usize) -> State {
        let state = self.empty(number);
        copy_files(&self.template(), &state.folder);
        state
    }

    /// Before anything was stored.
    pub fn empty(&self, number: usize) -> State {
        let folder = self.sandbox.root().join(format!("try{number}"));
        private_folder(&folder);
        State { folder, own: true }
    }

    /// The one with the daemon.
    pub fn shared(&self) -> State {
        State { folder: self.sandbox.taut_home(), own: false }
    }

    fn template(&self) -> PathBuf {
        self.sandbox.root().join("template")
    }

    fn must(&self, state: &Path, args: &[&str], stdin: &str) {
        let done =
            process::run(self.command(state, args), stdin.as_bytes(), std::time::Duration::from_secs(30)).unwrap();
        assert!(done.success(), "{args:?}: {}", done.stderr_text());
    }
}

impl Drop for State {
    fn drop(&mut self) {
        if self.own {
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }
}

fn private_folder(folder: &Path) {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().mode(0o700).create(folder).unwrap();
}

/// The index beside the log belongs to the processes that share it.
fn copy_files(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let name = entry.file_name();
        if entry.file_type().unwrap().is_file() && !name.to_string_lossy().ends_with("-shm") {
            std::fs::copy(entry.path(), to.join(name)).unwrap();
        }
    }
}
