//! A second agent, known to these tests alone: guard, gates, memory and answers work for it, and nothing outside its
//! own file was made for it.

mod dialect;
mod recognised;

use crate::home::{Client, PipelineHome};
use crate::memory::{IMPLEMENT, Play};
use agents::Dialects;
use agents::settings::{GuardFailure, KnownClient, SettingsPlan};
use dialect::DIALECT;
use host::paths::PathVariables;
use host::settings_file::SettingsLevel;
use model::Level;
use pipeline::Response;
use serde_json::{Value, json};
use std::path::Path;

static BOTH: Dialects = Dialects(&[&DIALECT, agents::DEFAULT]);

/// A home with this configuration, and the agent that does not exist in it.
struct Example {
    stage: PipelineHome,
    client: Client,
}

impl Example {
    fn new(config: &str) -> Self {
        let stage = PipelineHome::speaking(BOTH);
        stage.write("home/.config/taut/config.toml", config);
        let client = stage.client("talk-1").speaking("example");
        let client = client.with("EXAMPLE_PROCESS", &std::process::id().to_string());
        Self { stage, client }
    }

    fn send(&mut self, what: &str, fields: Value) -> Response {
        let mut payload = json!({"what": what, "talk": self.client.session, "where": self.client.cwd});
        payload.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        self.stage.send_as("example", &self.client, payload.to_string().into_bytes())
    }

    fn call(&mut self, tool: &str, args: Value) -> Response {
        let nr = format!("n{}", self.stage.events().len());
        self.send("before", json!({"with": tool, "args": args, "nr": nr}))
    }

    fn run(&mut self, line: &str) -> Response {
        self.call("run", json!({"lines": [line]}))
    }
}

/// Why it was told no, in its own form; empty where it was told nothing.
fn refusal(served: &Response) -> String {
    let said: Value = serde_json::from_str(&served.answer.stdout).unwrap_or_default();
    assert!(served.answer.stdout.is_empty() || said["verdict"] == "no", "{}", served.answer.stdout);
    said["because"].as_str().unwrap_or_default().to_string()
}

#[test]
fn the_guard_denies_a_second_agents_shell_tool_in_that_agents_form() {
    let mut example = Example::new("");
    example.send("begin", json!({}));
    let served = example.run("rm -rf ~");
    assert!(refusal(&served).contains("[rm-root]"), "{}", served.answer.stdout);
    let event = served.event.unwrap();
    assert_eq!((event.verdict, event.tool.as_deref()), (Level::Deny, Some("run")));
    let told_as = event.detail["told_as"].as_str();
    assert_eq!((event.event.as_str(), told_as), ("PreToolUse", Some("before")), "one name for what all agents do");
    assert_eq!(refusal(&example.run("ls")), "");
}

#[test]
fn every_file_of_a_patch_is_judged() {
    let mut example = Example::new("");
    assert_eq!(refusal(&example.call("patch", json!({"files": ["src/a.rs", "src/b.rs"]}))), "");
    let reason = refusal(&example.call("patch", json!({"files": ["src/a.rs", "/etc/hosts"]})));
    assert!(reason.contains("/etc/hosts"), "{reason}");
}

#[test]
fn a_question_it_cannot_put_to_its_user_is_a_denial_and_stored_as_one() {
    let mut example = Example::new("");
    let served = example.call("open", json!({"files": [".env"]}));
    assert!(!refusal(&served).is_empty());
    assert_eq!(served.event.unwrap().verdict, Level::Deny);
}

#[test]
fn a_payload_cut_short_is_still_judged_by_its_own_fields() {
    let mut example = Example::new("");
    let bytes = br#"{"what":"before","talk":"t","with":"run","args":{"lines":"rm -rf /","mo"#.to_vec();
    let client = example.client.clone();
    let served = example.stage.send_as("example", &client, bytes);
    assert!(refusal(&served).contains("[rm-root]"), "{}", served.answer.stdout);
}

