//! Replies in the JSON Claude Code honours. What each event honours was
//! observed on the real client; see `docs/agents/claude-code.md`.

use super::forms::TOLD;
use crate::answers::{self, add_halt, object};
use model::Answer;
use model::event::{Envelope, EventKind};
use model::reply::{ByFamily, Feedback, Gate, GateStop, Reply, Veto};
use serde_json::{Map, Value, json};

pub fn encode(envelope: &Envelope, reply: &Reply) -> Answer {
    let kind = envelope.kind;
    let mut answer = match &reply.answer {
        ByFamily::Gate(gate) => object(gate_fields(gate)),
        ByFamily::Permission(permission) => match &permission.deny {
            Some(message) => object(specific(kind, [("decision", json!({"behavior": "deny", "message": message}))])),
            None => Answer::default(),
        },
        ByFamily::Feedback(feedback) => object(feedback_fields(kind, feedback)),
        ByFamily::Context(context) => match &context.text {
            Some(text) => object(specific(kind, [("additionalContext", json!(text))])),
            None => Answer::default(),
        },
        ByFamily::Veto(veto) => veto_answer(kind, veto),
        ByFamily::Silent => Answer::default(),
    };
    if let Some(line) = &reply.user_line {
        add_user_line(kind, &mut answer, line);
    }
    if let Some(text) = &reply.ring {
        add_ring(kind, &mut answer, text);
    }
    if let Some(warning) = &reply.warning {
        answer.stderr.push_str(&format!("{warning}\n"));
    }
    answer
}

/// PreToolUse is the event a guard stands on: a payload that could not be read
/// is stopped as one, and any other event ignores a reply that is not its own.
pub fn stop_unread(stop: GateStop) -> Answer {
    object(gate_fields(&Gate { stop: Some(stop), context: None }))
}

fn gate_fields(gate: &Gate) -> Map<String, Value> {
    let mut fields = answers::nested_gate(EventKind::PreToolUse.name(), gate);
    if let Some(GateStop::Deny { halt, .. }) = &gate.stop {
        add_halt(&mut fields, halt.as_ref());
    }
    fields
}

fn feedback_fields(kind: EventKind, feedback: &Feedback) -> Map<String, Value> {
    // A failed tool takes only context: its block would be dropped unread.
    let (block, context) = match kind {
        EventKind::PostToolUseFailure => (None, feedback.block.as_ref().or(feedback.context.as_ref())),
        _ => (feedback.block.as_ref(), feedback.context.as_ref()),
    };
    let mut fields = Map::new();
    if let Some(reason) = block {
        fields.extend(answers::decision("block", reason));
    }
    if let Some(context) = context {
        fields.extend(specific(kind, [("additionalContext", json!(context))]));
    }
    add_halt(&mut fields, feedback.halt.as_ref());
    fields
}

/// PreCompact takes a JSON block; the others are only known to honour exit 2.
fn veto_answer(kind: EventKind, veto: &Veto) -> Answer {
    let Some(reason) = &veto.block else { return Answer::default() };
    if kind != EventKind::PreCompact {
        return answers::exit_with(2, reason);
    }
    let mut fields = Map::new();
    add_halt(&mut fields, veto.halt.as_ref());
    fields.extend(answers::decision("block", reason));
    object(fields)
}

fn specific<'a>(kind: EventKind, inner: impl IntoIterator<Item = (&'a str, Value)>) -> Map<String, Value> {
    answers::specific(kind.name(), inner)
}

fn add_user_line(kind: EventKind, answer: &mut Answer, line: &str) {
    add_field(kind, answer, ("systemMessage", json!(line)));
}

/// The bell, and the text for terminals that show one (OSC 9). The client wraps
/// it for tmux by itself, shows it on every event while its screen stands, and
/// drops a sequence whose text begins with a number or that is longer than 4 KB.
fn add_ring(kind: EventKind, answer: &mut Answer, text: &str) {
    if kind == EventKind::SessionEnd {
        return;
    }
    // Whoever wrote the text, it cannot end the sequence nor begin another.
    let plain: String = text.chars().filter(|c| !c.is_control()).take(LONGEST_RING).collect();
    add_field(kind, answer, ("terminalSequence", json!(format!("\u{1b}]9;Taut: {plain}\u{7}\u{7}"))));
}

/// In characters, of four bytes at most.
const LONGEST_RING: usize = 500;

