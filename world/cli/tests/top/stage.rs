//! A sandbox, a tmux server of its own in it, and a shell in its only window.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use testkit::{AgentStep, FakeAgent, Finished, Sandbox, poll, process};

pub const PLENTY: Duration = Duration::from_secs(20);

pub struct Stage {
    pub sandbox: Sandbox,
}

/// A server that ends with the test, whatever happens.
pub struct Tmux {
    pub socket: PathBuf,
    env: Vec<(OsString, OsString)>,
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
    pub fn with_daemon() -> Self {
        let stage = Self { sandbox: Sandbox::with_copy_of(Path::new(env!("CARGO_BIN_EXE_taut"))).unwrap() };
        let started = stage.taut(&["daemon", "start"]);
        assert!(started.success(), "{}", started.stderr_text());
        stage
    }

    pub fn without_daemon() -> Self {
        let sandbox = Sandbox::with_copy_of(Path::new(env!("CARGO_BIN_EXE_taut"))).unwrap();
        Self { sandbox: sandbox.with_env("TAUT_NO_DAEMON", "1") }
    }

    pub fn taut(&self, args: &[&str]) -> Finished {
        self.sandbox.taut(args, b"").unwrap()
    }

    pub fn agent(&self, name: &str) -> FakeAgent {
        FakeAgent::new(&self.sandbox).with_env("TAUT_AGENT_ID", name)
    }

    pub fn working(&self, name: &str) -> FakeAgent {
        let mut agent = self.agent(name);
        agent.play(&[AgentStep::start(), AgentStep::prompt("go")]).unwrap();
        agent
    }

    /// A server with a shell that says when it is ready.
    pub fn tmux(&self, name: &str) -> Tmux {
        let tmux = Tmux { socket: self.sandbox.tmp().join(name), env: self.sandbox.env() };
        let shell = "env PS1=ready% ENV= sh -i";
        tmux.ask(&["-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "30", shell]);
        // Whatever happens to the test, its server does not stay.
        tmux.ask(&["run-shell", "-b", "-d", "600", "-C", "kill-server"]);
        tmux.ask(&["set-option", "-g", "status", "off"]);
        tmux.wait_for("ready%");
        tmux
    }
}

impl Tmux {
    pub fn ask(&self, args: &[&str]) -> String {
        let done = self.run(args);
        assert!(done.success(), "tmux {args:?}: {}", done.stderr_text());
        done.stdout_text().trim_end_matches('\n').to_owned()
    }

    fn run(&self, args: &[&str]) -> Finished {
        let mut command = Command::new("tmux");
        command.env_clear().envs(self.env.iter().cloned()).arg("-u").arg("-S").arg(&self.socket).args(args);
        process::run(command, b"", PLENTY).unwrap()
    }

    /// Keys by tmux's names for them.
    pub fn press(&self, keys: &[&str]) {
        self.ask(&[&["send-keys"], keys].concat());
    }

    pub fn enter(&self, line: &str) {
        self.ask(&["send-keys", "-l", "--", line]);
        self.press(&["Enter"]);
    }

    pub fn screen(&self) -> String {
        self.ask(&["capture-pane", "-p"])
    }

    pub fn wait_for(&self, text: &str) -> String {
        self.wait_until(text, |screen| screen.contains(text))
    }

    pub fn wait_until(&self, what: &str, shows: impl Fn(&str) -> bool) -> String {
        let mut last = String::new();
        let found = poll::until(what, PLENTY, || {
            last = self.screen();
            shows(&last).then_some(())
        });
        assert!(found.is_ok(), "{what:?} never came; the screen is:\n{last}");
        last
    }

    /// The shell has the terminal again, as it was.
    pub fn is_given_back(&self, why: &str) {
        let back = poll::until("the usual screen", PLENTY, || {
            (self.ask(&["display-message", "-p", "#{alternate_on}#{cursor_flag}"]) == "01").then_some(())
        });
        assert!(back.is_ok(), "{why}: the screen is still taken");
        self.enter("clear; stty -a | grep -o -e '[-]*icanon' -e '[-]*echo ' | tr -d '\\n'; echo .");
        self.wait_until(why, |screen| screen.contains("icanonecho .") && !screen.contains("-icanon"));
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        // Fails only when the server is gone already.
        let _ = self.run(&["kill-server"]);
    }
}
