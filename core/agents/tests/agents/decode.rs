//! Decoding as properties: total over all bytes, and as good on a broken payload as it can be.

use model::EventKind;
use proptest::prelude::*;
use serde_json::{Value, json};

const CALL: &[u8] = include_bytes!("../../../../corpus/claude-code/PreToolUse.json");

fn command(bytes: &[u8]) -> Option<String> {
    let envelope = agents::ALL.decode("claude-code", bytes).ok()?;
    envelope.tool()?.command().map(str::to_owned)
}

/// Any object with the fields the guard needs somewhere among others.
fn call_with(command: &str, before: &Value, after: &Value) -> String {
    json!({
        "before": before, "session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": {"also": before, "command": command}, "after": after,
    })
    .to_string()
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![Just(Value::Null), any::<f64>().prop_map(Value::from), ".{0,20}".prop_map(Value::from)];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map(".{0,8}", inner, 0..4).prop_map(|map| map.into_iter().collect()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn d2_no_bytes_make_decoding_fail_other_than_in_words(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        if let Err(unreadable) = agents::ALL.decode("claude-code", &bytes) {
            prop_assert!(!unreadable.why.is_empty());
        }
    }

    #[test]
    fn d2_a_payload_cut_after_its_command_still_tells_it(text in ".{1,60}", around in any_json(), keep in 0..400_usize) {
        let whole = call_with(&text, &around, &around);
        prop_assert_eq!(command(whole.as_bytes()), Some(text.clone()));
        let written = json!(text).to_string();
        let end = whole.find(&format!("\"command\":{written}")).unwrap() + "\"command\":".len() + written.len();
        let mut cut = (end + keep).min(whole.len());
        while !whole.is_char_boundary(cut) {
            cut -= 1;
        }
        prop_assert_eq!(command(&whole.as_bytes()[..cut]), Some(text));
    }

    #[test]
    fn d2_what_follows_the_object_is_of_no_account(tail in prop::collection::vec(any::<u8>(), 0..60)) {
        let bytes = [CALL, &tail].concat();
        let envelope = agents::ALL.decode("claude-code", &bytes).unwrap();
        prop_assert_eq!(envelope.kind, EventKind::PreToolUse);
        prop_assert_eq!(envelope.tool().and_then(|call| call.command()), Some("echo hi"));
    }
}

#[test]
fn d2_nesting_of_any_depth_is_read_in_bounded_depth() {
    for depth in [10, 127, 128, 129, 10_000, 200_000] {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let nested = format!("{}1{}", open.repeat(depth), close.repeat(depth));
            let text = call_with("rm -rf /", &json!("HERE"), &Value::Null).replace("\"HERE\"", &nested);
            assert_eq!(command(text.as_bytes()).as_deref(), Some("rm -rf /"), "{depth} {open}");
        }
    }
}
