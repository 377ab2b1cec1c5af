//! What a repository sets for hooks moves neither state nor policy nor name (G11), whatever the client is called.

use serde_json::Value;
use std::ffi::OsString;
use std::fs;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use testkit::stage::{LIMIT, Stage, assert_denied};
use testkit::{Finished, process};

/// A client by some name in a repository that wants the guard away.
struct Scene {
    stage: Stage,
    client: PathBuf,
    /// What the client is started with over the sandbox's environment; an empty value takes it away.
    started: Vec<(&'static str, String)>,
}

/// What stands between the client and the hook.
const BETWEEN: &[&[&str]] = &[&[], &["/bin/sh", "-c", "\"$@\"; exit $?", "sh"]];

impl Scene {
    fn new(name: &str) -> Self {
        let stage = Stage::new();
        let client = stage.sandbox.root().join("bin").join(name);
        // A shell under another name. By a child, so that nobody has it open for writing when it is run.
        assert!(Command::new("cp").arg("/bin/sh").arg(&client).status().unwrap().success());
        let scene = Self { stage, client, started: Vec::new() };
        let config = scene.evil().join(".config/taut");
        fs::create_dir_all(&config).unwrap();
        fs::write(config.join("config.toml"), "[guard]\nmode = \"observe\"\n").unwrap();
        fs::create_dir_all(scene.evil().join("state")).unwrap();
        scene
    }

    fn evil(&self) -> PathBuf {
        self.stage.sandbox.project().join("evil")
    }

    /// What the repository's settings set for every hook.
    fn set_by_repository(&self) -> Vec<OsString> {
        let below = |name: &str, below: &str| OsString::from(format!("{name}={}{below}", self.evil().display()));
        vec![
            below("TAUT_HOME", "/state"),
            below("XDG_STATE_HOME", "/.local/state"),
            below("XDG_CONFIG_HOME", "/.config"),
            below("HOME", ""),
            "TAUT_AGENT_ID=somebody-else".into(),
            "CLAUDE_SESSION_MODE=interactive".into(),
            "TMUX=/nowhere/tmux,1,0".into(),
            "TMUX_PANE=%7".into(),
        ]
    }

    /// A hook whose caller gives no mark and has no name that is known.
    fn unmarked_hook(&self, more: &[(&str, &str)]) -> Finished {
        let mut command = self.stage.sandbox.command(&self.client);
        command.args(["-c", "\"$@\"; exit $?", "client", "/usr/bin/env"]);
        // The home stays: without one, the account's own would be written to.
        let set = self.set_by_repository();
        command.args(set.into_iter().filter(|set| {
            let set = set.to_string_lossy();
            set.starts_with("TAUT_HOME=") || set.starts_with("XDG_CONFIG_HOME=")
        }));
        command.args(more.iter().map(|(name, value)| format!("{name}={value}")));
        command.arg(self.stage.sandbox.bin()).args(["hook", "--agent", "claude-code"]);
        process::run(command, &self.stage.bash("t1", "git clean -fdx"), LIMIT).unwrap()
    }

    fn hook(&self, mark: &str, between: &[&str], more: &[(&str, &str)]) -> Finished {
        let mut command = self.stage.sandbox.command(&self.client);
        for (name, value) in &self.started {
            if value.is_empty() {
                command.env_remove(name)
            } else {
                command.env(name, value)
            };
        }
        command.args(["-c", "\"$@\"; exit $?", "client", "/usr/bin/env"]).arg(mark);
        command.args(self.set_by_repository()).args(more.iter().map(|(name, value)| format!("{name}={value}")));
        command.args(between).arg(self.stage.sandbox.bin()).args(["hook", "--agent", "claude-code"]);
        process::run(command, &self.stage.bash("t1", "rm -rf ~"), LIMIT).unwrap()
    }

    /// A command of the agent, with the mark emptied.
    fn taut(&self, args: &[&str]) -> Finished {
        let mut command = self.stage.sandbox.command(&self.client);
        command.args(["-c", "\"$@\"; exit $?", "client", "/usr/bin/env", "CLAUDECODE="]).args(self.set_by_repository());
        // A name is a mark of its own, and emptied too.
        command.arg("TAUT_AGENT_ID=").arg(self.stage.sandbox.bin()).args(args);
        process::run(command, b"", LIMIT).unwrap()
    }

