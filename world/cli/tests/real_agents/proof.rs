//! What is shown of every agent: three runs, and what they left in the files, with the model and in the record.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::{Value, json};
use testkit::scripted_model::ModelRequest;
use testkit::{AgentRun, DrivenAgent, RequestKind};

use crate::home::{AgentHome, Files, NAME, shown};

/// What somebody has to say to the agent.
const TOLD: &str = "Remember the marmalade.";

/// What most agents tell of a run.
const EVENTS: [&str; 6] = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"];

/// What is expected of an agent.
pub struct Proof {
    agent: &'static DrivenAgent,
    untold: Vec<&'static str>,
}

impl Proof {
    pub fn of(agent: &'static DrivenAgent) -> Self {
        Self { agent, untold: Vec::new() }
    }

    /// Events that the agent does not tell, or not always.
    pub fn without(mut self, events: &[&'static str]) -> Self {
        self.untold = events.to_vec();
        self
    }

    pub fn carry_out(self) {
        let Some(home) = AgentHome::of(self.agent) else { return };
        let without = home.pass();
        let before = home.files();
        let changed = install_take_back_and_install(&home, &before);
        let quiet = home.pass();
        assert_nothing_was_said(&home, &without, &quiet);
        self.assert_a_call_is_stopped_and_others_run(&home);
        uninstall(&home);
        let after = home.files();
        let left: Vec<_> = differing(&before, &after).into_iter().filter(|path| changed.contains(path)).collect();
        assert_eq!(left, Vec::<PathBuf>::new(), "what the uninstall leaves after the agent has run");
    }

    fn assert_a_call_is_stopped_and_others_run(&self, home: &AgentHome) {
        home.taut(&["send", NAME, TOLD]);
        let before = home.events().len();
        let run = home.forbidden_and_not();
        assert!(home.sent(&run).contains(TOLD), "the model was not told: {}", shown(&run));
        self.assert_recorded(home, &home.events().split_off(before));
    }

    fn assert_recorded(&self, home: &AgentHome, events: &[Value]) {
        let named = |name: &str| events.iter().filter(|event| event["event"] == name).collect::<Vec<_>>();
        for name in EVENTS {
            assert!(self.untold.contains(&name) || !named(name).is_empty(), "no {name} in {events:#?}");
        }
        let calls = named("PreToolUse");
        let verdicts: Vec<_> = calls.iter().map(|call| &call["verdict"]).collect();
        assert_eq!(verdicts, ["deny", "pass", "pass"], "{calls:#?}");
        assert_eq!(calls[0]["rules"], json!(["rm-root"]));
        assert_eq!(calls[0]["tool"], calls[1]["tool"]);
        assert_ne!(calls[1]["tool"], calls[2]["tool"]);
        let session = &calls[0]["host_session_id"];
        assert!(session.as_str().is_some_and(|id| !id.is_empty()), "{calls:#?}");
        assert!(events.iter().all(|event| &event["host_session_id"] == session), "of one session: {events:#?}");
        let sessions = home.stage.list(&["sessions", "--all", "--json"]);
        let session = sessions.iter().find(|row| &row["host_session_id"] == session).unwrap();
        assert_eq!(session["state"] == "ended", !self.untold.contains(&"SessionEnd"), "{session:#}");
    }
}

/// Gives the files that an installation changes.
fn install_take_back_and_install(home: &AgentHome, before: &Files) -> Vec<PathBuf> {
    install(home);
    let installed = home.files();
    let changed = differing(before, &installed);
    assert!(!changed.is_empty(), "the installation changes nothing");
    uninstall(home);
    assert_eq!(differing(before, &home.files()), Vec::<PathBuf>::new(), "what the uninstall leaves");
    install(home);
    assert_eq!(
        differing(&installed, &home.files()),
        Vec::<PathBuf>::new(),
        "what a second installation makes otherwise"
    );
    changed
}

fn differing(one: &Files, other: &Files) -> Vec<PathBuf> {
    let paths: BTreeSet<_> = one.keys().chain(other.keys()).collect();
    paths.into_iter().filter(|path| one.get(*path) != other.get(*path)).cloned().collect()
}

fn install(home: &AgentHome) {
    home.taut(&["init", "--agent", home.agent.id(), "--yes"]);
}

fn uninstall(home: &AgentHome) {
    // Of an agent that does not tell its end: it ended with its namespace, which nobody can look into any more.
    home.stage.sandbox.forget_clients().unwrap();
    home.taut(&["uninstall", "--agent", home.agent.id(), "--yes"]);
}

/// A run in which nothing is wrong is the same with and without Taut.
fn assert_nothing_was_said(home: &AgentHome, without: &AgentRun, with: &AgentRun) {
    let [without_taut, with_taut] = [without, with].map(|run| home.sent(run));
    let is_ours = |line: &&str| line.to_ascii_lowercase().contains("taut") && !without_taut.contains(line);
    let ours: Vec<_> = with_taut.lines().filter(is_ours).collect();
    assert!(ours.is_empty(), "said to the model: {ours:#?}");
    let lengths = |run: &AgentRun| run.requests.of(RequestKind::Main).map(ModelRequest::entries).collect::<Vec<_>>();
    assert_eq!(lengths(with), lengths(without), "the model was sent more, or less");
}
