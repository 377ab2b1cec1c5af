//! `taut-identity`: speaking for another agent.

use crate::rule::{Hit, Pack, Rule, Sight, Watch};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "taut-identity",
    pack: Pack::SelfProtection,
    kind: RuleKind::Deny,
    title: "Speaking for another agent",
    doc: "Stops setting the variables that say who an agent is (`TAUT_AGENT_ID`, `RALPH_AGENT_ID`, \
          `TAUT_SESSION_ID`, `TAUT_HOME`, …) for a Taut command: an agent would finish, fail or read \
          another's work.",
    instead: "Run the command as yourself: `taut task list`.",
    denies: &["TAUT_AGENT_ID=other taut task fail a/1", "env RALPH_AGENT_ID=x taut task done a/1", "export TAUT_AGENT_ID=b; taut task claim", "TAUT_HOME=/tmp/x taut task list", "CLAUDE_SESSION_ID=abc taut log x"],
    passes: &["taut task list", "TAUT_AGENT_ID=other ./run-tests.sh", "RUST_LOG=debug taut status x", "echo TAUT_AGENT_ID=x", "FOO=1 make"],
    watch: Watch::Programs(&["taut", "task", "engine", "fresher"]),
    judge,
};

const NAMES: &[&str] = &[
    "TAUT_AGENT_ID", "RALPH_AGENT_ID", "AGENT_ID", "TAUT_SESSION_ID", "CLAUDE_SESSION_ID", "CLAUDE_SESSION_ROLE", "CLAUDE_SESSION_MODE",
    "CLAUDE_CONVERSATION_ID", "CLAUDE_PARENT_SESSION_ID", "MISSION_EXECUTION_ID", "TAUT_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "HOME",
];

fn judge(sight: &Sight<'_>, hits: &mut Vec<Hit>) {
    let own = sight.command.assignments.iter().map(|(name, _)| name.as_str());
    let set = own.chain(sight.index.sets(sight.matter, sight.at, NAMES)).find(|name| NAMES.contains(name));
    if let Some(name) = set {
        let reason = format!("`{name}` says who speaks; an agent speaks for itself only.");
        hits.push(Hit::new(format!("{name}=… {}", sight.shown()), reason));
    }
}
