//! Agents that run the hooks in Claude Code's settings: guarded all the same, never stopped by them, and counted once
//! where their own settings have our hooks too.

use serde_json::{Value, json};
use testkit::real_client::agent;

use crate::home::{AgentHome, put};

fn calls(home: &AgentHome) -> Vec<Value> {
    home.events().into_iter().filter(|event| event["event"] == "PreToolUse").collect()
}

fn assert_each_call_is_stored_once(home: &AgentHome) {
    let calls = calls(home);
    let verdicts: Vec<_> = calls.iter().map(|call| &call["verdict"]).collect();
    assert_eq!(verdicts, ["deny", "pass", "pass"], "{calls:#?}");
    assert_all_is_its_own(home);
}

/// Whoever's line it was, the sessions are the agent's.
fn assert_all_is_its_own(home: &AgentHome) {
    let sessions = home.stage.list(&["sessions", "--all", "--json"]);
    let is_proof =
        |session: &&Value| session["host_session_id"].as_str().is_some_and(|id| id.starts_with("taut-proof"));
    let clients: Vec<_> = sessions.iter().filter(|one| !is_proof(one)).map(|one| &one["client"]).collect();
    assert!(!clients.is_empty() && clients.iter().all(|client| **client == home.agent.id()), "{sessions:#?}");
}

/// It runs those of the user.
#[test]
fn d1_grok_is_guarded_by_claude_codes_hooks_and_counted_once_with_its_own() {
    let Some(home) = AgentHome::of(&agent::GROK) else { return };
    home.taut(&["init", "--agent", "claude-code", "--yes"]);
    assert!(!home.stage.sandbox.home().join(".grok/hooks").exists(), "its own file is not there yet");
    home.forbidden_and_not();
    assert_each_call_is_stored_once(&home);
    let before = calls(&home).len();
    home.taut(&["init", "--agent", home.agent.id(), "--yes"]);
    home.pass();
    assert_eq!(calls(&home).len(), before + 1, "{:#?}", calls(&home));
    home.forbidden_and_not();
    assert_eq!(calls(&home).len(), before + 4);
    assert_all_is_its_own(&home);
}

/// It runs those of a repository that is trusted.
#[test]
fn d1_copilot_is_guarded_by_a_repositorys_claude_code_hooks_and_counted_once_with_its_own() {
    let Some(home) = AgentHome::of(&agent::COPILOT) else { return };
    let trusted = json!({"trusted_folders": [home.project()]});
    put(&home.stage.sandbox.home().join(".copilot/config.json"), &trusted.to_string());
    home.taut(&["init", "--project", "--agent", "claude-code", "--yes"]);
    assert!(!home.project().join(".github").exists(), "its own file is not there yet");
    home.forbidden_and_not();
    assert_each_call_is_stored_once(&home);
    let before = calls(&home).len();
    home.taut(&["init", "--agent", home.agent.id(), "--yes"]);
    home.pass();
    assert_eq!(calls(&home).len(), before + 1, "{:#?}", calls(&home));
    home.forbidden_and_not();
    assert_eq!(calls(&home).len(), before + 4);
    assert_all_is_its_own(&home);
}
