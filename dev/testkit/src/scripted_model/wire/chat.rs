//! `OpenAI`'s chat completions: one completion, or the chunks that spell it.

use serde_json::{Value, json};

use super::{Ids, data_frame, tokens};
use crate::scripted_model::script::{ScriptedCall, Turn};

pub(super) fn completion(turn: &Turn, model: &Value, ids: &Ids) -> Value {
    let mut message = json!({"role": "assistant", "content": turn.text});
    if !turn.tools.is_empty() {
        let calls = turn.tools.iter().enumerate().map(|(index, call)| spell_call(index, call, ids));
        message["tool_calls"] = calls.collect();
    }
    let natural = if turn.tools.is_empty() { "stop" } else { "tool_calls" };
    let (read, written) = tokens(turn);
    json!({
        "id": ids.next("chatcmpl"),
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [{
            "index": 0,
            "message": message,
            "finish_reason": turn.stop_reason.as_deref().unwrap_or(natural),
        }],
        "usage": {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written},
    })
}

pub(super) fn frames(completion: &Value) -> Vec<String> {
    let choice = &completion["choices"][0];
    let chunk = |choices: Value| {
        let mut chunk = completion.clone();
        chunk["object"] = json!("chat.completion.chunk");
        chunk["choices"] = choices;
        chunk
    };
    let told = |delta: &Value, finish: &Value| json!([{"index": 0, "delta": delta, "finish_reason": finish}]);
    let mut said = chunk(told(&choice["message"], &Value::Null));
    let mut ended = chunk(told(&json!({}), &choice["finish_reason"]));
    // What was used is said once, at the end.
    for chunk in [&mut said, &mut ended] {
        chunk["usage"] = Value::Null;
    }
    let mut frames: Vec<_> = [said, ended, chunk(json!([]))].iter().map(data_frame).collect();
    frames.push("data: [DONE]\n\n".to_owned());
    frames
}

fn spell_call(index: usize, call: &ScriptedCall, ids: &Ids) -> Value {
    let function = json!({"name": call.name, "arguments": call.input.to_string()});
    json!({"index": index, "id": ids.next("call"), "type": "function", "function": function})
}
