//! A sandbox with the program of this build, and everything tests of it do again and again. What cannot be done is a
//! failure of the test, so nothing here returns an error.

mod asserts;
mod hooks;
pub mod http;
mod loops;
pub mod night;
mod tasks;
mod tmux;
mod ui_page;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::fake_agent::{AgentStep, FakeAgent};
use crate::process::{self, Finished};
use crate::sandbox::{Sandbox, taut_bin};

pub use crate::process::{lives, signal};
pub use asserts::{assert_decided, assert_denied, assert_silent, person, person_succeeds};
pub use hooks::{DAEMON, IN_PROCESS, LIMIT, walk};
pub use loops::{RunningLoop, summary};
pub use night::Night;
pub use tmux::TestTmux;
pub use ui_page::UiPage;

/// Long enough for a busy machine; nothing waits so long when all is well.
pub const PLENTY: Duration = Duration::from_secs(90);

/// A home, a project and the program.
#[derive(Debug)]
pub struct Stage {
    pub sandbox: Sandbox,
}

impl Stage {
    /// The program where it was built. A hook may start a daemon.
    #[must_use]
    pub fn new() -> Self {
        Self { sandbox: Sandbox::new(taut_bin().unwrap()).unwrap() }
    }

    /// A copy of the program in the home, as a user has it, and in front of `PATH`.
    #[must_use]
    pub fn installed() -> Self {
        Self { sandbox: Sandbox::with_copy_of(&taut_bin().unwrap()).unwrap() }
    }

    /// With the daemon of this home running.
    #[must_use]
    pub fn with_daemon() -> Self {
        Self::new().and_daemon()
    }

    /// Where everything is done in process.
    #[must_use]
    pub fn without_daemon() -> Self {
        Self::new().with_env("TAUT_NO_DAEMON", "1")
    }

    /// The same home with its daemon running.
    #[must_use]
    pub fn and_daemon(self) -> Self {
        self.start_daemon();
        self
    }

    /// One more variable for everything that runs here.
    #[must_use]
    pub fn with_env(self, name: &str, value: &str) -> Self {
        Self { sandbox: self.sandbox.with_env(name, value) }
    }

    pub fn start_daemon(&self) {
        self.succeed(&["daemon", "start"]);
    }

    pub fn taut(&self, args: &[&str]) -> Finished {
        self.sandbox.taut(args, b"").unwrap()
    }

    /// It must go well; gives what it printed.
    pub fn succeed(&self, args: &[&str]) -> String {
        let done = self.taut(args);
        assert!(done.success(), "{args:?}: {}{}", done.stdout_text(), done.stderr_text());
        done.stdout_text()
    }

    /// The objects a listing command prints.
    pub fn list(&self, args: &[&str]) -> Vec<Value> {
        objects(&self.succeed(args))
    }

    /// Every event that is stored.
    pub fn events(&self) -> Vec<Value> {
        self.list(&["events", "--json", "-n", "100000"])
    }

    /// `taut` with these arguments, not yet started.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = self.sandbox.command(self.sandbox.bin());
        command.args(args);
        command
    }

    /// An agent of that name.
    pub fn agent(&self, name: &str) -> FakeAgent {
        FakeAgent::new(&self.sandbox).with_env("TAUT_AGENT_ID", name)
    }

    /// An agent of that name at work.
    pub fn working(&self, name: &str) -> FakeAgent {
        let mut agent = self.agent(name);
        agent.play(&[AgentStep::start(), AgentStep::prompt("go")]).unwrap();
        agent
    }

    /// What `taut agents` says of an agent; empty when it does not know it.
    pub fn status_of(&self, agent: &str) -> String {
        let rows = self.list(&["agents", "--json"]);
        let row = rows.iter().find(|row| row["id"] == agent);
        row.map(|row| row["status"].as_str().unwrap().to_owned()).unwrap_or_default()
    }

    /// Writes the user's own configuration.
    pub fn configure(&self, text: &str) {
        let file = self.sandbox.home().join(".config/taut/config.toml");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    /// A file of the home; empty where there is none.
    pub fn home_file(&self, name: &str) -> String {
        fs::read_to_string(self.sandbox.home().join(name)).unwrap_or_default()
    }

    /// A path in the project.
    pub fn path(&self, path: &str) -> PathBuf {
        self.sandbox.project().join(path)
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A file of the project; empty where there is none.
    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap_or_default()
    }

    pub fn git(&self, args: &[&str]) -> String {
        let mut command = self.sandbox.command("git");
        command.args(args);
        process::run(command, b"", PLENTY).unwrap().stdout_text()
    }
}

impl Default for Stage {
    fn default() -> Self {
        Self::new()
    }
}

/// Writes a program through a child process. Written from here, another test's fork could hold the file open for
/// writing just when it is to be run, and the kernel would call it busy.
pub fn put_program(path: &Path, script: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut command = Command::new("sh");
    command.args(["-c", "cat > \"$0\" && chmod 755 \"$0\""]).arg(path);
    let done = process::run(command, script.as_bytes(), PLENTY).unwrap();
    assert!(done.success(), "{}: {}", path.display(), done.stderr_text());
}

/// One JSON object a line.
fn objects(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
