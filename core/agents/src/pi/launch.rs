//! How Pi is started, and what its stream of JSON lines says.

use super::transcript;
use crate::agent_output::{add, by_words, micros, number};
use crate::launch_words::is_too_long;
use crate::prices::UsedTokens;
use model::run::{AgentOutput, Launch, LaunchLine};
use serde_json::Value;

pub const PROGRAM: &str = "pi";

/// Not interactive, its work told as JSON lines; a long prompt is read from stdin. It asks for no permissions.
pub fn line(launch: &Launch) -> LaunchLine {
    let mut args = ["-p", "--mode", "json"].map(String::from).to_vec();
    if let Some(model) = &launch.model {
        args.extend(["--model".to_string(), model.clone()]);
    }
    if let Some(file) = &launch.instructions {
        args.extend(["--append-system-prompt".to_string(), file.clone()]);
    }
    args.extend(launch.args.iter().cloned());
    let long = is_too_long(&launch.prompt);
    if !long {
        args.extend(["--".to_string(), prompt_word(&launch.prompt)]);
    }
    let program = launch.program.clone().unwrap_or_else(|| PROGRAM.to_string());
    LaunchLine { program, args, stdin: long.then(|| launch.prompt.clone()) }
}

/// A word that begins with `@` names a file.
fn prompt_word(prompt: &str) -> String {
    if prompt.starts_with('@') { format!("\n{prompt}") } else { prompt.to_string() }
}

pub fn begin(prompt: &str) -> Vec<String> {
    vec!["--".to_string(), prompt_word(prompt)]
}

pub fn resume(session: &str) -> Vec<String> {
    vec!["--session".to_string(), session.to_string()]
}

/// Takes one line in.
pub fn hear(line: &str, heard: &mut AgentOutput) {
    let Ok(value) = serde_json::from_str::<Value>(line) else { return };
    let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_string);
    match text("type").as_deref() {
        Some("session") => heard.session = text("id"),
        Some("tool_execution_start") => heard.tool = text("toolName"),
        Some("tool_execution_end") => heard.tool = None,
        Some("turn_end") => turn(value.get("message").unwrap_or(&Value::Null), heard),
        _ => {}
    }
}

/// What a message of the agent's took.
pub fn used(message: &Value) -> UsedTokens {
    UsedTokens {
        input: number(message, "/usage/input"),
        cache_read: number(message, "/usage/cacheRead"),
        cache_write: number(message, "/usage/cacheWrite"),
        output: number(message, "/usage/output"),
    }
}

fn turn(message: &Value, heard: &mut AgentOutput) {
    heard.turns += 1;
    let used = used(message);
    let context = UsedTokens { output: 0, ..used }.all();
    heard.context_tokens = Some(context).filter(|tokens| *tokens > 0).or(heard.context_tokens);
    add(heard, used, micros(message.pointer("/usage/cost/total").and_then(Value::as_f64).unwrap_or_default()));
    let first = |text: String| text.chars().take(400).collect::<String>();
    let error = message.get("errorMessage").and_then(Value::as_str);
    heard.failed = message.get("stopReason").is_some_and(|reason| reason == "error");
    heard.said = error.map(str::to_string).or_else(|| transcript::said(message)).map(first).or(heard.said.take());
    // Errors of the model's server begin with their status.
    heard.trouble = error.filter(|_| heard.failed).and_then(by_words);
}
