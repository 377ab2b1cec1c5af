//! How Qwen Code is started.

use crate::launch_words::{after_instructions, is_too_long, named_commands};
use crate::prices::ModelPrice;
use model::run::{Launch, LaunchLine, Permissions};

/// What users start it as.
pub const PROGRAM: &str = "qwen";

/// By their public list, rounded up where it has steps.
pub const PRICES: &[ModelPrice] = &[ModelPrice("qwen", 6_000, 600, 60_000)];

/// Not interactive, its work told as a stream of JSON lines.
pub fn line(launch: &Launch) -> LaunchLine {
    let prompt = after_instructions(launch);
    let long = is_too_long(&prompt);
    let mut args = Vec::new();
    if !long {
        // As one word, so that a leading dash is no option.
        args.push(format!("--prompt={prompt}"));
    }
    args.extend(["--output-format", "stream-json"].map(String::from));
    if let Some(model) = &launch.model {
        args.extend(["--model".to_string(), model.clone()]);
    }
    if let Some(turns) = launch.max_turns {
        args.extend(["--max-session-turns".to_string(), turns.to_string()]);
    }
    match launch.permissions {
        Permissions::Asked => {}
        Permissions::Edits => {
            args.push("--approval-mode=auto-edit".to_string());
            args.extend(named_commands(launch).map(|command| format!("--allowed-tools=run_shell_command({command})")));
        }
        Permissions::Skipped => args.push("--yolo".to_string()),
    }
    args.extend(launch.args.iter().cloned());
    let program = launch.program.clone().unwrap_or_else(|| PROGRAM.to_string());
    LaunchLine { program, args, stdin: long.then_some(prompt) }
}

pub fn begin(prompt: &str) -> Vec<String> {
    vec![format!("--prompt-interactive={prompt}")]
}

pub fn resume(session: &str) -> Vec<String> {
    vec!["--resume".to_string(), session.to_string()]
}
