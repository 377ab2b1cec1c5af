//! A home with nothing in it, and what is shown there of a program that was installed.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use release::VERSION;
use serde_json::{Value, json};
use testkit::{Finished, Sandbox, process};

const LIMIT: Duration = Duration::from_secs(120);

/// The folder that `release pack` has filled.
pub fn packages() -> PathBuf {
    env::var_os("TAUT_PACKAGES").map(PathBuf::from).expect("TAUT_PACKAGES: a folder that `release pack` has filled")
}

/// One way of installing.
pub struct Installation {
    pub sandbox: Sandbox,
    prefix: PathBuf,
}

impl Installation {
    pub fn new(way: &str) -> Self {
        // Nothing is run by a name of this sandbox, so the program of it is never asked for.
        let sandbox = Sandbox::new(PathBuf::from("taut")).unwrap().with_env("TAUT_NO_DAEMON", "1");
        let prefix = sandbox.root().join(way);
        fs::create_dir(&prefix).unwrap();
        Self { sandbox, prefix }
    }

    pub fn with(self, name: &str, value: &str) -> Self {
        Self { sandbox: self.sandbox.with_env(name, value), ..self }
    }

    pub fn root(&self) -> &Path {
        self.sandbox.root()
    }

    pub fn home(&self) -> PathBuf {
        self.sandbox.home()
    }

    /// Where the package goes.
    pub fn prefix(&self) -> PathBuf {
        self.prefix.clone()
    }

    /// What a command prints, which must succeed.
    pub fn run(&self, program: &str, args: &[&str]) -> String {
        let mut command = self.sandbox.command(program);
        command.args(args).current_dir(self.root());
        let done = finished(command, b"");
        assert!(done.success(), "{program} {args:?}: {}{}", done.stdout_text(), done.stderr_text());
        done.stdout_text()
    }

    /// The same for somebody who has the program's folder on their PATH, and its `share` among the folders of data.
    pub fn run_beside(&self, bin: &Path, program: &str, args: &[&str]) -> String {
        let path = env::join_paths([bin, Path::new("/usr/bin"), Path::new("/bin")]).unwrap();
        let data = env::join_paths([&bin.with_file_name("share"), Path::new("/usr/share")]).unwrap();
        let mut command = self.sandbox.command(program);
        command.args(args).current_dir(self.root()).env("PATH", path).env("XDG_DATA_DIRS", data);
        let done = finished(command, b"");
        assert!(done.success(), "{program} {args:?}: {}{}", done.stdout_text(), done.stderr_text());
        done.stdout_text()
    }

    /// Its version, `taut init` in this home, and a denial through the line that it wrote.
    pub fn proves_itself(&self, program: &Path) {
        let name = program.to_str().unwrap();
        assert_eq!(self.run(name, &["version"]), format!("taut {VERSION}\n"));
        self.run(name, &["init", "--yes", "--agent", "claude-code"]);
        let settings = fs::read_to_string(self.sandbox.claude_dir().join("settings.json")).unwrap();
        let settings: Value = serde_json::from_str(&settings).unwrap();
        let line = &settings["hooks"]["PreToolUse"][0]["hooks"][0];
        let command = line["command"].as_str().unwrap();
        // A script in front of the program would cost more than the program does.
        assert!(fs::read(command).unwrap().starts_with(b"\x7fELF"), "{command} is no program");
        self.line_denies(line);
    }

    fn line_denies(&self, line: &Value) {
        let call = json!({
            "session_id": "s", "cwd": "/", "hook_event_name": "PreToolUse", "tool_use_id": "1", "tool_name": "Bash",
            "tool_input": {"command": "rm -rf ~"},
        });
        let mut command = self.sandbox.command(line["command"].as_str().unwrap());
        command.args(line["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()));
        let answered = finished(command, call.to_string().as_bytes()).stdout_text();
        assert!(answered.contains("\"permissionDecision\":\"deny\""), "{line}: {answered}");
    }
}

fn finished(command: Command, input: &[u8]) -> Finished {
    let said = format!("{command:?}");
    process::run(command, input, LIMIT).unwrap_or_else(|cause| panic!("{said}: {cause}"))
}
