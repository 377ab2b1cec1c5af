//! What Claude Code's stream of JSON lines says of its work. Trouble is read
//! from the fields made for it, never from text that a tool may have printed.

use crate::agent_output::{
    at_most, by_status, by_words, call_begins, call_ends, count_request, deny, described, micros, number, short, text,
    usage,
};
use crate::prices::UsedTokens;
use model::Ms;
use model::run::{AgentOutput, AgentTrouble};
use serde_json::Value;

/// More of what it says at once is not kept, in characters.
const LONGEST_WORDS: usize = 2_000;
/// What the client itself writes in place of an answer begins so.
const OWN_WORDS: &[&str] = &[
    "API Error", "Invalid API key", "Please run /login", "Credit balance", "Claude AI usage limit", "Connection error",
    "Request timed out", "Not logged in",
];
/// How the client says that a call was not let through: nobody was there to ask.
const REFUSED_CALL: &[&str] =
    &["Claude requested permissions ", "This command requires approval", "Permission to use "];

/// Takes one line in. A line that is no object says nothing.
pub fn hear(line: &str, heard: &mut AgentOutput) {
    if !line.trim_start().starts_with('{') {
        return;
    }
    let Ok(value) = serde_json::from_str::<Value>(line) else { return };
    match text(&value, "type") {
        "system" => system(&value, heard),
        "assistant" => assistant(&value, heard),
        "user" => user(&value, heard),
        "rate_limit_event" => limit(&value, heard),
        "result" => result(&value, heard),
        _ => {}
    }
}

fn system(value: &Value, heard: &mut AgentOutput) {
    if let Some(session) = value.get("session_id").and_then(Value::as_str) {
        heard.session = Some(session.to_string());
    }
    match text(value, "subtype") {
        "init" => heard.model = value.get("model").and_then(Value::as_str).map(str::to_string).or(heard.model.take()),
        "permission_denied" => refused_call(text(value, "tool_use_id"), text(value, "tool_name"), heard),
        _ => {}
    }
}

fn assistant(value: &Value, heard: &mut AgentOutput) {
    let message = value.get("message").unwrap_or(&Value::Null);
    let blocks = message.get("content").and_then(Value::as_array).into_iter().flatten();
    let own = value.get("parent_tool_use_id").is_none_or(Value::is_null);
    if let Some(used) = message.get("usage").map(usage) {
        spend(message, used, heard);
        let context = UsedTokens { output: 0, ..used }.all();
        // A sub-agent's words carry the tool that started it; its context is its own.
        heard.context_tokens = Some(context).filter(|tokens| *tokens > 0 && own).or(heard.context_tokens);
    }
    let words = blocks.clone().rfind(|block| text(block, "type") == "text").map(|block| text(block, "text").trim());
    if let Some(words) = words.filter(|words| !words.is_empty() && own) {
        heard.said = Some(words.chars().take(LONGEST_WORDS).collect());
    }
    let tools = blocks.filter(|block| text(block, "type") == "tool_use");
    for tool in tools.filter(|_| own) {
        call_begins(heard, text(tool, "id"), text(tool, "name"), tool.get("input").unwrap_or(&Value::Null));
    }
    if !own {
        return;
    }
    match value.get("error").and_then(Value::as_str) {
        Some(error) => named(error, heard),
        // It works again, so what troubled it is over.
        None => {
            if !matches!(heard.trouble, Some(AgentTrouble::Limited { .. })) {
                heard.trouble = None;
            }
        }
    }
}

/// What an answer will have cost is told at the end alone; until then its length says it.
fn spend(message: &Value, used: UsedTokens, heard: &mut AgentOutput) {
    let id = text(message, "id");
    if id.is_empty() || used.all() == 0 {
        return;
    }
    let model = text(message, "model").to_string();
    let before = heard.memory.requests.get(id).map(|(_, written, _)| *written).unwrap_or_default();
    let written = at_most(message.get("content").map(|content| content.to_string().len()).unwrap_or_default());
    let output = used.output.max(before.saturating_add(written));
    count_request(heard, id, &model, UsedTokens { output, ..used });
}

