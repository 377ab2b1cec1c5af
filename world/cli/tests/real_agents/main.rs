//! The product under every agent that runs offline, each the same way. Needs the feature `real-client`, and npm and pip or
//! a filled cache.

mod home;
mod one_fleet;
mod others_hooks;
mod proof;

use proof::Proof;
use testkit::real_client::agent;

#[test]
fn d1_codex_is_guarded_told_recorded_and_left_as_it_was() {
    Proof::of(&agent::CODEX).carry_out();
}

#[test]
fn d1_copilot_is_guarded_told_recorded_and_left_as_it_was() {
    Proof::of(&agent::COPILOT).carry_out();
}

#[test]
fn d1_gemini_is_guarded_told_recorded_and_left_as_it_was() {
    Proof::of(&agent::GEMINI).carry_out();
}

/// It tells the end of a session only where it has a screen.
#[test]
fn d1_qwen_is_guarded_told_recorded_and_left_as_it_was() {
    Proof::of(&agent::QWEN).without(&["SessionEnd"]).carry_out();
}

/// It tells prompts only where it has a screen.
#[test]
fn d1_droid_is_guarded_told_recorded_and_left_as_it_was() {
    Proof::of(&agent::DROID).without(&["UserPromptSubmit"]).carry_out();
}

#[test]
fn d1_grok_is_guarded_told_recorded_and_left_as_it_was() {
    Proof::of(&agent::GROK).carry_out();
}

#[test]
fn d1_opencode_is_guarded_told_recorded_and_left_as_it_was() {
    Proof::of(&agent::OPENCODE).carry_out();
}

#[test]
fn d1_pi_is_guarded_told_recorded_and_left_as_it_was() {
    Proof::of(&agent::PI).carry_out();
}

/// What follows a tool is told, but a run without a screen does not wait for it.
#[test]
fn d1_kimi_code_is_guarded_told_recorded_and_left_as_it_was() {
    Proof::of(&agent::KIMI_CODE).without(&["PostToolUse", "SessionEnd"]).carry_out();
}

/// It tells of tools and of the end of a turn, and of nothing else.
#[test]
fn d1_vibe_is_guarded_told_recorded_and_left_as_it_was() {
    Proof::of(&agent::VIBE).without(&["SessionStart", "UserPromptSubmit", "SessionEnd"]).carry_out();
}