#[test]
fn g4_the_heartbeat_counts_a_second_agents_tools_and_its_log_opens_it() {
    let mut example = Example::new(IMPLEMENT);
    example.send("begin", json!({}));
    example.send("slash", json!({"words": "implement"}));
    example.run("taut effort phase '1: Plan'");
    for n in 1..=9 {
        // The warning at the third is context, which it cannot be given before a tool.
        assert_eq!(example.run(&format!("make {n}")).answer.stdout, "", "{n}");
        assert_eq!(example.call("list", json!({"items": [n]})).answer.stdout, "", "its own lists do not count");
    }
    assert!(refusal(&example.run("make 10")).contains("[heartbeat]"));
    assert_eq!(refusal(&example.run("taut log 'ten things were made'")), "");
    assert_eq!(refusal(&example.run("make 11")), "");
    assert_eq!(example.stage.efforts().len(), 1);
}

#[test]
fn context_waits_for_an_event_that_can_carry_it() {
    let mut example = Example::new("[context]\nroles = true\n");
    example.stage.write("acme/.example/roles/lead.md", "You lead this work.");
    example.client = example.client.clone().with("EXAMPLE_ROLE", "lead");
    assert_eq!(example.send("begin", json!({})).answer.stdout, "");
    let served = example.send("prompt", json!({"words": "go"}));
    let said: Value = serde_json::from_str(&served.answer.stdout).unwrap_or_default();
    assert!(said["note"].as_str().is_some_and(|note| note.contains("You lead this work.")), "{}", served.answer.stdout);
    assert_eq!(example.send("prompt", json!({"words": "on"})).answer.stdout, "", "it is told once");
}

#[test]
fn s6_its_context_is_measured_by_its_own_reader_and_windows() {
    let mut example = Example::new("[context]\nreserve = 0\n");
    example.stage.write("acme/pages", "250\n");
    let pages = example.stage.folder("acme/pages");
    example.send("begin", json!({ "pages": pages }));
    example.send("prompt", json!({"words": "go", "pages": pages}));
    let session = example.stage.sessions().pop().unwrap();
    assert_eq!((session.context_percent(), session.memo.dialect.as_deref()), (Some(25.0), Some("example")));
    assert_eq!(session.client.map(|client| client.pid), Some(std::process::id()));
}

#[test]
fn its_settings_are_found_and_edited_where_its_dialect_says() {
    let places = PathVariables { home: Some("/h".into()), ..PathVariables::default() };
    assert_eq!(SettingsLevel::User.path(&places, &DIALECT).unwrap(), Path::new("/h/.example/hooks.conf"));
    let project = SettingsLevel::Project("/p".into()).path(&places, &DIALECT).unwrap();
    assert_eq!(project, Path::new("/p/.example/hooks.conf"));
    let plan = SettingsPlan {
        command: "/b/taut".into(),
        client: KnownClient::Unknown,
        on_failure: GuardFailure::Continue,
        allow: Vec::new(),
        results: model::session::ResultsBy::Hooks,
    };
    let once = (DIALECT.settings.edit)("own\n", &plan).unwrap().text;
    assert_eq!((DIALECT.settings.inspect)(&once).unwrap().entries.len(), 3);
    assert_eq!((DIALECT.settings.remove)(&once, &[]).unwrap().text, "own\n");
}

#[test]
fn an_agent_that_nothing_is_known_of_is_recorded_and_answered_with_nothing() {
    let mut example = Example::new("");
    let client = example.client.clone();
    let call = json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_use_id": "t",
        "tool_input": {"command": "rm -rf /"},
    });
    for stdin in [call.to_string().into_bytes(), b"{\"hook_event_name\":\"PreTo".to_vec(), Vec::new()] {
        let served = example.stage.send_as("no\u{1b}[31msuch", &client, stdin);
        assert_eq!(served.answer, model::Answer::default());
        let event = example.stage.events().pop().unwrap();
        assert_eq!((event.event.as_str(), event.verdict), ("Unknown", Level::Pass));
        assert_eq!(event.agent, event.detail["unknown_agent"]);
        assert!(event.agent.contains("such") && !event.agent.contains('\u{1b}'), "{:?}", event.agent);
        assert!(event.reason.unwrap().contains("there is no agent"));
    }
    assert!(example.stage.sessions().is_empty());
}
