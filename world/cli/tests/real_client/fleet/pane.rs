//! A client in its pane, as its server, its user and Taut see it.

use crate::recorded::RecordedClient;
use serde_json::Value;
use std::fs;
use std::time::Duration;
use testkit::stage::put_program;
use testkit::{ClientLaunch, Script, Terminal, poll, process};

pub const PLENTY: Duration = Duration::from_secs(60);

/// Every call of tmux that the daemon makes is written down.
const WITNESS: &str = "#!/bin/sh\nprintf '%s\\n' \"$*\" >> \"LOG\"\nexec REAL \"$@\"\n";

/// Only the waker asks for this.
const LOOK: &str = "#{cursor_x}";

fn launch(stage: &RecordedClient, script: Script) -> ClientLaunch {
    ClientLaunch::new(&stage.sandbox, script).permission_mode("default").env("TAUT_AGENT_ID", "ada")
}

pub struct Pane {
    pub stage: RecordedClient,
    pub terminal: Terminal,
}

impl Pane {
    /// The agent `ada`, which asks before it does anything.
    pub fn open(script: Script) -> Self {
        let stage = RecordedClient::new();
        let found = std::process::Command::new("sh").args(["-c", "command -v tmux"]).output().unwrap().stdout;
        // A program of the user's own goes before the system's.
        let wrapper = stage.sandbox.home().join(".local/bin/tmux");
        // The daemon has an environment of its own making: nothing of ours tells the wrapper where to write.
        let log = stage.sandbox.tmp().join("tmux.log").to_string_lossy().into_owned();
        let witness = WITNESS.replace("REAL", String::from_utf8(found).unwrap().trim()).replace("LOG", &log);
        put_program(&wrapper, &witness);
        let launch = launch(&stage, script);
        let terminal = launch.open(&stage.client).unwrap_or_else(|error| panic!("{error}"));
        Self { stage, terminal }
    }

    /// The same in `taut run`, and in no tmux as far as it can tell.
    pub fn open_supervised(script: Script) -> Self {
        let stage = RecordedClient::new();
        let taut = stage.sandbox.root().join("bin/inner/taut");
        let launch =
            launch(&stage, script).outside_tmux().started_by(&[taut.as_os_str(), "run".as_ref(), "--".as_ref()]);
        let terminal = launch.open(&stage.client).unwrap_or_else(|error| panic!("{error}"));
        Self { stage, terminal }
    }

    /// In a plain terminal, which nobody can type into, with answers from elsewhere switched on.
    pub fn open_in_a_plain_terminal(script: Script) -> Self {
        let stage = RecordedClient::new();
        let mut command = stage.sandbox.command(stage.sandbox.root().join("bin/inner/taut"));
        command.args(["answer", "on", "--yes"]);
        let done = process::run(command, b"", PLENTY).unwrap();
        assert!(done.success(), "{}", done.stderr_text());
        let launch = launch(&stage, script).outside_tmux();
        let terminal = launch.open(&stage.client).unwrap_or_else(|error| panic!("{error}"));
        Self { stage, terminal }
    }

    pub fn taut(&self, args: &[&str]) -> String {
        let mut command = self.stage.sandbox.command(self.stage.sandbox.root().join("bin/inner/taut"));
        command.args(args);
        let done = process::run(command, b"", PLENTY).unwrap();
        assert!(done.success(), "{args:?}: {}", done.stderr_text());
        done.stdout_text()
    }

    pub fn apply(&self) {
        let socket = self.terminal.tmux(&["display-message", "-p", "#{socket_path}"]).unwrap();
        self.taut(&["tmux", "apply", "--socket", socket.trim()]);
    }

    pub fn wait_for_status(&self, status: &str) {
        let mut last = String::new();
        let found = poll::until("a status", PLENTY, || {
            last = self.taut(&["agents", "--json"]);
            let mut rows = last.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
            rows.any(|row| row["id"] == "ada" && row["status"] == status).then_some(())
        });
        assert!(found.is_ok(), "ada never became {status}: {last}\n{}", self.terminal.capture().unwrap());
    }

    /// Says yes to the dialog about this command.
    pub fn say_yes(&self, command: &str) {
        let stands = |screen: &str| {
            let (_, dialog) = screen.rsplit_once("Bash command").unwrap_or_default();
            dialog.contains(command) && dialog.contains("Do you want")
        };
        self.terminal.press_until("Enter", |screen| !stands(screen)).unwrap();
    }

    pub fn wait_for_style(&self, style: &str) {
        let mut last = String::new();
        let found = poll::until("a style", PLENTY, || {
            last = self.terminal.tmux(&["show-options", "-pqv", "-t", ":.0", "window-style"]).ok()?;
            (last.trim() == style).then_some(())
        });
        assert!(found.is_ok(), "the pane never became {style}, it is {last}");
    }

    /// All that the daemon has told tmux.
    pub fn said(&self) -> Vec<String> {
        let log = fs::read_to_string(self.stage.sandbox.tmp().join("tmux.log")).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }

    /// How often it has told it this.
    pub fn calls(&self, word: &str) -> usize {
        self.said().iter().filter(|line| line.contains(word)).count()
    }

    /// Until the waker has looked at the screen a few more times.
    pub fn wait_for_looks(&self) {
        let before = self.calls(LOOK);
        let looked = poll::until("the waker to look", PLENTY, || (self.calls(LOOK) >= before + 2).then_some(()));
        let sessions = || self.taut(&["sessions", "--json"]);
        assert!(looked.is_ok(), "nobody looked: {}\n{}", sessions(), self.terminal.capture().unwrap());
    }
}
