//! What is shown of every agent: three runs, and what they left in the files, with the model and in the record.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use testkit::real_client::agent::cannot_be_confined;
use testkit::scripted_model::ModelRequest;
use testkit::stage::PLENTY;
use testkit::{
    AgentLaunch, AgentRun, DrivenAgent, Ending, RealClient, RequestKind, Script, Stage, Turn, process, skipped,
};

/// The floor of the guard: whoever asks, whatever is configured.
const FORBIDDEN: &str = "rm -rf ~/";
const REASON: &str = "removes the whole home folder";

/// A file of the project that is told to the model at the start of a session.
const TOLD: &str = "Remember the marmalade.";
const CONFIG: &str = "[context]\ncore = [\"TODAY.md\"]\n";

/// Where an agent hands what Taut says to its model.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Beginning,
    AfterTool,
    Nowhere,
}

pub struct Proof {
    agent: &'static DrivenAgent,
    stage: Stage,
    untold: Vec<&'static str>,
    context: Place,
}

impl Proof {
    pub fn new(agent: &'static DrivenAgent) -> Self {
        Self { agent, stage: Stage::installed(), untold: Vec::new(), context: Place::Beginning }
    }

    /// Events that the agent does not tell, or not always.
    pub fn without(mut self, events: &[&'static str]) -> Self {
        self.untold = events.to_vec();
        self
    }

    pub fn context(mut self, place: Place) -> Self {
        self.context = place;
        self
    }

    pub fn carry_out(self) {
        if cannot_be_confined(&self.stage.sandbox) {
            return;
        }
        if let Err(cause) = RealClient::of(self.agent.client) {
            skipped(&cause.to_string());
            return;
        }
        self.agent.settle(&self.stage.sandbox).unwrap();
        let without = self.pass();
        let before = self.files();
        let changed = self.install_twice_and_once_undone(&before);
        let quiet = self.pass();
        self.assert_nothing_was_said(&without, &quiet);
        self.assert_a_call_is_stopped_and_others_run();
        self.uninstall();
        let after = self.files();
        for path in changed {
            assert_eq!(after.get(&path), before.get(&path), "{} after the uninstall", path.display());
        }
    }
}

impl Proof {
    /// One call that nobody minds.
    fn pass(&self) -> AgentRun {
        let run = self.run(Script::new().main(self.agent.runs("touch made")).main(Turn::say("done")));
        assert!(self.takes("made"), "the call did not run: {run:#?}");
        run
    }

    fn assert_nothing_was_said(&self, without: &AgentRun, with: &AgentRun) {
        let [without_lines, with_lines] = [without, with].map(|run| self.sent(run));
        let ours: Vec<_> = with_lines
            .lines()
            .filter(|line| line.to_ascii_lowercase().contains("taut") && !without_lines.contains(line))
            .collect();
        assert!(ours.is_empty(), "said to the model: {ours:#?}");
        assert_eq!(lengths(with), lengths(without), "the model was sent more, or less");
    }

    fn assert_a_call_is_stopped_and_others_run(&self) {
        let (home, project) = (self.stage.sandbox.home(), self.stage.sandbox.project());
        let letter = home.join("letters/first.txt");
        put(&letter, "dear");
        put(&project.join("TODAY.md"), TOLD);
        put(&project.join(".taut/config.toml"), CONFIG);
        let before = self.stage.events().len();
        let script = Script::new()
            .main(self.agent.runs(FORBIDDEN))
            .main(self.agent.runs("touch made"))
            .main(self.agent.writes(&project.join("written"), "words"))
            .main(Turn::say("done"));
        let run = self.run(script);
        assert_eq!(fs::read_to_string(&letter).unwrap(), "dear", "the file system is touched: {run:#?}");
        assert!(self.takes("made") && self.takes("written"), "a call did not run: {run:#?}");
        let sent = self.sent(&run);
        assert!(sent.contains(REASON), "the model was not told why: {sent}");
        assert_eq!(sent.contains(TOLD), self.context != Place::Nowhere, "what the model was told: {sent}");
        self.assert_recorded(&self.stage.events().split_off(before));
    }

