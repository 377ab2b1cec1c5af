//! A home in which one agent is set up against the scripted model, and what tests do in it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use testkit::real_client::agent::cannot_be_confined;
use testkit::stage::PLENTY;
use testkit::{AgentLaunch, AgentRun, DrivenAgent, Ending, RealClient, Script, Stage, Turn, process, skipped};

/// The floor of the guard: whoever asks, whatever is configured.
pub const FORBIDDEN: &str = "rm -rf ~/";
pub const REASON: &str = "removes the whole home folder";

/// Bytes by path.
pub type Files = BTreeMap<PathBuf, Vec<u8>>;

pub struct AgentHome {
    pub agent: &'static DrivenAgent,
    pub stage: Stage,
}

impl AgentHome {
    /// `None` where the agent cannot be had or confined, which has then been said.
    pub fn of(agent: &'static DrivenAgent) -> Option<Self> {
        let stage = Stage::installed();
        if cannot_be_confined(&stage.sandbox) {
            return None;
        }
        if let Err(cause) = RealClient::of(agent.client) {
            skipped(&cause.to_string());
            return None;
        }
        agent.settle(&stage.sandbox).unwrap();
        put(&stage.sandbox.home().join("letters/first.txt"), "dear");
        Some(Self { agent, stage })
    }

    pub fn run(&self, script: Script) -> AgentRun {
        let run = AgentLaunch::new(&self.stage.sandbox, self.agent, script).run().unwrap();
        assert_eq!(run.ending, Ending::Code(0), "{run:#?}");
        run
    }

    /// One call that nobody minds.
    pub fn pass(&self) -> AgentRun {
        let run = self.run(Script::new().main(self.agent.runs("touch made")).main(Turn::say("done")));
        assert!(self.takes("made"), "the call did not run: {run:#?}");
        run
    }

    /// A forbidden call and two that are not.
    pub fn forbidden_and_not(&self) -> AgentRun {
        let written = self.project().join("written");
        let script = Script::new()
            .main(self.agent.runs(FORBIDDEN))
            .main(self.agent.runs("touch made"))
            .main(self.agent.writes(&written, "words"))
            .main(Turn::say("done"));
        let run = self.run(script);
        let letter = fs::read_to_string(self.stage.sandbox.home().join("letters/first.txt"));
        assert_eq!(letter.unwrap_or_default(), "dear", "the forbidden call ran: {run:#?}");
        assert!(self.takes("made") && self.takes("written"), "a call did not run: {run:#?}");
        let sent = self.sent(&run);
        assert!(sent.contains(REASON), "the model was not told why: {sent}");
        run
    }

    /// `taut` by a person: no agent is above, whatever runs the test, and a daemon that it starts does not outlive it.
    pub fn taut(&self, args: &[&str]) {
        let mut command = self.stage.sandbox.alone(self.stage.sandbox.bin()).unwrap();
        command.args(args);
        let done = process::run(command, b"", PLENTY).unwrap();
        assert!(done.success(), "{args:?}: {}{}", done.stdout_text(), done.stderr_text());
    }

    /// What is stored, but for the proofs that installations end with.
    pub fn events(&self) -> Vec<Value> {
        let is_proof = |event: &Value| event["host_session_id"].as_str().is_some_and(|id| id.starts_with("taut-proof"));
        self.stage.events().into_iter().filter(|event| !is_proof(event)).collect()
    }

    pub fn project(&self) -> PathBuf {
        self.stage.sandbox.project()
    }

    /// Whether the project has this file, which it then has no more.
    pub fn takes(&self, name: &str) -> bool {
        fs::remove_file(self.project().join(name)).is_ok()
    }

    /// All the model was sent, without the folder of the test, whose name has ours in it.
    pub fn sent(&self, run: &AgentRun) -> String {
        run.requests.all_text_sent().replace(&self.stage.sandbox.root().display().to_string(), "")
    }

    /// The files of the home that are not Taut's own.
    pub fn files(&self) -> Files {
        let mut files = Files::new();
        collect(&self.stage.sandbox.home(), &mut files);
        files.retain(|path, _| !path.ends_with("taut/config.toml"));
        files
    }
}

fn collect(folder: &Path, into: &mut Files) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            collect(&path, into);
        } else {
            into.insert(path.clone(), fs::read(&path).unwrap_or_default());
        }
    }
}

pub fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}
