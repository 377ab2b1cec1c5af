//! A sandbox with a repository, a scripted `claude`, and a plan.

use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use testkit::process::{self};
use testkit::{Finished, Sandbox, poll};

pub const PLENTY: Duration = Duration::from_secs(30);

/// Ends well and says what it cost.
pub const FINE: &str = r#"echo '{"type":"result","is_error":false,"total_cost_usd":0.25,"num_turns":1,"result":"ok"}'"#;
/// Does the first open task of the plan and commits.
pub const WORK: &str = r#"sed -i '0,/- \[ \]/s//- [x]/' IMPLEMENTATION_PLAN.md; git commit -qam work;"#;

pub struct Stage {
    pub sandbox: Sandbox,
}

/// A loop that runs on.
pub struct Going {
    pub child: Child,
    out: PathBuf,
}

impl Stage {
    pub fn new() -> Self {
        let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_taut").into()).unwrap();
        let mut sandbox = sandbox.with_env("TAUT_NO_DAEMON", "1");
        for name in ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"] {
            sandbox = sandbox.with_env(name, "t@example.org");
        }
        let stage = Self { sandbox };
        std::os::unix::fs::symlink(stage.sandbox.bin(), stage.sandbox.root().join("bin/taut")).unwrap();
        stage.git(&["init", "-q"]);
        stage.write("IMPLEMENTATION_PLAN.md", "- [ ] a\n- [ ] b\n- [ ] c\n");
        stage.git(&["add", "-A"]);
        stage.git(&["commit", "-qm", "first"]);
        stage
    }

    /// What the agent does each time, in bash.
    pub fn agent(&self, script: &str) -> &Self {
        let path = self.sandbox.root().join("bin/claude");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("#!/bin/bash\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        self
    }

    pub fn hook(&self, name: &str, script: &str) -> &Self {
        let path = format!(".taut/hooks/{name}");
        self.write(&path, &format!("#!/bin/bash\n{script}\n"));
        fs::set_permissions(self.path(&path), fs::Permissions::from_mode(0o755)).unwrap();
        self
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap_or_default()
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.sandbox.project().join(path)
    }

    pub fn git(&self, args: &[&str]) -> String {
        let mut command = self.sandbox.command("git");
        command.args(args);
        process::run(command, b"", PLENTY).unwrap().stdout_text()
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = self.sandbox.command(self.sandbox.bin());
        command.args(args);
        command
    }

    pub fn build(&self, args: &[&str]) -> Finished {
        self.build_with(args, &[])
    }

    /// `taut loop build --yes --json …`
    pub fn build_with(&self, args: &[&str], env: &[(&str, &str)]) -> Finished {
        let mut command = self.command(&["loop", "build", "--yes", "--json"]);
        command.args(args).envs(env.iter().copied());
        process::run(command, b"", Duration::from_secs(120)).unwrap()
    }

    /// Starts a loop and leaves it running.
    pub fn start(&self, args: &[&str]) -> Going {
        let out = self.sandbox.root().join("out.txt");
        let file = fs::File::create(&out).unwrap();
        let mut command = self.command(args);
        command.stdin(Stdio::null()).stdout(file.try_clone().unwrap()).stderr(file).process_group(0);
        Going { child: command.spawn().unwrap(), out }
    }

    pub fn until(&self, path: &str) -> String {
        let what = format!("{path} to be there");
        poll::until(&what, PLENTY, || Some(self.read(path)).filter(|text| !text.is_empty())).unwrap()
    }

    pub fn task(&self, args: &[&str]) -> Finished {
        let mut command = self.command(&["task"]);
        command.args(args);
        process::run(command, b"", PLENTY).unwrap()
    }

    pub fn show(&self, slug: &str) -> Value {
        serde_json::from_str(&self.task(&["show", slug, "--json"]).stdout_text()).unwrap()
    }
}

impl Going {
    pub fn signal(&self, signal: i32) {
        let pid = i32::try_from(self.child.id()).unwrap();
        // SAFETY: our own child, not buried yet.
        unsafe { libc::kill(pid, signal) };
    }

    pub fn end(&mut self) -> Option<i32> {
        poll::until("the loop to end", PLENTY, || self.child.try_wait().unwrap()).unwrap().code()
    }

    pub fn said(&self) -> String {
        fs::read_to_string(&self.out).unwrap_or_default()
    }
}

impl Drop for Going {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The object that sums the run up.
pub fn summary(done: &Finished) -> Value {
    let text = done.stdout_text();
    let last = text.lines().last().unwrap_or_else(|| panic!("nothing was said: {}", done.stderr_text()));
    serde_json::from_str(last).unwrap_or_else(|_| panic!("{last}\n{}", done.stderr_text()))
}

/// Whether a process of this number is there and no zombie.
pub fn lives(pid: &str) -> bool {
    fs::read_to_string(format!("/proc/{}/stat", pid.trim())).is_ok_and(|stat| !stat.contains(") Z "))
}