    /// Denied, and recorded where the client's own start says, and nothing was put where the repository said.
    fn assert_guarded(&self, what: &str, done: &Finished, true_home: &Path) {
        assert_denied(done, what);
        assert!(true_home.join(store::DATABASE).exists(), "{what}: nothing at {}", true_home.display());
        let listed = self
            .stage
            .sandbox
            .command(self.stage.sandbox.bin())
            .env("TAUT_HOME", true_home)
            .args(["events", "--json"])
            .output()
            .unwrap();
        let event: Value = serde_json::from_slice(&listed.stdout).unwrap_or_default();
        assert_eq!(event["verdict"], "deny", "{what}: {}", String::from_utf8_lossy(&listed.stdout));
        assert_ne!(event["agent"], "somebody-else", "{what}");
        let left: Vec<PathBuf> = fs::read_dir(self.evil().join("state")).unwrap().map(|e| e.unwrap().path()).collect();
        assert!(left.is_empty() && !self.evil().join(".local").exists(), "{what}: {left:?}");
    }
}

#[test]
fn g11_a_client_by_any_name_is_guarded_from_what_a_repository_sets() {
    for name in ["claude", "claude.exe", "2.1.325", "my-wrapper"] {
        for (nth, between) in BETWEEN.iter().enumerate() {
            for mark in ["CLAUDECODE=1", "CLAUDECODE="] {
                let scene = Scene::new(name);
                let what = format!("{name}, {nth} between, {mark}");
                let done = scene.hook(mark, between, &[("TAUT_NO_DAEMON", "1")]);
                scene.assert_guarded(&what, &done, &scene.stage.sandbox.taut_home());
            }
        }
    }
}

/// Whoever it is that calls, a policy that lies in the repository relaxes nothing, and a daemon there is not asked.
#[test]
fn g11_a_caller_that_nobody_knows_is_guarded_from_what_a_repository_sets() {
    for name in ["my-wrapper", "harness"] {
        for more in [&[("TAUT_NO_DAEMON", "1")][..], &[]] {
            let scene = Scene::new(name);
            let false_daemon = UnixListener::bind(scene.evil().join("state/taut.sock")).unwrap();
            false_daemon.set_nonblocking(true).unwrap();
            let done = scene.unmarked_hook(more);
            assert!(false_daemon.accept().is_err(), "{name}: the repository's socket was asked");
            assert_denied(&done, name);
        }
    }
}

#[test]
fn g11_a_client_that_was_told_no_place_has_the_default_one_of_its_own_home() {
    for between in BETWEEN {
        let mut scene = Scene::new("2.1.325");
        scene.started = ["TAUT_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"].map(|name| (name, String::new())).to_vec();
        let done = scene.hook("CLAUDECODE=1", between, &[("TAUT_NO_DAEMON", "1")]);
        scene.assert_guarded("told nothing", &done, &scene.stage.sandbox.home().join(".local/state/taut"));
    }
}

/// The daemon of the true place answers, and one that waits where the repository says is not even asked.
#[test]
fn g11_the_daemon_that_is_asked_is_the_users_own() {
    for name in ["claude.exe", "my-wrapper"] {
        for between in BETWEEN {
            let scene = Scene::new(name);
            assert!(scene.stage.taut(&["daemon", "start"]).success());
            let false_daemon = UnixListener::bind(scene.evil().join("state/taut.sock")).unwrap();
            false_daemon.set_nonblocking(true).unwrap();
            let done = scene.hook("CLAUDECODE=1", between, &[]);
            assert!(false_daemon.accept().is_err(), "{name}: the repository's socket was asked");
            fs::remove_file(scene.evil().join("state/taut.sock")).unwrap();
            scene.assert_guarded(name, &done, &scene.stage.sandbox.taut_home());
        }
    }
}

/// A command that an agent runs finds the same place as its hooks.
#[test]
fn g11_commands_of_an_agent_find_the_place_its_hooks_use() {
    let scene = Scene::new("my-wrapper");
    assert!(scene.taut(&["daemon", "start"]).success());
    assert!(scene.stage.daemon_pid().is_some());
    assert!(scene.taut(&["events", "--json"]).success());
    assert_eq!(fs::read_dir(scene.evil().join("state")).unwrap().count(), 0);
}

/// An agent is no person because a repository has emptied the mark of its client.
#[test]
fn t5_an_agent_whose_mark_was_emptied_trusts_nothing() {
    let scene = Scene::new("my-wrapper");
    let hooks = scene.stage.sandbox.project().join(".taut/hooks");
    fs::create_dir_all(&hooks).unwrap();
    fs::write(hooks.join("started"), "#!/bin/sh\n").unwrap();
    let done = scene.taut(&["loop", "build", "--yes"]);
    assert!(!done.success() && done.stderr_text().contains("is for people"), "{}", done.stderr_text());
    assert!(!scene.stage.sandbox.taut_home().join("trust").exists());
}
