//! Parts of the lines that agents are started with.

use model::run::{Launch, Permissions};

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

/// The commands that may be run without asking, with `Edits` alone. Whatever could end a rule early or mean more than
/// itself in one is none, so `a) Bash(*` gets nowhere.
pub fn named_commands(launch: &Launch) -> impl Iterator<Item = &str> {
    let commands = launch.commands.iter().filter(|_| launch.permissions == Permissions::Edits);
    commands.map(|command| command.trim()).filter(|command| is_plain_command(command))
}

/// Words and blanks. No quotes, brackets, stars, commas or anything that a shell or a rule reads otherwise.
pub fn is_plain_command(command: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " -_./=+@:".contains(c);
    command.chars().all(is_plain)
        && command.starts_with(|c: char| c.is_ascii_alphanumeric() || "./_".contains(c))
        && !command.ends_with([':', ' '])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn g11_a_command_cannot_get_out_of_its_rule() {
        for plain in ["git commit", "cargo test --workspace", "npm run build:prod", "./run.sh"] {
            assert!(is_plain_command(plain), "{plain}");
        }
        for other in [
            "", "-rf", "a) Bash(*", "git *", "a,b", "a;b", "a && b", "a | b", "$(x)", "`x`", "a\nb", "\"a b\"", "a'b",
            "a\\b", "git:", "a\u{202e}b", "a\tb",
        ] {
            assert!(!is_plain_command(other), "{other:?}");
        }
        let commands = vec!["git commit".to_string(), "a) Bash(*".to_string()];
        let launch = |permissions| Launch { permissions, commands: commands.clone(), ..Launch::default() };
        assert_eq!(named_commands(&launch(Permissions::Edits)).collect::<Vec<_>>(), ["git commit"]);
        assert_eq!(named_commands(&launch(Permissions::Asked)).count(), 0);
    }
}
