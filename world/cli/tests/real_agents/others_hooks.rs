//! Agents that run the hooks in Claude Code's settings: guarded all the same, never stopped by them, and counted once
//! where their own settings have our hooks too.

use serde_json::Value;
use testkit::real_client::agent;

use crate::home::{AgentHome, put};

fn calls(home: &AgentHome) -> Vec<Value> {
    home.events().into_iter().filter(|event| event["event"] == "PreToolUse").collect()
}

fn assert_each_call_is_stored_once(home: &AgentHome) {
    let calls = calls(home);
    let verdicts: Vec<_> = calls.iter().map(|call| &call["verdict"]).collect();
    assert_eq!(verdicts, ["deny", "pass", "pass"], "{calls:#?}");
}

/// It runs those of the user.
#[test]
fn d1_grok_is_guarded_by_claude_codes_hooks_and_counted_once_with_its_own() {
    let Some(home) = AgentHome::of(&agent::GROK) else { return };
    home.taut(&["init", "--agent", "claude-code", "--yes"]);
    home.forbidden_and_not();
    assert_each_call_is_stored_once(&home);
    let before = calls(&home).len();
    home.taut(&["init", "--agent", home.agent.id(), "--yes"]);
    home.pass();
    let counted = calls(&home).split_off(before);
    assert_eq!(counted.len(), 1, "{counted:#?}");
}

/// It runs those of a repository that is trusted.
#[test]
fn d1_copilot_is_guarded_by_a_repositorys_claude_code_hooks_and_counted_once_with_its_own() {
    let Some(home) = AgentHome::of(&agent::COPILOT) else { return };
    let trusted = serde_json::json!({"trusted_folders": [home.project()]});
    put(&home.stage.sandbox.home().join(".copilot/config.json"), &trusted.to_string());
    home.taut(&["init", "--agent", "claude-code", "--project", "--yes"]);
    home.forbidden_and_not();
    assert_each_call_is_stored_once(&home);
    let before = calls(&home).len();
    home.taut(&["init", "--agent", home.agent.id(), "--yes"]);
    home.pass();
    let counted = calls(&home).split_off(before);
    assert_eq!(counted.len(), 1, "{counted:#?}");
}
