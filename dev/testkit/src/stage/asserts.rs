//! What a hook must have answered, and what a person was told.

use serde_json::Value;

use super::Stage;
use crate::process::Finished;

/// Exit 0 and nothing printed.
pub fn assert_silent(done: &Finished, what: &str) {
    assert_eq!(done.code(), Some(0), "{what}: {:?} {}", done.ending, done.stderr_text());
    assert_eq!(done.stdout_text(), "", "{what}");
    assert!(!done.pipes_held, "{what}: somebody holds the pipes");
}

/// Exit 0 and a lawful denial.
pub fn assert_denied(done: &Finished, what: &str) {
    assert_decided(done, "deny", what);
}

/// Exit 0 and a lawful decision.
pub fn assert_decided(done: &Finished, decision: &str, what: &str) {
    assert_eq!(done.code(), Some(0), "{what}: {:?} {}", done.ending, done.stderr_text());
    let answer: Value = serde_json::from_slice(&done.stdout)
        .unwrap_or_else(|_| panic!("{what}: stdout {:?}, stderr {}", done.stdout_text(), done.stderr_text()));
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], decision, "{what}");
    assert_eq!(answer["hookSpecificOutput"]["hookEventName"], "PreToolUse", "{what}");
    assert!(!done.pipes_held, "{what}: somebody holds the pipes");
}

/// Somebody at a terminal who types this: how it ended, and what was said.
pub fn person(stage: &Stage, args: &[&str], typed: &str) -> (Option<i32>, String) {
    let done = stage.sandbox.at_terminal(args, typed, &[]).unwrap();
    let said = [done.stdout, done.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    (done.status.code(), said)
}

/// The same where it must go well: what was said.
#[track_caller]
pub fn person_succeeds(stage: &Stage, args: &[&str], typed: &str) -> String {
    let (code, said) = person(stage, args, typed);
    assert_eq!(code, Some(0), "{args:?}: {said}");
    said
}
