//! How Copilot is started.

use crate::launch_words::named_commands;
use model::run::{Launch, LaunchLine, Permissions};

/// What users start it as.
pub const PROGRAM: &str = "copilot";

/// The kernel takes no longer single argument than 128 KiB.
const LONGEST_ARGUMENT: usize = 100_000;

/// Not interactive, its work told as a stream of JSON lines. Copilot takes no limit of turns, and no file of instructions
/// beside its own: the prompt names it.
pub fn line(launch: &Launch) -> LaunchLine {
    let prompt = match &launch.instructions {
        Some(file) => format!("Read `{file}` first: it says how to work here.\n\n{}", launch.prompt),
        None => launch.prompt.clone(),
    };
    let long = prompt.len() > LONGEST_ARGUMENT;
    // Behind an equals sign a leading dash is no option.
    let mut args = if long { Vec::new() } else { vec![format!("--prompt={prompt}")] };
    args.extend(["--output-format", "json", "--no-color", "--no-ask-user"].map(String::from));
    if let Some(model) = &launch.model {
        args.extend(["--model".to_string(), model.clone()]);
    }
    match launch.permissions {
        Permissions::Asked => {}
        Permissions::Edits => {
            args.push("--allow-tool=write".to_string());
            args.extend(named_commands(launch).map(|command| format!("--allow-tool=shell({command}:*)")));
        }
        Permissions::Skipped => args.push("--allow-all".to_string()),
    }
    args.extend(launch.args.iter().cloned());
    let program = launch.program.clone().unwrap_or_else(|| PROGRAM.to_string());
    LaunchLine { program, args, stdin: long.then_some(prompt) }
}

/// The words that make an interactive client begin with a prompt.
pub fn begin(prompt: &str) -> Vec<String> {
    vec![format!("--interactive={prompt}")]
}

/// The words that make it go on with a session of its own.
pub fn resume(session: &str) -> Vec<String> {
    vec![format!("--resume={session}")]
}
