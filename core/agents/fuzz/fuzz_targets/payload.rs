//! A payload is what an agent says, so it may be anything. Decoding comes back from all of it, and a command that
//! stands in whole JSON is never lost: the guard judges what was decoded.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|bytes: &[u8]| {
    let decoded = agents::ALL.decode("claude-code", bytes);
    match &decoded {
        Ok(envelope) => assert!(!envelope.name.is_empty()),
        Err(unreadable) => assert!(!unreadable.why.is_empty()),
    }
    let Ok(Value::Object(fields)) = serde_json::from_slice::<Value>(bytes) else { return };
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let command = text(fields.get("tool_input").and_then(|input| input.get("command")));
    if text(fields.get("hook_event_name")).as_deref() != Some("PreToolUse")
        || text(fields.get("tool_name")).as_deref() != Some("Bash")
        || command.is_none()
    {
        return;
    }
    let envelope = decoded.expect("a whole call is decoded");
    assert_eq!(envelope.tool().and_then(|tool| tool.command()).map(str::to_owned), command);
    let _ = agents::DEFAULT.status_line.map(|read| read(bytes));
});
