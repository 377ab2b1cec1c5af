//! The call that proves an installation, in the client's own words.

use model::EventKind;
use serde_json::json;

/// What the client would send before it runs the command. The mark tells this
/// call from every other one.
pub fn payload(cwd: &str, mark: &str, command: &str) -> String {
    let call = json!({
        "session_id": mark,
        "cwd": cwd,
        "hook_event_name": EventKind::PreToolUse.name(),
        "tool_name": "Bash",
        "tool_input": {"command": command, "description": "taut's own proof; never run"},
        "tool_use_id": mark,
    });
    call.to_string()
}

/// Ends the session that the call opened.
pub fn farewell(cwd: &str, mark: &str) -> String {
    let name = EventKind::SessionEnd.name();
    json!({"session_id": mark, "cwd": cwd, "hook_event_name": name, "reason": "other"}).to_string()
}

pub use crate::answers::nested_denial as denial;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::DENIED_COMMAND;

    #[test]
    fn i1_the_proof_is_a_call_the_decoder_understands() {
        let call = crate::ALL.decode("claude-code", payload("/w", "m1", DENIED_COMMAND).as_bytes()).unwrap();
        assert_eq!((call.kind, call.host_session.as_deref()), (EventKind::PreToolUse, Some("m1")));
        assert_eq!(call.tool().and_then(|tool| tool.command()), Some(DENIED_COMMAND));
        let end = crate::ALL.decode("claude-code", farewell("/w", "m1").as_bytes()).unwrap();
        assert_eq!((end.kind, end.host_session.as_deref()), (EventKind::SessionEnd, Some("m1")));
    }

    #[test]
    fn i1_only_a_denial_counts_as_one() {
        let denied = (crate::claude_code::DIALECT.stop_unread)(model::reply::GateStop::Deny {
            reason: "because".into(),
            halt: None,
        })
        .stdout;
        assert_eq!(denial(&denied).as_deref(), Some("because"));
        for other in ["", "{}", "denied", &denied.replace("deny", "ask")] {
            assert_eq!(denial(other), None, "{other}");
        }
    }
}
