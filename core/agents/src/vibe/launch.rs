//! How Mistral Vibe is started, and what its stream of JSON lines says.

use model::run::{AgentOutput, Launch, LaunchLine, Permissions};
use serde_json::Value;

pub const PROGRAM: &str = "vibe";

/// The kernel takes no longer single argument than 128 KiB.
const LONGEST_ARGUMENT: usize = 100_000;

/// Not interactive, its work told as JSON lines; a long prompt is read from stdin.
pub fn line(launch: &Launch) -> LaunchLine {
    let long = launch.prompt.len() > LONGEST_ARGUMENT;
    // A leading dash would be taken for an option.
    let mut args = vec!["-p".to_string()];
    if !long {
        args = vec![format!("--prompt={}", launch.prompt)];
    }
    args.extend(["--output", "streaming"].map(String::from));
    if let Some(turns) = launch.max_turns {
        args.extend(["--max-turns".to_string(), turns.to_string()]);
    }
    match launch.permissions {
        Permissions::Asked => {}
        Permissions::Edits => args.extend(["--agent", "accept-edits"].map(String::from)),
        Permissions::Skipped => args.push("--auto-approve".to_string()),
    }
    args.extend(launch.args.iter().cloned());
    let program = launch.program.clone().unwrap_or_else(|| PROGRAM.to_string());
    LaunchLine { program, args, stdin: long.then(|| launch.prompt.clone()) }
}

pub fn begin(prompt: &str) -> Vec<String> {
    vec![prompt.to_string()]
}

pub fn resume(session: &str) -> Vec<String> {
    vec!["--resume".to_string(), session.to_string()]
}

/// Takes one line in: messages, and the tools that were run.
pub fn hear(line: &str, heard: &mut AgentOutput) {
    let Ok(value) = serde_json::from_str::<Value>(line) else { return };
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    if let Some(session) = text("sessionId") {
        heard.session = Some(session.to_string());
    }
    let detail = value.get("detail").unwrap_or(&Value::Null);
    match text("type") {
        Some("effect") => {
            let running = value.get("state").and_then(|state| state.get("status")).is_some_and(|is| is != "completed");
            let tool = detail.get("toolName").and_then(Value::as_str).filter(|_| running);
            heard.tool = tool.map(str::to_string);
        }
        Some("message") if text("role") == Some("assistant") => {
            heard.turns += 1;
            let parts = value.get("content").and_then(Value::as_array);
            let words = parts.into_iter().flatten().filter_map(|part| part.get("text")?.as_str());
            let said: String = words.collect::<Vec<_>>().join("\n").chars().take(400).collect();
            heard.said = Some(said).filter(|said| !said.is_empty()).or(heard.said.take());
        }
        _ => {}
    }
}
