//! How Gemini CLI is started.

use crate::launch_words::{after_instructions, is_too_long, named_commands};
use crate::prices::ModelPrice;
use model::run::{Launch, LaunchLine, Permissions};

/// What users start it as.
pub const PROGRAM: &str = "gemini";

/// By their public list, rounded up where it has steps.
pub const PRICES: &[ModelPrice] = &[
    ModelPrice("gemini-3-flash", 500, 50, 3_000),
    ModelPrice("gemini-2.5-flash", 300, 75, 2_500),
    ModelPrice("gemini", 4_000, 400, 18_000),
];

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
    match launch.permissions {
        Permissions::Asked => {}
        Permissions::Edits => {
            args.push("--approval-mode=auto_edit".to_string());
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
