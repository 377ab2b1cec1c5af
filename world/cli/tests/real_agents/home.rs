//! A home in which one agent is set up against the scripted model, and what tests do in it.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;
use testkit::real_client::agent::cannot_be_confined;
use testkit::{AgentLaunch, AgentRun, DrivenAgent, Ending, RealClient, Script, Stage, Turn, skipped};

/// The floor of the guard: whoever asks, whatever is configured.
pub const FORBIDDEN: &str = "rm -rf ~/";
pub const REASON: &str = "removes the whole home folder";

/// What the agent is called in the fleet.
pub const NAME: &str = "ada";

const MOST: u64 = 1 << 20;

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
        let launch = AgentLaunch::new(&self.stage.sandbox, self.agent, script).env("TAUT_AGENT_ID", NAME);
        let run = launch.run().unwrap();
        assert_eq!(run.ending, Ending::Code(0), "{}", shown(&run));
        run
    }

    /// One call that nobody minds.
    pub fn pass(&self) -> AgentRun {
        let run = self.run(Script::new().main(self.agent.runs("touch made")).main(Turn::say("done")));
        assert!(self.takes("made"), "the call did not run: {}", shown(&run));
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
        assert_eq!(letter.unwrap_or_default(), "dear", "the forbidden call ran: {}", shown(&run));
        assert!(self.takes("made") && self.takes("written"), "a call did not run: {}", shown(&run));
        assert!(self.sent(&run).contains(REASON), "the model was not told why: {}", shown(&run));
        run
    }

    /// `taut` by a person who agrees: no agent is above, whatever runs the test, and a daemon that it starts does not
    /// outlive it.
    pub fn taut(&self, args: &[&str]) {
        let done = self.stage.sandbox.at_terminal(args, "y\ny\n", &[]).unwrap();
        let [said, failed] = [&done.stdout, &done.stderr].map(|bytes| String::from_utf8_lossy(bytes));
        assert!(done.status.success(), "{args:?}: {said}{failed}");
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

    /// The files of the home that are kept, but for Taut's own.
    pub fn files(&self) -> Files {
        let mut files = Files::new();
        collect(&self.stage.sandbox.home(), &mut files);
        // What a client leaves that is only asked for its version.
        let passing = |path: &PathBuf| path.components().any(|part| part.as_os_str() == "tmp");
        files.retain(|path, _| {
            !path.ends_with("taut/config.toml")
                && !passing(&path.strip_prefix(self.stage.sandbox.home()).unwrap().into())
        });
        files
    }
}

fn collect(folder: &Path, into: &mut Files) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            collect(&path, into);
        } else {
            let mut bytes = Vec::new();
            // Settings are small, and what an agent unpacks at its first start is not.
            let read = fs::File::open(&path).and_then(|file| file.take(MOST).read_to_end(&mut bytes));
            into.insert(path, read.map(|_| bytes).unwrap_or_default());
        }
    }
}

/// What a person looks at first when a run went wrong.
pub fn shown(run: &AgentRun) -> String {
    let AgentRun { stdout, stderr, ending, requests, .. } = run;
    let last = requests.0.last().map(testkit::scripted_model::ModelRequest::text_sent).unwrap_or_default();
    let end: Vec<_> = last.lines().rev().take(30).collect();
    let end = end.into_iter().rev().collect::<Vec<_>>().join("\n");
    format!("{ending:?}\n--- stdout\n{stdout}\n--- stderr\n{stderr}\n--- the last that was sent\n{end}")
}

pub fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}
