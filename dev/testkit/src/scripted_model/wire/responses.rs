//! `OpenAI`'s responses: one response, or the events that spell it.

use serde_json::{Value, json};

use super::{Ids, event_frame, tokens};
use crate::scripted_model::script::{ScriptedCall, Turn};

pub(super) fn response(turn: &Turn, ids: &Ids) -> Value {
    let said = turn.text.iter().map(|text| {
        let content = json!([{"type": "output_text", "text": text, "annotations": []}]);
        json!({"type": "message", "role": "assistant", "id": ids.next("msg"), "status": "completed", "content": content})
    });
    let called = turn.tools.iter().map(|call| spell_call(call, ids));
    let output: Vec<_> = said.chain(called).collect();
    let (read, written) = tokens(turn);
    json!({
        "id": ids.next("resp"),
        "object": "response",
        "status": "completed",
        "output": output,
        "usage": {
            "input_tokens": read, "input_tokens_details": null,
            "output_tokens": written, "output_tokens_details": null,
            "total_tokens": read + written,
        },
    })
}

/// What stands for a conversation that was made shorter; nobody but the API can read it.
pub(super) fn compaction() -> Value {
    json!({"output": [{"type": "compaction", "encrypted_content": "x"}]})
}

pub(super) fn frames(response: &Value) -> Vec<String> {
    let created = json!({"id": response["id"], "object": "response", "status": "in_progress"});
    let mut events = vec![json!({"type": "response.created", "response": created})];
    for (index, item) in response["output"].as_array().into_iter().flatten().enumerate() {
        for told in ["response.output_item.added", "response.output_item.done"] {
            events.push(json!({"type": told, "output_index": index, "item": item}));
        }
    }
    events.push(json!({"type": "response.completed", "response": response}));
    events.iter().map(event_frame).collect()
}

/// A tool whose input is one text, as for a patch, is called in a form of its own.
fn spell_call(call: &ScriptedCall, ids: &Ids) -> Value {
    let (kind, key, input) = match &call.input {
        Value::String(text) => ("custom_tool_call", "input", text.clone()),
        input => ("function_call", "arguments", input.to_string()),
    };
    let id = ids.next("call");
    json!({"type": kind, "id": format!("item_{id}"), "call_id": id, "name": call.name, key: input, "status": "completed"})
}
