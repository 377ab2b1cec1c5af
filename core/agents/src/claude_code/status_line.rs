//! What Claude Code tells a status line of the session it stands under.

use crate::dialect::StatusLineInput;
use crate::lenient::Fields;
use serde_json::{Map, Value};

pub fn read(bytes: &[u8]) -> StatusLineInput {
    let value: Value = serde_json::from_slice(bytes).unwrap_or_default();
    let empty = Map::new();
    let all = Fields(value.as_object().unwrap_or(&empty));
    let below = |name: &str| Fields(all.value(name).and_then(Value::as_object).unwrap_or(&empty));
    let (model, context) = (below("model"), below("context_window"));
    StatusLineInput {
        session: all.plain("session_id"),
        cwd: all.string("cwd").or_else(|| below("workspace").string("current_dir")),
        model: model.string("id"),
        model_name: model.string("display_name"),
        window: context.number("context_window_size").filter(|window| *window > 0),
        tokens: context.value("current_usage").and_then(Value::as_object).and_then(|usage| total(Fields(usage))),
        cost_usd: below("cost").value("total_cost_usd").and_then(Value::as_f64),
    }
}

/// All that the last request held and what was answered.
fn total(usage: Fields<'_>) -> Option<u64> {
    let names = ["input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
    let total = names.iter().filter_map(|name| usage.number(name)).fold(0, u64::saturating_add);
    (total > 0).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s6_the_captured_status_lines_are_read() {
        let full = read(include_bytes!("../../../../corpus/claude-code/other/statusLine.json"));
        assert_eq!(full.session, "4952bdd3-e287-4ec2-8c0f-044691988082");
        assert_eq!((full.tokens, full.window), (Some(400_300), Some(1_000_000)));
        assert_eq!((full.model_name.as_deref(), full.cost_usd), (Some("Opus 5.5"), Some(0.276)));
        let fresh = read(include_bytes!("../../../../corpus/claude-code/other/statusLine.before-first-response.json"));
        assert_eq!((fresh.tokens, fresh.window), (None, Some(1_000_000)));
    }

    #[test]
    fn anything_else_is_read_as_far_as_it_goes() {
        for text in ["", "null", "[1]", "{\"model\":7,\"cost\":[],\"context_window\":{\"current_usage\":{}}}"] {
            assert_eq!(read(text.as_bytes()), StatusLineInput::default(), "{text}");
        }
    }
}
