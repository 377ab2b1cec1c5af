//! What real agents were seen to send, in the order they send it.

use super::fleet;
use crate::home::{Client, PipelineHome, decision};
use model::row::AgentStatus;
use serde_json::{Value, json};

/// A home in which every agent is understood, and one client of one of them.
struct Captured {
    stage: PipelineHome,
    client: Client,
}

impl Captured {
    fn new(agent: &'static str) -> Self {
        let stage = PipelineHome::new();
        let mut client = stage.client("s1").speaking(agent);
        client.env.clear();
        Self { stage, client }
    }

    /// A stored input, in this project, with these fields in place of its own.
    fn send(&mut self, file: &str, fields: Value) -> pipeline::Response {
        let path = format!("{}/../../corpus/{}/{file}.json", env!("CARGO_MANIFEST_DIR"), self.client.agent);
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let mut payload: Value = serde_json::from_str(&text).unwrap();
        payload["cwd"] = json!(self.client.cwd);
        for (name, value) in fields.as_object().unwrap() {
            // Some agents say it twice.
            for name in [name.clone(), camel(name)] {
                if payload.get(&name).is_some() {
                    payload[name] = value.clone();
                }
            }
        }
        self.stage.send_bytes(&self.client, payload.to_string().into_bytes())
    }

    /// The session and the helper of the last event.
    fn last(&mut self) -> (Option<String>, Option<String>) {
        let event = self.stage.events().pop().unwrap();
        (event.session, event.sub_agent)
    }

    fn only_session(&mut self) -> String {
        let all = self.stage.sessions();
        assert_eq!(all.len(), 1, "{all:?}");
        all[0].id.clone()
    }
}

fn camel(name: &str) -> String {
    let mut parts = name.split('_');
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |name, part| name + &part[..1].to_uppercase() + &part[1..])
}

#[test]
fn s10_droids_helpers_are_known_by_the_one_event_that_names_their_parent() {
    let mut droid = Captured::new("droid");
    let (parent, child) = (json!({"session_id": "p"}), json!({"session_id": "c"}));
    droid.send("SessionStart", parent.clone());
    let session = droid.only_session();
    droid.send("PreToolUse.Task", parent.clone());
    droid.send("SessionStart.subagent", json!({"session_id": "c", "calling_session_id": "p"}));
    let helpers = (Some(session.clone()), Some("c".to_string()));
    for file in ["UserPromptSubmit.subagent", "PreToolUse.subagent", "Stop.subagent", "SessionEnd.subagent"] {
        droid.send(file, child.clone());
        assert_eq!(droid.last(), helpers, "{file}");
    }
    droid.send("SubagentStop", parent.clone());
    assert_eq!(droid.only_session(), session);
    assert!(droid.stage.session(&session).open());
    let helpers = droid.stage.pipeline.store().unwrap().sub_sessions(&session).unwrap();
    assert_eq!((helpers.len(), helpers[0].ended_at.is_some()), (1, true));
    droid.send("SessionEnd", parent);
    assert!(!droid.stage.session(&session).open());
}

#[test]
fn s1_droids_compaction_goes_on_as_the_same_agent() {
    let mut droid = Captured::new("droid");
    let (old, new) = (json!({"session_id": "old"}), json!({"session_id": "new", "previous_session_id": "old"}));
    droid.send("SessionStart", old.clone());
    let first = droid.stage.sessions().remove(0);
    droid.send("PreToolUse", old.clone());
    droid.send("PreCompact", old.clone());
    droid.send("SessionStart.resume", old.clone());
    droid.send("SessionStart.compact", new.clone());
    droid.send("SessionEnd", old.clone());
    droid.send("PreToolUse", new.clone());
    let last = droid.stage.sessions().pop().unwrap();
    assert_eq!((&last.agent, &last.conversation), (&first.agent, &first.conversation));
    assert_eq!((last.host_session.as_deref(), last.open()), (Some("new"), true));
    assert_eq!(fleet(&mut droid.stage), std::slice::from_ref(&first.agent));
    droid.send("SessionEnd", new);
    assert!(droid.stage.sessions().iter().all(|session| !session.open()));
}

#[test]
fn s10_groks_helpers_are_known_by_what_their_parent_says_before_or_after() {
    for told_first in [true, false] {
        let mut grok = Captured::new("grok");
        let (parent, child) = (json!({"session_id": "p"}), json!({"session_id": "c", "subagent_id": "c"}));
        let told = json!({"session_id": "p", "subagent_id": "c"});
        grok.send("SessionStart", parent.clone());
        grok.send("UserPromptSubmit", parent.clone());
        let session = grok.only_session();
        if told_first {
            grok.send("SubagentStart", told.clone());
        }
        grok.send("UserPromptSubmit.subagent", child.clone());
        let served = grok.send("PreToolUse.subagent", with_input(child.clone(), "rm -rf /"));
        assert_eq!(decision(&served).as_deref(), Some("deny"), "told first {told_first}");
        if !told_first {
            grok.send("SubagentStart", told);
        }
        for file in ["PreToolUse.subagent", "SubagentStop", "SessionEnd.subagent"] {
            grok.send(file, child.clone());
            assert_eq!(grok.last(), (Some(session.clone()), Some("c".into())), "{file}, told first {told_first}");
        }
        grok.send("Stop.shutdown", child);
        assert_eq!(grok.only_session(), session, "told first {told_first}");
        let agent = grok.stage.session(&session).agent;
        assert_eq!(fleet(&mut grok.stage), std::slice::from_ref(&agent));
        assert_eq!(grok.stage.agent(&agent).status, AgentStatus::Working, "its own turn goes on");
        grok.send("Stop", parent.clone());
        grok.send("SessionEnd", parent.clone());
        grok.send("Stop.shutdown", parent);
        assert!(!grok.stage.session(&session).open());
        assert_eq!(grok.only_session(), session, "what comes after the end opens nothing");
    }
}

fn with_input(mut fields: Value, command: &str) -> Value {
    fields["tool_input"] = json!({"command": command, "description": "x"});
    fields
}
