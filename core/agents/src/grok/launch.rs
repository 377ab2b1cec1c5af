//! How Grok is started.

use crate::launch_words;
use crate::prices::ModelPrice;
use model::run::{Launch, LaunchLine, Permissions};

/// What users start it as.
pub const PROGRAM: &str = "grok";

/// By their public list, rounded up where it has steps.
pub const PRICES: &[ModelPrice] = &[ModelPrice("grok-code", 200, 20, 1_500), ModelPrice("grok", 6_000, 1_500, 30_000)];

/// Not interactive, its work told as a stream of JSON lines. It takes no file of instructions.
pub fn line(launch: &Launch) -> LaunchLine {
    let text = launch_words::after_instructions(launch);
    let long = launch_words::is_too_long(&text);
    // Apart from its option a prompt with a leading dash would be taken for one.
    let prompt = if long { "--prompt-file=/dev/stdin".to_string() } else { format!("--single={text}") };
    let mut args = vec![prompt];
    args.extend(["--output-format", "streaming-messages-json"].map(String::from));
    if let Some(model) = &launch.model {
        args.extend(["--model".to_string(), model.clone()]);
    }
    if let Some(turns) = launch.max_turns {
        args.extend(["--max-turns".to_string(), turns.to_string()]);
    }
    match launch.permissions {
        Permissions::Asked => {}
        Permissions::Edits => {
            args.push("--permission-mode=acceptEdits".to_string());
            args.extend(launch_words::named_commands(launch).map(|command| format!("--allow=Bash({command}:*)")));
        }
        Permissions::Skipped => args.push("--always-approve".to_string()),
    }
    args.extend(launch.args.iter().cloned());
    let program = launch.program.clone().unwrap_or_else(|| PROGRAM.to_string());
    LaunchLine { program, args, stdin: long.then_some(text) }
}

/// The words that make an interactive client begin with a prompt.
pub fn begin(prompt: &str) -> Vec<String> {
    vec![prompt.to_string()]
}

/// The words that make an interactive client go on with a session of its own.
pub fn resume(session: &str) -> Vec<String> {
    vec!["--resume".to_string(), session.to_string()]
}
