//! What a hook must have answered.

use serde_json::Value;

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
