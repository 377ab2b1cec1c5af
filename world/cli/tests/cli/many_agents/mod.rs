//! `taut init`, `taut uninstall`, `taut doctor` and the overview where several agents are installed.

mod choice;
mod doctor;
mod leave;
mod offer;

use agents::Dialect;
use agents::dialect::Tried;
use host::paths::PathVariables;
use host::settings_file::SettingsLevel;
use serde_json::Value;
use std::path::{Path, PathBuf};
use testkit::{Finished, Sandbox};

/// A home where the programs of these agents say a version, and no other agent is.
struct AgentsHome {
    sandbox: Sandbox,
}

impl AgentsHome {
    fn with(ids: &[&str]) -> Self {
        let sandbox = Sandbox::with_copy_of(Path::new(env!("CARGO_BIN_EXE_taut"))).unwrap();
        let path = format!("{}:/usr/bin:/bin", sandbox.root().join("bin").display());
        let home = Self { sandbox: sandbox.with_env("TAUT_NO_DAEMON", "1").with_env("PATH", path) };
        // What the sandbox has for Claude Code would be an agent that is here.
        std::fs::remove_dir_all(home.sandbox.claude_dir()).unwrap();
        ids.iter().for_each(|id| home.put_program(id));
        home
    }

    fn put_program(&self, id: &str) {
        let program = agents::ALL.find(id).unwrap().settings.versions.program;
        testkit::stage::put_program(&self.sandbox.root().join("bin").join(program), "#!/bin/sh\necho 9.8.7\n");
    }

    /// An agent's file of the user.
    fn file(&self, id: &str) -> PathBuf {
        self.file_of(agents::ALL.find(id).unwrap())
    }

    fn file_of(&self, dialect: &Dialect) -> PathBuf {
        let places = PathVariables { home: Some(self.sandbox.home()), ..PathVariables::default() };
        SettingsLevel::User.path(&places, dialect).unwrap()
    }

    fn text(&self, id: &str) -> Option<String> {
        std::fs::read_to_string(self.file(id)).ok()
    }

    fn write(&self, path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn taut(&self, args: &[&str]) -> Finished {
        self.sandbox.taut(args, b"").unwrap()
    }

    #[track_caller]
    fn works(&self, args: &[&str]) -> String {
        let ended = self.taut(args);
        assert_eq!(ended.code(), Some(0), "taut {args:?}: {}{}", ended.stdout_text(), ended.stderr_text());
        ended.stdout_text()
    }

    #[track_caller]
    fn fails(&self, args: &[&str], code: i32) -> String {
        let ended = self.taut(args);
        assert_eq!(ended.code(), Some(code), "taut {args:?}: {}{}", ended.stdout_text(), ended.stderr_text());
        ended.stderr_text()
    }

    fn objects(&self, args: &[&str]) -> Vec<Value> {
        self.taut(args).stdout_text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Somebody at a terminal types these answers.
    fn at_terminal(&self, args: &[&str], typed: &str) -> (Option<i32>, String) {
        let ended = self.sandbox.at_terminal(args, typed, &[]).unwrap();
        let said = [ended.stdout, ended.stderr].concat();
        (ended.status.code(), String::from_utf8_lossy(&said).into_owned())
    }

    /// The agents whose files hold our hooks.
    fn installed(&self) -> Vec<&'static str> {
        let holds = |dialect: &&Dialect| {
            let text = std::fs::read_to_string(self.file_of(dialect)).unwrap_or_default();
            (dialect.settings.inspect)(&text).is_ok_and(|found| !found.entries.is_empty())
        };
        agents::ALL.0.iter().copied().filter(holds).map(Dialect::id).collect()
    }
}

/// Those that were tried on the real agent.
fn tried() -> Vec<&'static Dialect> {
    agents::ALL.0.iter().copied().filter(|dialect| dialect.tried != Tried::FromDocumentation).collect()
}
