//! How Droid is started.

use crate::launch_words;
use model::run::{Launch, LaunchLine, Permissions};

/// What users start it as.
pub const PROGRAM: &str = "droid";

/// Not interactive, its work told as a stream of JSON lines. It has no limit of turns. Without permissions skipped it only
/// reads.
pub fn line(launch: &Launch) -> LaunchLine {
    let mut args = ["exec", "--output-format", "stream-json"].map(String::from).to_vec();
    if let Some(model) = &launch.model {
        args.extend(["--model".to_string(), model.clone()]);
    }
    if let Some(file) = &launch.instructions {
        args.extend(["--append-system-prompt-file".to_string(), file.clone()]);
    }
    match launch.permissions {
        Permissions::Asked => {}
        // Low autonomy runs no command, not even a commit.
        Permissions::Edits => {
            let level = if launch_words::named_commands(launch).next().is_some() { "medium" } else { "low" };
            args.extend(["--auto", level].map(String::from));
        }
        Permissions::Skipped => args.push("--skip-permissions-unsafe".to_string()),
    }
    args.extend(launch.args.iter().cloned());
    let long = launch_words::is_too_long(&launch.prompt);
    if !long {
        // A leading dash would be taken for an option.
        args.extend(["--".to_string(), launch.prompt.clone()]);
    }
    let program = launch.program.clone().unwrap_or_else(|| PROGRAM.to_string());
    LaunchLine { program, args, stdin: long.then(|| launch.prompt.clone()) }
}

/// The words that make an interactive client begin with a prompt.
pub fn begin(prompt: &str) -> Vec<String> {
    vec![prompt.to_string()]
}

/// The words that make an interactive client go on with a session of its own.
pub fn resume(session: &str) -> Vec<String> {
    vec!["--resume".to_string(), session.to_string()]
}