fn user(value: &Value, heard: &mut AgentOutput) {
    let blocks = value.pointer("/message/content").and_then(Value::as_array).into_iter().flatten();
    for block in blocks.filter(|block| text(block, "type") == "tool_result") {
        let (id, words) = (text(block, "tool_use_id"), text(block, "content"));
        if block.get("is_error").and_then(Value::as_bool) == Some(true) {
            if is_by_hook(value, id) || words.starts_with("PreToolUse:") {
                heard.memory.spoken_for.push(id.to_string());
            } else if REFUSED_CALL.iter().any(|start| words.starts_with(start)) {
                refused_call(id, "", heard);
            }
        }
        call_ends(heard, id);
    }
    if heard.memory.calls.is_empty() {
        heard.tool = None;
    }
}

/// A hook of the user's said no, the guard for one: that is no missing permission.
fn is_by_hook(value: &Value, id: &str) -> bool {
    let told = value.get("tool_result_meta").and_then(Value::as_array).into_iter().flatten();
    let own = told.filter(|meta| text(meta, "id") == id);
    own.filter_map(|meta| meta.pointer("/permission_decision/source")).any(|source| source == "hook")
}

fn refused_call(id: &str, tool: &str, heard: &mut AgentOutput) {
    let call = heard.memory.calls.iter().find(|call| call.id == id);
    let said = call.map_or(tool.to_string(), |call| call.described.clone());
    heard.memory.spoken_for.push(id.to_string());
    deny(heard, said);
}

/// Only a limit that was refused is one; warnings are not.
fn limit(value: &Value, heard: &mut AgentOutput) {
    let info = value.get("rate_limit_info").unwrap_or(&Value::Null);
    match text(info, "status") {
        "rejected" => {
            let until = info.get("resetsAt").and_then(Value::as_i64).map(|seconds| Ms(seconds.saturating_mul(1000)));
            heard.trouble = Some(AgentTrouble::Limited { until });
        }
        "allowed" if matches!(heard.trouble, Some(AgentTrouble::Limited { .. })) => heard.trouble = None,
        _ => {}
    }
}

fn result(value: &Value, heard: &mut AgentOutput) {
    heard.tool = None;
    heard.memory.calls.clear();
    settle(value, heard);
    heard.turns = value.get("num_turns").and_then(Value::as_u64).unwrap_or(heard.turns);
    heard.said = value.get("result").and_then(Value::as_str).map(short);
    heard.failed = value.get("is_error").and_then(Value::as_bool).unwrap_or_default();
    for call in value.get("permission_denials").and_then(Value::as_array).into_iter().flatten() {
        let id = text(call, "tool_use_id");
        if !heard.memory.spoken_for.iter().any(|denied| denied == id) {
            deny(heard, described(text(call, "tool_name"), call.get("tool_input").unwrap_or(&Value::Null)));
        }
    }
    if !heard.failed {
        heard.trouble = None;
        return;
    }
    let words = heard.said.clone().unwrap_or_default();
    let told = value.get("api_error_status").and_then(Value::as_u64).and_then(|status| by_status(status, &words));
    let own = OWN_WORDS.iter().any(|start| words.starts_with(start));
    let told = told.or_else(|| if own { by_words(&words) } else { None });
    // When a limit ends was told before, and only then.
    let known = matches!(heard.trouble, Some(AgentTrouble::Limited { .. }));
    if let Some(trouble) = told.filter(|told| !known || !matches!(told, AgentTrouble::Limited { .. })) {
        heard.trouble = Some(trouble);
    }
}

/// The result knows better than any sum of what was told on the way.
fn settle(value: &Value, heard: &mut AgentOutput) {
    // Less than nothing is no cost, and what was heard on the way stays.
    let told = value.get("total_cost_usd").and_then(Value::as_f64).filter(|cost| cost.is_finite() && *cost >= 0.0);
    if let Some(cost) = told {
        heard.cost_micros = micros(cost);
    }
    let models = value.get("modelUsage").and_then(Value::as_object).into_iter().flat_map(|models| models.values());
    let of_model = |model: &Value| {
        let parts = ["/inputTokens", "/outputTokens", "/cacheReadInputTokens", "/cacheCreationInputTokens"];
        parts.iter().map(|part| number(model, part)).fold(0, u64::saturating_add)
    };
    let all = models.map(of_model).fold(0, u64::saturating_add);
    let all = if all > 0 { all } else { value.get("usage").map(|told| usage(told).all()).unwrap_or_default() };
    heard.tokens = if all > 0 { all } else { heard.tokens };
}

