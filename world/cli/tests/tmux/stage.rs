//! A sandbox, tmux servers of its own in it, and agents in their panes.

use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use testkit::{AgentStep, FakeAgent, FakeTool, Finished, Sandbox, poll, process};

pub const PLENTY: Duration = Duration::from_secs(20);

/// Every call is written down before it is made.
const WITNESS: &str = "#!/bin/sh\nprintf '%s\\n' \"$*\" >> \"$HOME/../tmp/tmux.log\"\nexec REAL \"$@\"\n";

pub struct Stage {
    pub sandbox: Sandbox,
}

/// A server that ends with the test, whatever happens.
pub struct Tmux {
    pub socket: PathBuf,
    env: Vec<(std::ffi::OsString, std::ffi::OsString)>,
}

/// Says so where tmux is missing; the pipeline of this project installs it.
pub fn no_tmux() -> bool {
    let missing = Command::new("tmux").arg("-V").output().is_err();
    if missing {
        eprintln!("tmux is not installed: this test proves nothing here");
    }
    missing
}

impl Stage {
    pub fn new() -> Self {
        Self { sandbox: Sandbox::with_copy_of(Path::new(env!("CARGO_BIN_EXE_taut"))).unwrap() }
    }

    pub fn with_daemon() -> Self {
        let stage = Self::new();
        stage.start_daemon();
        stage
    }

    pub fn without_daemon() -> Self {
        let mut stage = Self::new();
        stage.sandbox = stage.sandbox.with_env("TAUT_NO_DAEMON", "1");
        stage
    }

    pub fn start_daemon(&self) {
        let started = self.taut(&["daemon", "start"]);
        assert!(started.success(), "{}", started.stderr_text());
    }

    /// From now on every call of tmux by `taut` in this sandbox is written down.
    pub fn witnessed() -> Self {
        let stage = Self::new();
        let real = Command::new("sh").args(["-c", "command -v tmux"]).output().unwrap().stdout;
        let real = String::from_utf8(real).unwrap();
        stage.own_tmux(&WITNESS.replace("REAL", real.trim()));
        stage
    }

    /// A program of the user's own goes before the system's.
    pub fn own_tmux(&self, script: &str) {
        let bin = self.sandbox.home().join(".local/bin");
        fs::create_dir_all(&bin).unwrap();
        put_program(&bin.join("tmux"), script);
    }

    /// The calls written down so far.
    pub fn calls(&self) -> Vec<String> {
        let log = fs::read_to_string(self.sandbox.tmp().join("tmux.log")).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }

    pub fn taut(&self, args: &[&str]) -> Finished {
        self.sandbox.taut(args, b"").unwrap()
    }

    /// `taut` as a program in that server sees it.
    pub fn taut_in(&self, tmux: &Tmux, args: &[&str]) -> Finished {
        let mut command = self.sandbox.command(self.sandbox.bin());
        command.args(args).env("TMUX", tmux.variable());
        let done = process::run(command, b"", PLENTY).unwrap();
        assert!(done.success(), "{args:?}: {}", done.stderr_text());
        done
    }

