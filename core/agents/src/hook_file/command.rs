//! Our command as one line for a shell: written, and recognised.

use crate::line_place::LinePlace;
use crate::settings::SettingsPlan;
use model::text::shell_word;

/// The line that calls us for the agent of that id. It stays the same across upgrades: where an agent has its hooks
/// reviewed, another line is another review.
pub fn command_line(plan: &SettingsPlan, id: &str) -> String {
    format!("{} hook --agent {}", shell_word(&plan.command), shell_word(id))
}

/// The program's name alone, for settings that are shared: each machine finds its own.
pub const SHARED_PROGRAM: &str = "taut";

/// Finds the program on whatever machine the line is run: on the search path, else the copy that `taut init` keeps.
const FIND: &str = "t=$(command -v taut || echo \"${TAUT_HOME:-${XDG_STATE_HOME:-$HOME/.local/state}/taut}/bin/taut\"); [ -x \"$t\" ] ||";
const FOUND: &str = "exec \"$t\" ";

/// The line for settings that a team shares: where there is no Taut, `absent` is done instead, which ends the shell.
pub(crate) fn shared_line(id: &str, absent: &str) -> String {
    format!("{FIND} {absent}; {FOUND}hook --agent {}", shell_word(&LinePlace::Project.of(id)))
}

/// The words of our command that a hook's line begins with.
pub const HOOK_WORDS: &[&str] = &["hook"];

/// The program that a line starts, when the line is one of our hooks.
pub(crate) fn hook_program(line: &str) -> Option<String> {
    program_with(line, HOOK_WORDS)
}

/// The same for a line of ours that begins with these words.
pub(crate) fn program_with(line: &str, begin: &[&str]) -> Option<String> {
    if let Some((_, found)) = line.strip_prefix(FIND).and_then(|rest| rest.rsplit_once(FOUND)) {
        let words = shell_words(found);
        let ours = begin.iter().enumerate().all(|(at, word)| words.get(at).is_some_and(|found| found == word));
        return ours.then(|| SHARED_PROGRAM.to_owned());
    }
    let mut words = shell_words(line).into_iter();
    let program = words.next().filter(|program| is_taut(program))?;
    begin.iter().all(|word| words.next().as_deref() == Some(*word)).then_some(program)
}

pub(crate) fn is_taut(program: &str) -> bool {
    program.rsplit('/').next() == Some("taut")
}

/// The words of a simple shell line. Only good enough to recognise our own:
/// expansions stay as they are written.
pub(crate) fn shell_words(line: &str) -> Vec<String> {
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
            assert_eq!(shell_words(&format!("{} hook", shell_word(path))), [path, "hook"]);
        }
    }

    #[test]
    fn i1_the_line_that_a_team_shares_names_no_machine_and_is_known_again() {
        let line = shared_line("codex", "exit 0");
        assert!(!line.contains("/home") && line.ends_with("exec \"$t\" hook --agent codex/project"), "{line}");
        assert_eq!(hook_program(&line).as_deref(), Some(SHARED_PROGRAM));
        assert_eq!(program_with(&line, &["answer", "wait"]), None);
        assert_eq!(hook_program(&line.replace("hook", "status")), None);
    }

    #[test]
    fn i1_the_line_for_a_shell_names_program_and_agent_and_is_known_again() {
        let plan = |command: &str| SettingsPlan {
            command: command.into(),
            client: KnownClient::Unknown,
            on_failure: GuardFailure::Continue,
            allow: Vec::new(),
            results: model::session::ResultsBy::Hooks,
        };
        assert_eq!(command_line(&plan("/opt/taut"), "codex"), "/opt/taut hook --agent codex");
        assert_eq!(command_line(&plan("/my tools/taut"), "codex"), "'/my tools/taut' hook --agent codex");
        assert_eq!(hook_program(&command_line(&plan("/my tools/taut"), "codex")).as_deref(), Some("/my tools/taut"));
        for foreign in ["taut", "taut status", "/a/tauter hook", "echo taut hook", ""] {
            assert_eq!(hook_program(foreign), None, "{foreign}");
        }
    }
}
