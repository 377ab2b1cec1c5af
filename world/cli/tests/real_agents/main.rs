//! The product under every agent that runs offline, each the same way. Needs the feature `real-client`, and npm and pip or
//! a filled cache.

mod proof;

use proof::{Place, Proof};
use testkit::real_client::agent;

#[test]
fn d1_codex_is_guarded_told_recorded_and_left_as_it_was() {
    Proof::new(&agent::CODEX).carry_out();
}

#[test]
fn d1_gemini_is_guarded_told_recorded_and_left_as_it_was() {
    Proof::new(&agent::GEMINI).carry_out();
}

#[test]
fn d1_copilot_is_guarded_told_recorded_and_left_as_it_was() {
    Proof::new(&agent::COPILOT).carry_out();
}

#[test]
fn d1_qwen_is_guarded_told_recorded_and_left_as_it_was() {
    Proof::new(&agent::QWEN).without(&["SessionEnd"]).carry_out();
}

/// Without a screen it tells no prompt.
#[test]
fn d1_droid_is_guarded_told_recorded_and_left_as_it_was() {
    Proof::new(&agent::DROID).without(&["UserPromptSubmit"]).carry_out();
}

#[test]
fn d1_grok_is_guarded_told_recorded_and_left_as_it_was() {
    Proof::new(&agent::GROK).context(Place::AfterTool).carry_out();
}

#[test]
fn d1_opencode_is_guarded_told_recorded_and_left_as_it_was() {
    Proof::new(&agent::OPENCODE).carry_out();
}

#[test]
fn d1_pi_is_guarded_told_recorded_and_left_as_it_was() {
    Proof::new(&agent::PI).carry_out();
}

/// What follows a tool is told, but the agent ends without waiting for it.
#[test]
fn d1_kimi_code_is_guarded_recorded_and_left_as_it_was() {
    Proof::new(&agent::KIMI_CODE).without(&["PostToolUse", "SessionEnd"]).context(Place::Nowhere).carry_out();
}

#[test]
fn d1_vibe_is_guarded_told_recorded_and_left_as_it_was() {
    let untold = ["SessionStart", "UserPromptSubmit", "SessionEnd"];
    Proof::new(&agent::VIBE).without(&untold).context(Place::AfterTool).carry_out();
}
