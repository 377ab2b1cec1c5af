//! Parts of the lines that agents are started with.

use model::run::Launch;

/// The kernel takes no longer single argument than 128 KiB.
const LONGEST_ARGUMENT: usize = 100_000;

/// Whether a prompt has to be read from stdin.
pub fn is_too_long(prompt: &str) -> bool {
    prompt.len() > LONGEST_ARGUMENT
}

/// The prompt, and before it where further instructions stand: for agents that take no file of them.
pub fn after_instructions(launch: &Launch) -> String {
    match &launch.instructions {
        Some(file) => format!("First read {file}: its instructions hold for all of this.\n\n{}", launch.prompt),
        None => launch.prompt.clone(),
    }
}
