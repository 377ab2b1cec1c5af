//! How Claude Code is started for one iteration of a loop.

use crate::launch_words::named_commands;
use crate::prices::ModelPrice;
use model::run::{Launch, LaunchLine, Permissions};

/// What users start it as.
pub const PROGRAM: &str = "claude";

/// By their public list, rounded up where it has steps.
pub const PRICES: &[ModelPrice] = &[
    ModelPrice("claude-opus-5", 5_000, 500, 25_000),
    ModelPrice("claude-opus-4-5", 5_000, 500, 25_000),
    ModelPrice("claude-opus-4-6", 5_000, 500, 25_000),
    ModelPrice("claude-opus-4-7", 5_000, 500, 25_000),
    ModelPrice("claude-opus-4-8", 5_000, 500, 25_000),
    ModelPrice("claude-opus", 15_000, 1_500, 75_000),
    ModelPrice("claude-sonnet", 6_000, 600, 22_500),
    ModelPrice("claude-haiku", 1_000, 100, 5_000),
];

/// The kernel takes no longer single argument than 128 KiB.
const LONGEST_ARGUMENT: usize = 100_000;

/// Not interactive, its work told as a stream of JSON lines.
pub fn line(launch: &Launch) -> LaunchLine {
    let mut args = vec!["-p".to_string()];
    let long = launch.prompt.len() > LONGEST_ARGUMENT;
    if !long {
        // A leading dash would be taken for an option.
        let dash = launch.prompt.starts_with('-');
        args.push(if dash { format!("\n{}", launch.prompt) } else { launch.prompt.clone() });
    }
    args.extend(["--output-format", "stream-json", "--verbose"].map(String::from));
    if let Some(model) = &launch.model {
        args.extend(["--model".to_string(), model.clone()]);
    }
    if let Some(turns) = launch.max_turns {
        args.extend(["--max-turns".to_string(), turns.to_string()]);
    }
    if let Some(file) = &launch.instructions {
        args.extend(["--append-system-prompt-file".to_string(), file.clone()]);
    }
    match launch.permissions {
        Permissions::Asked => {}
        Permissions::Edits => {
            args.extend(["--permission-mode", "acceptEdits"].map(String::from));
            let rules = named_commands(launch).map(|command| format!("Bash({command}:*)"));
            args.extend(rules.flat_map(|rule| ["--allowedTools".to_string(), rule]));
        }
        Permissions::Skipped => args.push("--dangerously-skip-permissions".to_string()),
    }
    args.extend(launch.args.iter().cloned());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l1_the_line_carries_prompt_model_and_permissions_in_this_order() {
        let launch = Launch {
            model: Some("sonnet".into()),
            prompt: "build".into(),
            permissions: Permissions::Skipped,
            args: vec!["--debug".into()],
            ..Launch::default()
        };
        let LaunchLine { program, args, stdin } = line(&launch);
        assert_eq!((program.as_str(), stdin), ("claude", None));
        let words =
            "-p build --output-format stream-json --verbose --model sonnet --dangerously-skip-permissions --debug";
        assert_eq!(args.join(" "), words);
    }

    #[test]
    fn a_prompt_too_long_for_an_argument_is_read_from_stdin_and_a_dash_is_no_option() {
        let long = line(&Launch { prompt: "x".repeat(200_000), ..Launch::default() });
        assert_eq!(long.stdin.map(|text| text.len()), Some(200_000));
        assert_eq!(line(&Launch { prompt: "- [ ] a".into(), ..Launch::default() }).args[1], "\n- [ ] a");
    }
}