/// The client's own names of what went wrong.
fn named(error: &str, heard: &mut AgentOutput) {
    let trouble = match error {
        "rate_limit" if matches!(heard.trouble, Some(AgentTrouble::Limited { .. })) => return,
        "rate_limit" => AgentTrouble::Limited { until: None },
        "overloaded" | "server_error" | "connection_failed" => AgentTrouble::Transient { what: error.to_string() },
        "authentication_failed"
        | "oauth_org_not_allowed"
        | "account_on_hold"
        | "verification_required"
        | "billing_error"
        | "cloud_credential_error" => AgentTrouble::Refused { what: error.replace('_', " ") },
        _ => return,
    };
    heard.trouble = Some(trouble);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn heard(lines: &[Value]) -> AgentOutput {
        let mut heard = AgentOutput::default();
        lines.iter().for_each(|line| hear(&line.to_string(), &mut heard));
        heard
    }

    #[test]
    fn l6_a_limit_is_told_with_its_reset_and_a_warning_is_none() {
        let event = |status: &str| json!({"type": "rate_limit_event", "rate_limit_info": {"status": status, "resetsAt": 1_800_000_000}});
        let over =
            json!({"type": "result", "is_error": true, "api_error_status": 429, "result": "You've hit your limit"});
        assert_eq!(
            heard(&[event("rejected"), over.clone()]).trouble,
            Some(AgentTrouble::Limited { until: Some(Ms(1_800_000_000_000)) })
        );
        assert_eq!(heard(&[event("allowed_warning")]).trouble, None);
        assert_eq!(heard(&[over]).trouble, Some(AgentTrouble::Limited { until: None }));
    }

    #[test]
    fn l6_text_in_a_tools_output_is_no_limit() {
        let tool = json!({"type": "user", "message": {"content": [{"type": "tool_result", "content": "429 rate_limit: You've hit your limit"}]}});
        let fine = json!({"type": "result", "is_error": false, "result": "you hit your limit, said the log", "total_cost_usd": 0.25, "num_turns": 3});
        let heard = heard(&[tool, fine]);
        assert_eq!((heard.trouble, heard.cost_micros, heard.turns, heard.failed), (None, 250_000, 3, false));
    }

    #[test]
    fn l6_overload_passes_and_a_login_that_failed_does_not() {
        let failed = |status: u64| json!({"type": "result", "is_error": true, "api_error_status": status});
        assert!(matches!(heard(&[failed(529)]).trouble, Some(AgentTrouble::Transient { .. })));
        let login = json!({"type": "assistant", "error": "authentication_failed", "message": {}});
        assert!(matches!(heard(&[login]).trouble, Some(AgentTrouble::Refused { .. })));
        let again = json!({"type": "assistant", "message": {"content": [{"type": "tool_use", "name": "Bash"}]}});
        let overloaded = json!({"type": "assistant", "error": "overloaded", "message": {}});
        let heard = heard(&[overloaded, again]);
        assert_eq!((heard.trouble, heard.tool.as_deref()), (None, Some("Bash")));
    }

    #[test]
    fn l6_less_than_nothing_is_no_cost() {
        let line = json!({"type": "result", "is_error": false, "total_cost_usd": -100.0});
        assert_eq!(heard(&[line]).cost_micros, 0);
    }

    /// ORIGINS 5.3.8: the cost is in `total_cost_usd`.
    #[test]
    fn defect_8_the_cost_is_read_from_the_field_the_client_has_today() {
        let line = json!({"type": "result", "is_error": false, "cost_usd": 9.0, "total_cost_usd": 0.5});
        assert_eq!(heard(&[line]).cost_micros, 500_000);
    }
}