/// On PreCompact anything printed leaks into the summariser's prompt, and beside
/// exit 2 only stderr is read: there it is left out.
fn add_field(kind: EventKind, answer: &mut Answer, (name, value): (&str, Value)) {
    if !TOLD.contains(&kind) || answer.exit != 0 {
        return;
    }
    let mut fields = match serde_json::from_str(&answer.stdout) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    };
    fields.insert(name.into(), value);
    answer.stdout = format!("{}\n", Value::Object(fields));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claude_code::decode::decode;
    use model::reply::{Context, Halt, Permission};

    fn envelope(kind: EventKind) -> Envelope {
        decode(json!({"hook_event_name": kind.name(), "session_id": "s"}).as_object().unwrap())
    }

    fn answer(kind: EventKind, by_family: ByFamily) -> Answer {
        encode(&envelope(kind), &Reply { answer: by_family, ..Reply::default() })
    }

    fn stdout(answer: &Answer) -> Value {
        serde_json::from_str(&answer.stdout).unwrap()
    }

    #[test]
    fn d3_every_event_with_nothing_decided_prints_nothing() {
        for kind in EventKind::ALL {
            let reply = Reply::nothing(kind.family());
            assert_eq!(encode(&envelope(*kind), &reply), Answer::default(), "{kind:?}");
        }
    }

    #[test]
    fn a_denied_tool_is_told_why_and_may_halt() {
        let stop = GateStop::Deny { reason: "no".into(), halt: Some(Halt { stop_reason: "full".into() }) };
        let said = stdout(&answer(EventKind::PreToolUse, ByFamily::Gate(Gate { stop: Some(stop), context: None })));
        assert_eq!(
            said,
            json!({
                "hookSpecificOutput": {
                    "hookEventName": "PreToolUse",
                    "permissionDecision": "deny",
                    "permissionDecisionReason": "no"
                },
                "continue": false,
                "stopReason": "full"
            })
        );
    }

    #[test]
    fn a_refused_permission_names_its_event() {
        let deny = Permission { deny: Some("no".into()) };
        let said = stdout(&answer(EventKind::PermissionRequest, ByFamily::Permission(deny)));
        assert_eq!(said["hookSpecificOutput"]["decision"], json!({"behavior": "deny", "message": "no"}));
    }

    #[test]
    fn r2_a_vetoed_compaction_blocks_and_halts_at_exit_0() {
        let veto = Veto { block: Some("r".into()), halt: Some(Halt { stop_reason: "Context Limit Reached".into() }) };
        let said = answer(EventKind::PreCompact, ByFamily::Veto(veto));
        assert_eq!(said.exit, 0);
        assert_eq!(
            stdout(&said),
            json!({"continue": false, "stopReason": "Context Limit Reached", "decision": "block", "reason": "r"})
        );
    }

    #[test]
    fn a_refused_settings_change_exits_2_with_the_reason_on_stderr() {
        let veto = Veto { block: Some("kept".into()), halt: None };
        let said = answer(EventKind::ConfigChange, ByFamily::Veto(veto));
        assert_eq!((said.exit, said.stderr.as_str(), said.stdout.as_str()), (2, "kept\n", ""));
    }

    #[test]
    fn a_line_for_the_user_never_leaks_into_a_compaction() {
        let reply = Reply { answer: ByFamily::Veto(Veto::default()), user_line: Some("hi".into()), ..Reply::default() };
        assert_eq!(encode(&envelope(EventKind::PreCompact), &reply), Answer::default());
        let reply =
            Reply { answer: ByFamily::Context(Context::default()), user_line: Some("hi".into()), ..Reply::default() };
        assert_eq!(stdout(&encode(&envelope(EventKind::SessionStart), &reply)), json!({"systemMessage": "hi"}));
    }

    #[test]
    fn f5_a_ring_is_a_bell_and_a_text_beside_whatever_is_answered() {
        let ring = |kind: EventKind, answer: ByFamily| {
            let reply = Reply { answer, ring: Some("ada is done".into()), ..Reply::default() };
            encode(&envelope(kind), &reply)
        };
        let sequence = "\u{1b}]9;Taut: ada is done\u{7}\u{7}";
        assert_eq!(stdout(&ring(EventKind::Notification, ByFamily::Silent)), json!({"terminalSequence": sequence}));
        let block = Feedback { block: Some("go on".into()), ..Feedback::default() };
        let said = stdout(&ring(EventKind::Stop, ByFamily::Feedback(block)));
        assert_eq!(said, json!({"decision": "block", "reason": "go on", "terminalSequence": sequence}));
        assert_eq!(ring(EventKind::PreCompact, ByFamily::Veto(Veto::default())), Answer::default());
        assert_eq!(ring(EventKind::SessionEnd, ByFamily::Silent), Answer::default());
    }

    #[test]
    fn f5_no_text_gets_out_of_its_sequence() {
        for hostile in
            ["a\u{7}\u{1b}]0;owned\u{7}", "\u{1b}\\\u{1b}[2J", "\u{9c}x\u{9b}31m", "9;4;3;100", &"é".repeat(9_000)]
        {
            let reply = Reply { ring: Some(hostile.into()), ..Reply::default() };
            let said = stdout(&encode(&envelope(EventKind::Notification), &reply));
            let sequence = said["terminalSequence"].as_str().unwrap();
            let body =
                sequence.strip_prefix("\u{1b}]9;Taut: ").and_then(|rest| rest.strip_suffix("\u{7}\u{7}")).unwrap();
            assert!(!body.contains(char::is_control) && sequence.len() < 4096, "{sequence:?}");
        }
    }
}
