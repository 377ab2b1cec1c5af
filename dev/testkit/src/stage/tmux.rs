//! A tmux server of the sandbox's own, with whatever tests look at in it.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use super::{PLENTY, Stage, put_program};
use crate::fake_agent::FakeAgent;
use crate::poll;
use crate::process::{self, Finished};

/// Every call is written down before it is made.
const RECORDING: &str = "#!/bin/sh\nprintf '%s\\n' \"$*\" >> \"$HOME/../tmp/tmux.log\"\nexec REAL \"$@\"\n";
const SHELL: &str = "env PS1=ready% ENV= sh -i";

/// A server that ends with the test, whatever happens.
#[derive(Debug)]
pub struct TestTmux {
    pub socket: PathBuf,
    env: Vec<(OsString, OsString)>,
}

impl Stage {
    /// A server with a pane in which nothing happens.
    pub fn tmux(&self, name: &str) -> TestTmux {
        self.tmux_with(name, "sleep 900")
    }

    /// A server with a shell that is ready, and the whole terminal for it.
    pub fn tmux_shell(&self, name: &str) -> TestTmux {
        let tmux = self.tmux_with(name, SHELL);
        tmux.ask(&["set-option", "-g", "status", "off"]);
        tmux.wait_for("ready%");
        tmux
    }

    fn tmux_with(&self, name: &str, program: &str) -> TestTmux {
        let tmux = TestTmux { socket: self.sandbox.tmp().join(name), env: self.sandbox.env() };
        tmux.ask(&["-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "40", program]);
        // Whatever happens to the test, its server does not stay.
        tmux.ask(&["run-shell", "-b", "-d", "600", "-C", "kill-server"]);
        tmux
    }

    /// From now on every call of tmux by `taut` in this sandbox is written down.
    pub fn record_tmux(&self) {
        let real = Command::new("sh").args(["-c", "command -v tmux"]).output().unwrap().stdout;
        let real = String::from_utf8(real).unwrap();
        self.own_tmux(&RECORDING.replace("REAL", real.trim()));
    }

    /// A program of the user's own goes before the system's.
    pub fn own_tmux(&self, script: &str) {
        put_program(&self.sandbox.home().join(".local/bin/tmux"), script);
    }

    /// The calls written down so far.
    pub fn tmux_calls(&self) -> Vec<String> {
        let log = fs::read_to_string(self.sandbox.tmp().join("tmux.log")).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }

    /// `taut` as a program in that server sees it; it must go well.
    pub fn taut_in(&self, tmux: &TestTmux, args: &[&str]) -> Finished {
        let mut command = self.command(args);
        command.env("TMUX", tmux.variable());
        let done = process::run(command, b"", PLENTY).unwrap();
        assert!(done.success(), "{args:?}: {}", done.stderr_text());
        done
    }

    /// A named agent in a pane.
    pub fn agent_in(&self, name: &str, tmux: &TestTmux, pane: &str) -> FakeAgent {
        self.agent(name).with_env("TMUX", tmux.variable()).with_env("TMUX_PANE", pane)
    }
}

impl TestTmux {
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
}

impl Drop for TestTmux {
    fn drop(&mut self) {
        // Fails only when the server is gone already.
        let _ = self.run(&["kill-server"]);
    }
}