    pub fn tmux(&self, name: &str) -> Tmux {
        let tmux = Tmux { socket: self.sandbox.tmp().join(name), env: self.sandbox.env() };
        tmux.ask(&["-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "40", "sleep 900"]);
        // Whatever happens to the test, its server does not stay.
        tmux.ask(&["run-shell", "-b", "-d", "600", "-C", "kill-server"]);
        tmux
    }

    /// A named agent in a pane.
    pub fn agent(&self, name: &str, tmux: &Tmux, pane: &str) -> FakeAgent {
        FakeAgent::new(&self.sandbox)
            .with_env("TAUT_AGENT_ID", name)
            .with_env("TMUX", tmux.variable())
            .with_env("TMUX_PANE", pane)
    }

    pub fn status_of(&self, agent: &str) -> String {
        let done = self.taut(&["agents", "--json"]);
        let rows = done.stdout_text();
        let mut rows = rows.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        rows.find(|row| row["id"] == agent).map(|row| row["status"].as_str().unwrap().to_owned()).unwrap_or_default()
    }
}

impl Tmux {
    pub fn ask(&self, args: &[&str]) -> String {
        let done = self.run(args);
        assert!(done.success(), "tmux {args:?}: {}", done.stderr_text());
        done.stdout_text().trim_end_matches('\n').to_owned()
    }

    pub fn run(&self, args: &[&str]) -> Finished {
        let mut command = Command::new("tmux");
        command.env_clear().envs(self.env.iter().cloned()).arg("-u").arg("-S").arg(&self.socket).args(args);
        process::run(command, b"", PLENTY).unwrap()
    }

    pub fn variable(&self) -> String {
        format!("{},{},0", self.socket.display(), std::process::id())
    }

    pub fn first_pane(&self) -> String {
        self.ask(&["list-panes", "-a", "-F", "#{pane_id}"]).lines().next().unwrap().to_owned()
    }

    pub fn split(&self) -> String {
        self.ask(&["split-window", "-d", "-P", "-F", "#{pane_id}", "sleep 900"])
    }

    pub fn window(&self) -> String {
        self.ask(&["new-window", "-d", "-P", "-F", "#{pane_id}", "sleep 900"])
    }

    /// What a pane has at its own level; empty for nothing.
    pub fn pane_option(&self, pane: &str, name: &str) -> String {
        self.ask(&["show-options", "-pqv", "-t", pane, name])
    }

    pub fn window_option(&self, pane: &str, name: &str) -> String {
        self.ask(&["show-options", "-wqv", "-t", pane, name])
    }

    pub fn wait_for_style(&self, pane: &str, style: &str) {
        let mut last = String::new();
        let found = poll::until("a pane's style", PLENTY, || {
            last = self.pane_option(pane, "window-style");
            (last == style).then_some(())
        });
        assert!(found.is_ok(), "{pane} never became {style:?}, it is {last:?}");
    }

    /// Every option and hook at every level, as tmux prints them.
    pub fn everything(&self) -> String {
        let mut all = String::new();
        for args in [
            &["show-options", "-s"][..],
            &["show-options", "-g"],
            &["show-options", "-gw"],
            &["show-hooks", "-g"],
            &["show-hooks", "-gw"],
            &["list-windows", "-a"],
        ] {
            all.push_str(&format!("{args:?}\n{}\n", self.ask(args)));
        }
        for pane in self.ask(&["list-panes", "-a", "-F", "#{pane_id}"]).lines() {
            for level in ["-p", "-w", ""] {
                let shown = self.ask(
                    &["show-options", "-q", level, "-t", pane]
                        .into_iter()
                        .filter(|word| !word.is_empty())
                        .collect::<Vec<_>>(),
                );
                all.push_str(&format!("{pane} {level}\n{shown}\n"));
            }
        }
        all
    }

    /// Everything this server's paint could be recognised by.
    pub fn traces(&self) -> Vec<String> {
        self.everything().lines().filter(|line| line.contains("taut")).map(str::to_owned).collect()
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        // Fails only when the server is gone already.
        let _ = self.run(&["kill-server"]);
    }
}

pub fn put_program(path: &Path, script: &str) {
    fs::write(path, script).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

pub fn asks() -> AgentStep {
    AgentStep::Event {
        event: "Notification",
        fields: json!({"notification_type": "permission_prompt", "message": "may I?"}),
    }
}

pub fn fails() -> AgentStep {
    AgentStep::Tools(vec![FakeTool::bash("false").failing_with("exit 1")])
}

pub const WORKING: &str = "bg=#080c10";
pub const ATTENTION: &str = "bg=#081a10";
pub const ERROR: &str = "bg=#3d2020";
pub const CHECKED: &str = "bg=#0a1005";
pub const DONE: &str = "bg=#0a0a0a";
