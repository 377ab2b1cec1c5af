//! How OpenCode is started, and what its stream of JSON lines says.

use crate::launch_words::{after_instructions, is_too_long};
use model::run::{AgentOutput, AgentTrouble, Launch, LaunchLine, Permissions};
use serde_json::Value;

pub const PROGRAM: &str = "opencode";

/// Not interactive, its work told as JSON lines; a long prompt is read from stdin.
pub fn line(launch: &Launch) -> LaunchLine {
    let mut args = ["run", "--format", "json"].map(String::from).to_vec();
    if let Some(model) = &launch.model {
        args.extend(["--model".to_string(), model.clone()]);
    }
    if launch.permissions == Permissions::Skipped {
        args.push("--auto".to_string());
    }
    args.extend(launch.args.iter().cloned());
    let prompt = after_instructions(launch);
    let long = is_too_long(&prompt);
    if !long {
        // What stands behind is no option, whatever it begins with.
        args.extend(["--".to_string(), prompt.clone()]);
    }
    let program = launch.program.clone().unwrap_or_else(|| PROGRAM.to_string());
    LaunchLine { program, args, stdin: long.then_some(prompt) }
}

pub fn begin(prompt: &str) -> Vec<String> {
    vec!["--prompt".to_string(), prompt.to_string()]
}

pub fn resume(session: &str) -> Vec<String> {
    vec!["--session".to_string(), session.to_string()]
}

/// Takes one line in. A tool is told when it has ended, so none is ever known to run.
pub fn hear(line: &str, heard: &mut AgentOutput) {
    let Ok(value) = serde_json::from_str::<Value>(line) else { return };
    if let Some(session) = value.get("sessionID").and_then(Value::as_str) {
        heard.session = Some(session.to_string());
    }
    let part = value.get("part").unwrap_or(&Value::Null);
    match value.get("type").and_then(Value::as_str) {
        Some("text") => {
            let text = part.get("text").and_then(Value::as_str).unwrap_or_default();
            heard.said = Some(text.chars().take(400).collect());
        }
        Some("step_finish") => {
            heard.turns += 1;
            (heard.failed, heard.trouble) = (false, None);
            let cost = part.get("cost").and_then(Value::as_f64).unwrap_or_default();
            heard.cost_micros = heard.cost_micros.saturating_add((cost * 1e6).round() as i64);
            let number = |path: &str| part.pointer(path).and_then(Value::as_u64).unwrap_or_default();
            let context = ["/tokens/input", "/tokens/cache/read", "/tokens/cache/write"].map(number).iter().sum();
            heard.context_tokens = Some(context).filter(|tokens| *tokens > 0).or(heard.context_tokens);
        }
        Some("error") => failed(value.get("error").unwrap_or(&Value::Null), heard),
        _ => {}
    }
}

fn failed(error: &Value, heard: &mut AgentOutput) {
    let name = error.get("name").and_then(Value::as_str).unwrap_or_default();
    let words = error.pointer("/data/message").and_then(Value::as_str).unwrap_or(name);
    heard.failed = true;
    heard.said = Some(words.chars().take(400).collect());
    let what = || words.chars().take(400).collect::<String>();
    heard.trouble = match error.pointer("/data/statusCode").and_then(Value::as_u64) {
        Some(429) => Some(AgentTrouble::Limited { until: None }),
        Some(408 | 500..=599) => Some(AgentTrouble::Transient { what: what() }),
        Some(401..=403) => Some(AgentTrouble::Refused { what: what() }),
        None if name == "ProviderAuthError" => Some(AgentTrouble::Refused { what: what() }),
        _ => None,
    };
}
