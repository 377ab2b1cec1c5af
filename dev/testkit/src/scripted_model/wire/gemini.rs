//! Google's Gemini: one content, streamed in a single piece.

use serde_json::{Value, json};

use super::{data_frame, tokens};
use crate::scripted_model::script::Turn;

pub(super) fn content(turn: &Turn) -> Value {
    let said = turn.text.iter().map(|text| json!({"text": text}));
    let called = turn.tools.iter().map(|call| json!({"functionCall": {"name": call.name, "args": call.input}}));
    let parts: Vec<_> = said.chain(called).collect();
    let (read, written) = tokens(turn);
    json!({
        "candidates": [{
            "index": 0,
            "content": {"role": "model", "parts": parts},
            "finishReason": turn.stop_reason.as_deref().unwrap_or("STOP"),
        }],
        "modelVersion": "scripted",
        "responseId": "scripted",
        "usageMetadata": {"promptTokenCount": read, "candidatesTokenCount": written, "totalTokenCount": read + written},
    })
}

pub(super) fn frames(content: &Value) -> Vec<String> {
    vec![data_frame(content)]
}
