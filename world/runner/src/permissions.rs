//! What the agent may do: what somebody chose for a work tree, and the commands that go with edits.

use crate::asked;
use crate::lock;
use agents::launch_words::is_plain_command;
use engine::loops::LoopSettings;
use model::run::Permissions;
use std::io;
use std::path::Path;

/// What every agent that may edit needs to bring its work to an end.
const FIXED: &[&str] = &["git add", "git commit", "git status", "git diff", "taut session"];
const OF_THE_QUEUE: &[&str] = &["taut task"];

/// Where a line of the shell goes on with another command.
const JOINTS: &[&str] = &["&&", "||", ";", "\n"];

/// As `--permissions` takes it.
#[must_use]
pub fn permission_name(permissions: Permissions) -> &'static str {
    asked::name(permissions)
}

/// What a person chose for this agent in this work tree: what `edits` are is another thing with each.
#[must_use]
pub fn kept_permissions(state: &Path, tree: &Path, agent: &str) -> Option<Permissions> {
    asked::permissions(&lock::kept(state, tree, &ending(agent))?)
}

pub fn keep_permissions(state: &Path, tree: &Path, agent: &str, permissions: Permissions) -> io::Result<()> {
    lock::keep(state, tree, &ending(agent), asked::name(permissions))
}

/// Only agents that are known are chosen for, and their names are plain.
fn ending(agent: &str) -> String {
    let plain: String = agent.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    format!("{plain}.permissions")
}

/// The commands an agent with `edits` may run, by their first words, and those that cannot be told as such words.
pub(crate) fn commands(settings: &LoopSettings, queue: bool) -> (Vec<String>, Vec<String>) {
    let mut named: Vec<String> =
        FIXED.iter().chain(OF_THE_QUEUE.iter().filter(|_| queue)).map(ToString::to_string).collect();
    let mut left_out = Vec::new();
    let verify = settings.verify.iter().flat_map(|line| pieces(line));
    for command in verify.chain(settings.commands.iter().map(|command| command.trim().to_string())) {
        let list = if is_plain_command(&command) { &mut named } else { &mut left_out };
        if !command.is_empty() && !list.contains(&command) {
            list.push(command);
        }
    }
    (named, left_out)
}

fn pieces(line: &str) -> Vec<String> {
    let mut pieces = vec![line];
    for joint in JOINTS {
        pieces = pieces.into_iter().flat_map(|piece| piece.split(joint)).collect();
    }
    pieces.into_iter().map(|piece| piece.trim().to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::loops::{Assignments, Flags, Sources, settings};
    use std::collections::BTreeMap;

    #[test]
    fn l1_edits_bring_git_the_plans_commands_and_no_more_than_can_be_named() {
        let (flags, env, policy) = (Flags::default(), BTreeMap::new(), policy::Policy::default());
        let mut settings =
            settings(Sources { flags: &flags, env: &env, policy: &policy, file: &Assignments::default() }).unwrap();
        settings.verify = Some("cargo test && ./check.sh -q; echo \"done\"".into());
        settings.commands = vec!["npm run lint".into(), "a) Bash(*".into(), "cargo test".into()];
        let (named, left_out) = commands(&settings, true);
        let expected = [
            "git add", "git commit", "git status", "git diff", "taut session", "taut task", "cargo test",
            "./check.sh -q", "npm run lint",
        ];
        assert_eq!(named, expected);
        assert_eq!(left_out, ["echo \"done\"", "a) Bash(*"]);
        assert!(!commands(&settings, false).0.contains(&"taut task".to_string()));
    }

    #[test]
    fn l1_a_choice_is_kept_for_its_work_tree_and_its_agent_alone() {
        let folder = tempfile::tempdir().unwrap();
        let (state, one, two) = (folder.path().join("s"), folder.path().join("one"), folder.path().join("two"));
        let kept = |tree, agent| kept_permissions(&state, tree, agent);
        assert_eq!(kept(&one, "pi"), None);
        keep_permissions(&state, &one, "pi", Permissions::Skipped).unwrap();
        keep_permissions(&state, &one, "pi", Permissions::Edits).unwrap();
        let expected = (Some(Permissions::Edits), None, None);
        assert_eq!((kept(&one, "pi"), kept(&two, "pi"), kept(&one, "codex")), expected);
    }
}
