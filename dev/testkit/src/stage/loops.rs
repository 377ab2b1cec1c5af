//! A project with a plan, a scripted client in place of the agent's, and the loop over both.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::{PLENTY, Stage, put_program};
use crate::poll;
use crate::process::{self, Finished};

/// A loop that runs on.
#[derive(Debug)]
pub struct RunningLoop {
    pub child: Child,
    out: PathBuf,
}

impl Stage {
    /// Without a daemon, with a committed plan of three open tasks.
    #[must_use]
    pub fn with_plan() -> Self {
        let stage = Self::without_daemon();
        symlink(stage.sandbox.bin(), stage.sandbox.root().join("bin/taut")).unwrap();
        stage.write("IMPLEMENTATION_PLAN.md", "- [ ] a\n- [ ] b\n- [ ] c\n");
        stage.git(&["add", "-A"]);
        stage.git(&["commit", "-qm", "first"]);
        stage
    }

    /// What the client of the loop does each time, in bash.
    pub fn client_does(&self, script: &str) -> &Self {
        put_program(&self.sandbox.root().join("bin/claude"), &format!("#!/bin/bash\n{script}\n"));
        self
    }

    /// A hook of the loop, in bash.
    pub fn loop_hook(&self, name: &str, script: &str) -> &Self {
        put_program(&self.path(&format!(".taut/hooks/{name}")), &format!("#!/bin/bash\n{script}\n"));
        self
    }

    pub fn build(&self, args: &[&str]) -> Finished {
        self.build_with(args, &[])
    }

    /// `taut loop build --json …` in a project that is trusted as it stands.
    pub fn build_with(&self, args: &[&str], env: &[(&str, &str)]) -> Finished {
        self.sandbox.trust_project().unwrap();
        let mut command = self.command(&["loop", "build", "--json"]);
        command.args(args).envs(env.iter().copied());
        // Several of them at once, each with workers, share the machine with everything else.
        process::run(command, b"", Duration::from_secs(240)).unwrap()
    }

    /// Starts a loop in a project that is trusted as it stands, and leaves it running.
    pub fn start_loop(&self, args: &[&str]) -> RunningLoop {
        self.sandbox.trust_project().unwrap();
        let out = self.sandbox.root().join("out.txt");
        let file = fs::File::create(&out).unwrap();
        let mut command = self.command(args);
        command.stdin(Stdio::null()).stdout(file.try_clone().unwrap()).stderr(file).process_group(0);
        RunningLoop { child: command.spawn().unwrap(), out }
    }

    /// Waits for a file of the project, and gives what it holds.
    pub fn until_written(&self, path: &str) -> String {
        let what = format!("{path} to be there");
        poll::until(&what, PLENTY, || Some(self.read(path)).filter(|text| !text.is_empty())).unwrap()
    }
}

impl RunningLoop {
    pub fn signal(&self, signal: i32) {
        // Gone already is fine: the test then sees how it ended.
        let _ = process::signal(i32::try_from(self.child.id()).unwrap(), signal);
    }

    pub fn end(&mut self) -> Option<i32> {
        poll::until("the loop to end", PLENTY, || self.child.try_wait().unwrap()).unwrap().code()
    }

    pub fn printed(&self) -> String {
        fs::read_to_string(&self.out).unwrap_or_default()
    }
}

impl Drop for RunningLoop {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The object that sums a run up.
pub fn summary(done: &Finished) -> Value {
    let text = done.stdout_text();
    let last = text.lines().last().unwrap_or_else(|| panic!("nothing was printed: {}", done.stderr_text()));
    serde_json::from_str(last).unwrap_or_else(|_| panic!("{last}\n{}", done.stderr_text()))
}
