//! The Anthropic Messages API: one message, or the events that spell it.

use serde_json::{Map, Value, json};

use super::{Ids, event_frame};
use crate::scripted_model::script::{ApiFailure, Turn};

pub(super) fn message(turn: &Turn, model: &Value, ids: &Ids) -> Value {
    let texts = turn.text.iter().map(|text| json!({"type": "text", "text": text}));
    let tools = turn
        .tools
        .iter()
        .map(|tool| json!({"type": "tool_use", "id": ids.next("toolu"), "name": tool.name, "input": tool.input}));
    let content: Vec<_> = texts.chain(tools).collect();
    let natural = if turn.tools.is_empty() { "end_turn" } else { "tool_use" };
    json!({
        "id": ids.next("msg"),
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": turn.stop_reason.as_deref().unwrap_or(natural),
        "stop_sequence": null,
        "usage": usage(turn),
    })
}

/// The same message as the stream would tell it.
pub(super) fn frames(message: &Value) -> Vec<String> {
    events(message).iter().map(event_frame).collect()
}

fn events(message: &Value) -> Vec<Value> {
    let mut opening = message.clone();
    opening["content"] = json!([]);
    opening["stop_reason"] = Value::Null;
    opening["usage"]["output_tokens"] = json!(1);
    let mut events = vec![json!({"type": "message_start", "message": opening})];
    for (index, block) in message["content"].as_array().into_iter().flatten().enumerate() {
        events.extend(block_events(index, block));
    }
    events.push(json!({
        "type": "message_delta",
        "delta": {"stop_reason": message["stop_reason"], "stop_sequence": null},
        "usage": message["usage"],
    }));
    events.push(json!({"type": "message_stop"}));
    events
}

pub(super) fn failure(failure: &ApiFailure) -> Value {
    error(&failure.error_type, &failure.message)
}

pub(super) fn error(error_type: &str, message: &str) -> Value {
    json!({"type": "error", "error": {"type": error_type, "message": message}})
}

fn block_events(index: usize, block: &Value) -> [Value; 3] {
    let mut empty = block.clone();
    let delta = if block["type"] == "text" {
        empty["text"] = json!("");
        json!({"type": "text_delta", "text": block["text"]})
    } else {
        empty["input"] = json!({});
        json!({"type": "input_json_delta", "partial_json": block["input"].to_string()})
    };
    [
        json!({"type": "content_block_start", "index": index, "content_block": empty}),
        json!({"type": "content_block_delta", "index": index, "delta": delta}),
        json!({"type": "content_block_stop", "index": index}),
    ]
}

fn usage(turn: &Turn) -> Map<String, Value> {
    let mut usage = Map::new();
    usage.insert("input_tokens".into(), json!(1200));
    usage.insert("output_tokens".into(), json!(40));
    usage.insert("cache_creation_input_tokens".into(), json!(0));
    usage.insert("cache_read_input_tokens".into(), json!(0));
    usage.extend(turn.usage.clone());
    usage
}
