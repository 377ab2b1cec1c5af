//! How Codex is started.

use model::run::{Launch, LaunchLine, Permissions};

/// What users start it as.
pub const PROGRAM: &str = "codex";

/// The kernel takes no longer single argument than 128 KiB.
const LONGEST_ARGUMENT: usize = 100_000;

/// Not interactive, its work told as a stream of JSON lines. Codex takes no limit of turns, and no file of instructions
/// beside its own: the prompt names it.
pub fn line(launch: &Launch) -> LaunchLine {
    let mut args: Vec<String> = ["exec", "--json", "--skip-git-repo-check"].map(String::from).into();
    if let Some(model) = &launch.model {
        args.extend(["--model".to_string(), model.clone()]);
    }
    match launch.permissions {
        Permissions::Asked => {}
        Permissions::Edits => args.extend(["--sandbox", "workspace-write"].map(String::from)),
        Permissions::Skipped => args.push("--dangerously-bypass-approvals-and-sandbox".to_string()),
    }
    args.extend(launch.args.iter().cloned());
    let prompt = match &launch.instructions {
        Some(file) => format!("Read `{file}` first: it says how to work here.\n\n{}", launch.prompt),
        None => launch.prompt.clone(),
    };
    let long = prompt.len() > LONGEST_ARGUMENT;
    args.extend(["--".to_string(), if long { "-".to_string() } else { prompt.clone() }]);
    let program = launch.program.clone().unwrap_or_else(|| PROGRAM.to_string());
    LaunchLine { program, args, stdin: long.then_some(prompt) }
}

/// The words that make an interactive client begin with a prompt.
pub fn begin(prompt: &str) -> Vec<String> {
    vec!["--".to_string(), prompt.to_string()]
}

/// The words that make it go on with a session of its own.
pub fn resume(session: &str) -> Vec<String> {
    vec!["resume".to_string(), session.to_string()]
}
