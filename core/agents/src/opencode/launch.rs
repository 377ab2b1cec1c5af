//! How OpenCode is started, and what its stream of JSON lines says.

use crate::agent_output::{add, by_status, by_words, deny, described, micros, number, short};
use crate::launch_words::{after_instructions, is_too_long};
use crate::prices::UsedTokens;
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

/// How the client says that a call was not permitted; a plugin that throws has words of its own.
const REFUSED_CALL: &[&str] = &["The user rejected permission", "The user has specified a rule which prevents"];

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
            let used = UsedTokens {
                input: number(part, "/tokens/input"),
                cache_read: number(part, "/tokens/cache/read"),
                cache_write: number(part, "/tokens/cache/write"),
                output: number(part, "/tokens/output").saturating_add(number(part, "/tokens/reasoning")),
            };
            add(heard, used, micros(cost));
            let context = UsedTokens { output: 0, ..used }.all();
            heard.context_tokens = Some(context).filter(|tokens| *tokens > 0).or(heard.context_tokens);
        }
        Some("tool_use") => {
            let state = part.get("state").unwrap_or(&Value::Null);
            let error = state.get("error").and_then(Value::as_str).unwrap_or_default();
            if REFUSED_CALL.iter().any(|start| error.starts_with(start)) {
                let tool = part.get("tool").and_then(Value::as_str).unwrap_or_default();
                deny(heard, described(tool, state.get("input").unwrap_or(&Value::Null)));
            }
        }
        Some("error") => failed(value.get("error").unwrap_or(&Value::Null), heard),
        _ => {}
    }
}

fn failed(error: &Value, heard: &mut AgentOutput) {
    let name = error.get("name").and_then(Value::as_str).unwrap_or_default();
    let words = error.pointer("/data/message").and_then(Value::as_str).unwrap_or(name);
    heard.failed = true;
    heard.said = Some(short(words));
    let status = error.pointer("/data/statusCode").and_then(Value::as_u64);
    heard.trouble = match status {
        Some(status) => by_status(status, words),
        None if name == "ProviderAuthError" => Some(AgentTrouble::Refused { what: short(words) }),
        None => by_words(words),
    };
}