    fn assert_recorded(&self, events: &[Value]) {
        let named = |name: &str| events.iter().filter(|event| event["event"] == name).collect::<Vec<_>>();
        for name in ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"] {
            assert!(self.untold.contains(&name) || !named(name).is_empty(), "no {name} in {events:#?}");
        }
        let calls = named("PreToolUse");
        let verdicts: Vec<_> = calls.iter().map(|call| &call["verdict"]).collect();
        assert_eq!(verdicts, ["deny", "pass", "pass"], "{calls:#?}");
        assert_eq!(calls[0]["rules"], serde_json::json!(["rm-root"]));
        assert_eq!(calls[0]["tool"], calls[1]["tool"]);
        assert_ne!(calls[1]["tool"], calls[2]["tool"]);
        let session = &calls[0]["host_session_id"];
        assert!(session.as_str().is_some_and(|id| !id.is_empty()), "{calls:#?}");
        assert!(events.iter().all(|event| &event["host_session_id"] == session), "of one session: {events:#?}");
        let ended = self.stage.list(&["sessions", "--all", "--json"]);
        let ended = ended.iter().find(|row| &row["host_session_id"] == session).unwrap();
        assert_eq!(ended["state"] == "ended", !self.untold.contains(&"SessionEnd"), "{ended:#}");
    }

    /// Installs, takes it back, and installs again. Gives the files that an installation changes.
    fn install_twice_and_once_undone(&self, before: &Files) -> Vec<PathBuf> {
        self.install();
        let installed = self.files();
        let changed: Vec<_> = installed.iter().filter(|(path, bytes)| before.get(*path) != Some(bytes)).collect();
        assert!(!changed.is_empty(), "the installation changes nothing");
        let changed = changed.into_iter().map(|(path, _)| path.clone()).collect();
        self.uninstall();
        assert_eq!(self.files(), *before, "what the uninstall leaves");
        self.install();
        assert_eq!(self.files(), installed, "what a second installation makes");
        changed
    }

    fn install(&self) {
        self.taut(&["init", "--agent", self.agent.id(), "--yes"]);
    }

    fn uninstall(&self) {
        self.taut(&["uninstall", "--agent", self.agent.id(), "--yes"]);
    }

    /// By a person: no agent is above, whatever runs the test, and a daemon that it starts does not outlive it.
    fn taut(&self, args: &[&str]) {
        let mut command = self.stage.sandbox.alone(self.stage.sandbox.bin()).unwrap();
        command.args(args);
        let done = process::run(command, b"", PLENTY).unwrap();
        assert!(done.success(), "{args:?}: {}{}", done.stdout_text(), done.stderr_text());
    }

    fn run(&self, script: Script) -> AgentRun {
        let run = AgentLaunch::new(&self.stage.sandbox, self.agent, script).run().unwrap();
        assert_eq!(run.ending, Ending::Code(0), "{run:#?}");
        run
    }

    /// Whether the project has this file, which it then has no more.
    fn takes(&self, name: &str) -> bool {
        fs::remove_file(self.stage.sandbox.project().join(name)).is_ok()
    }

    /// All the model was sent, without the folder of the test, whose name has ours in it.
    fn sent(&self, run: &AgentRun) -> String {
        run.requests.all_text_sent().replace(&self.stage.sandbox.root().display().to_string(), "")
    }

    /// The files of the home that are not Taut's own.
    fn files(&self) -> Files {
        let mut files = Files::new();
        collect(&self.stage.sandbox.home(), &mut files);
        files.retain(|path, _| !path.components().any(|part| part.as_os_str() == "taut"));
        files
    }
}

type Files = BTreeMap<PathBuf, Vec<u8>>;

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

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// How many entries each request of the conversation had.
fn lengths(run: &AgentRun) -> Vec<usize> {
    run.requests.of(RequestKind::Main).map(ModelRequest::entries).collect()
}
