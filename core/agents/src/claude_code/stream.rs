//! What Claude Code's stream of JSON lines says of its work. Trouble is read
//! from the fields made for it, never from text that a tool may have printed.

use model::Ms;
use model::run::{AgentOutput, AgentTrouble};
use serde_json::Value;

/// More of what it says at once is not kept, in characters.
const LONGEST_WORDS: usize = 2_000;

/// Takes one line in. A line that is no object says nothing.
pub fn hear(line: &str, heard: &mut AgentOutput) {
    if !line.trim_start().starts_with('{') {
        return;
    }
    let Ok(value) = serde_json::from_str::<Value>(line) else { return };
    match text(&value, "type") {
        "system" => {
            if let Some(session) = value.get("session_id").and_then(Value::as_str) {
                heard.session = Some(session.to_string());
            }
        }
        // A sub-agent's words carry the tool that started it; its context is its own.
        "assistant" if value.get("parent_tool_use_id").is_none_or(Value::is_null) => assistant(&value, heard),
        "user" => heard.tool = None,
        "rate_limit_event" => limit(&value, heard),
        "result" => result(&value, heard),
        _ => {}
    }
}

fn assistant(value: &Value, heard: &mut AgentOutput) {
    let message = value.get("message").unwrap_or(&Value::Null);
    if let Some(usage) = message.get("usage") {
        let part = |name: &str| usage.get(name).and_then(Value::as_u64).unwrap_or_default();
        let all = part("input_tokens") + part("cache_creation_input_tokens") + part("cache_read_input_tokens");
        heard.context_tokens = Some(all).filter(|tokens| *tokens > 0).or(heard.context_tokens);
    }
    let blocks = message.get("content").and_then(Value::as_array);
    let of = |kind: &str| blocks.into_iter().flatten().rfind(|block| text(block, "type") == kind);
    if let Some(words) = of("text").map(|block| text(block, "text").trim()).filter(|words| !words.is_empty()) {
        heard.said = Some(words.chars().take(LONGEST_WORDS).collect());
    }
    if let Some(tool) = of("tool_use") {
        heard.tool = Some(text(tool, "name").to_string());
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
    if let Some(cost) = value.get("total_cost_usd").and_then(Value::as_f64) {
        heard.cost_micros = (cost * 1e6).round() as i64;
    }
    heard.turns = value.get("num_turns").and_then(Value::as_u64).unwrap_or(heard.turns);
    heard.said = value.get("result").and_then(Value::as_str).map(|words| words.chars().take(400).collect());
    heard.failed = value.get("is_error").and_then(Value::as_bool).unwrap_or_default();
    if !heard.failed {
        heard.trouble = None;
        return;
    }
    match value.get("api_error_status").and_then(Value::as_u64) {
        Some(429) if !matches!(heard.trouble, Some(AgentTrouble::Limited { .. })) => {
            heard.trouble = Some(AgentTrouble::Limited { until: None });
        }
        Some(status @ (408 | 500..=599)) => {
            heard.trouble = Some(AgentTrouble::Transient { what: format!("status {status}") })
        }
        Some(status @ (401..=403)) => {
            let what = heard.said.clone().unwrap_or_else(|| format!("status {status}"));
            heard.trouble = Some(AgentTrouble::Refused { what });
        }
        _ => {}
    }
}

/// The client's own names of what went wrong.
fn named(error: &str, heard: &mut AgentOutput) {
    let trouble = match error {
        "rate_limit" if matches!(heard.trouble, Some(AgentTrouble::Limited { .. })) => return,
        "rate_limit" => AgentTrouble::Limited { until: None },
        "overloaded" | "server_error" => AgentTrouble::Transient { what: error.to_string() },
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

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
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

    /// ORIGINS 5.3.8: the cost is in `total_cost_usd`.
    #[test]
    fn defect_8_the_cost_is_read_from_the_field_the_client_has_today() {
        let line = json!({"type": "result", "is_error": false, "cost_usd": 9.0, "total_cost_usd": 0.5});
        assert_eq!(heard(&[line]).cost_micros, 500_000);
    }
}
