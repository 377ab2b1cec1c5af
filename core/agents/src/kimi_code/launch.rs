//! How Kimi Code is started, and what its stream of JSON lines says.

use crate::prices::ModelPrice;
use model::run::{AgentOutput, Launch, LaunchLine};
use serde_json::Value;

pub const PROGRAM: &str = "kimi";

/// By their public list, rounded up where it has steps.
pub const PRICES: &[ModelPrice] = &[ModelPrice("kimi", 1_200, 300, 8_000)];

/// Not interactive, its work told as JSON lines. It takes a prompt as an argument only, and beside one no mode of
/// permissions: it never asks then.
pub fn line(launch: &Launch) -> LaunchLine {
    let mut args = vec!["--prompt".to_string(), launch.prompt.clone()];
    args.extend(["--output-format", "stream-json"].map(String::from));
    if let Some(model) = &launch.model {
        args.extend(["--model".to_string(), model.clone()]);
    }
    args.extend(launch.args.iter().cloned());
    let program = launch.program.clone().unwrap_or_else(|| PROGRAM.to_string());
    LaunchLine { program, args, stdin: None }
}

/// An interactive one takes no prompt to begin with.
pub fn begin(_: &str) -> Vec<String> {
    Vec::new()
}

pub fn resume(session: &str) -> Vec<String> {
    vec!["--session".to_string(), session.to_string()]
}

/// Takes one line in: messages as the model's API has them, and what the program says of itself.
pub fn hear(line: &str, heard: &mut AgentOutput) {
    let Ok(value) = serde_json::from_str::<Value>(line) else { return };
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    match text("role") {
        Some("assistant") => {
            let calls = value.get("tool_calls").and_then(Value::as_array);
            let tool = calls.and_then(|calls| calls.last()?.get("function")?.get("name")?.as_str());
            heard.tool = tool.map(str::to_string);
            heard.turns += 1;
            if let Some(said) = text("content").filter(|said| !said.is_empty()) {
                heard.said = Some(said.chars().take(400).collect());
            }
        }
        Some("tool") => heard.tool = None,
        Some("meta") => heard.session = text("session_id").map(str::to_string).or(heard.session.take()),
        _ => {}
    }
}
