//! Our command as one line for a shell: written, and recognised.

use crate::settings::SettingsPlan;

/// The line that calls us for the agent of that id. It stays the same across upgrades: where an agent has its hooks
/// reviewed, another line is another review.
pub fn command_line(plan: &SettingsPlan, id: &str) -> String {
    format!("{} hook --agent {}", quoted(&plan.command), quoted(id))
}

/// The program that a line starts, when the line is one of our hooks.
pub(crate) fn hook_program(line: &str) -> Option<String> {
    let mut words = shell_words(line).into_iter();
    let program = words.next()?;
    (is_taut(&program) && words.next().as_deref() == Some("hook")).then_some(program)
}

pub(crate) fn is_taut(program: &str) -> bool {
    program.rsplit('/').next() == Some("taut")
}

/// A word as a shell reads it back unchanged.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%:,=".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The words of a simple shell line. Only good enough to recognise our own:
/// expansions stay as they are written.
fn shell_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(chars.next()),
            (None, _) if c.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{GuardFailure, KnownClient};

    #[test]
    fn a_quoted_word_is_read_back_as_it_was() {
        for path in ["/a/taut", "/my tools/taut", "/it's/taut", "/a$b/`c`/\"d\"/taut", "/ü/taut"] {
            assert_eq!(shell_words(&format!("{} hook", quoted(path))), [path, "hook"]);
        }
    }

    #[test]
    fn i1_the_line_for_a_shell_names_program_and_agent_and_is_known_again() {
        let plan = |command: &str| SettingsPlan {
            command: command.into(),
            client: KnownClient::Unknown,
            on_failure: GuardFailure::Continue,
            allow: Vec::new(),
        };
        assert_eq!(command_line(&plan("/opt/taut"), "codex"), "/opt/taut hook --agent codex");
        assert_eq!(command_line(&plan("/my tools/taut"), "codex"), "'/my tools/taut' hook --agent codex");
        assert_eq!(hook_program(&command_line(&plan("/my tools/taut"), "codex")).as_deref(), Some("/my tools/taut"));
        for foreign in ["taut", "taut status", "/a/tauter hook", "echo taut hook", ""] {
            assert_eq!(hook_program(foreign), None, "{foreign}");
        }
    }
}
