//! `taut-identity`: speaking for another agent.

use crate::args::{Args, Grammar, text};
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "taut-identity",
    pack: Pack::SelfProtection,
    kind: RuleKind::Deny,
    title: "Speaking for another agent",
    doc: "Stops setting the variables that say who an agent is (`TAUT_AGENT_ID`, `RALPH_AGENT_ID`, \
          `TAUT_SESSION_ID`, `TAUT_HOME`, …) for a Taut command, and what acts on others' tasks: `--agent` with \
          another's name, deregistering another, deleting many tasks at once. An agent would finish, fail, end or \
          read another's work. Nor does it send messages from another terminal (`tmux send-keys`, `tmux new-window`, \
          …): what is typed there counts as the user's own words.",
    instead: "Run the command as yourself: `taut task list`, `taut task done a/1`.",
    denies: &[
        "TAUT_AGENT_ID=other taut task fail a/1", "env RALPH_AGENT_ID=x taut task done a/1",
        "export TAUT_AGENT_ID=b; taut task claim", "TAUT_HOME=/tmp/x taut task list",
        "CLAUDE_SESSION_ID=abc taut log x", "CLAUDE_CODE_SESSION_ID=abc taut task done a/1",
        "CLAUDE_PID=42 taut task claim", "taut task done a/1 --agent alice", "task fail a/1 --reason x --agent=alice",
        "taut --json task claim --agent alice", "taut task renew a/1 --attempt 2 --agent 'alice'",
        "taut task agent deregister alice", "taut task delete --all --confirm", "task delete --status open,active",
        "sh -c 'taut task done a/1 --agent alice'", "TAUT_AGENT_ID=b nohup taut task claim",
        "HOME=/tmp/x timeout 5 taut task list", "TAUT_AGENT_ID=b sh -c 'taut task done a/1'",
        "tmux send-keys -t %1 'taut send api go on' Enter", "tmux new-window \"taut send api 'go on'\"",
        "screen -X stuff 'taut send api hi\\n'", "tmux new-window 'sh -c \"env -i taut send api hi\"'",
    ],
    passes: &[
        "taut task list",
        "TAUT_AGENT_ID=other ./run-tests.sh",
        "RUST_LOG=debug taut status x",
        "echo TAUT_AGENT_ID=x",
        "FOO=1 make",
        "taut task done a/1",
        "taut task done a/1 --agent \"$RALPH_AGENT_ID\"",
        "taut task claim --agent ${TAUT_AGENT_ID}",
        "taut task done a/1 --attempt 1",
        "taut send api 'rebase before you go on'",
        "tmux send-keys -t %1 'echo taut send' Enter",
        "taut task delete a/1",
        "taut task list --assignee alice",
        "taut task fail a/1 --reason 'no --agent alice'",
        "taut task agent register",
        "id=$(taut task agent register); taut task agent deregister $id",
        "echo taut task delete --all",
        "task --agent",
    ],
    watch: RuleTrigger::Programs(&["taut", "task", "engine", "fresher"]),
    judge,
};

const NAMES: &[&str] = &[
    "TAUT_AGENT_ID", "RALPH_AGENT_ID", "AGENT_ID", "TAUT_SESSION_ID", "CLAUDE_SESSION_ID", "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_PID", "CLAUDE_SESSION_ROLE", "CLAUDE_SESSION_MODE", "CLAUDE_CONVERSATION_ID", "CLAUDE_PARENT_SESSION_ID",
    "MISSION_EXECUTION_ID", "TAUT_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "HOME",
];

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let own = sight.assignments().map(|(name, _)| name.as_str());
    if let Some(reason) = others(sight) {
        hits.push(Hit::new(sight.shown(), reason));
    }
    let set = own.chain(sight.index.sets(sight.parsed_call, sight.at, NAMES)).find(|name| NAMES.contains(name));
    if let Some(name) = set {
        let reason = format!("`{name}` says who speaks; an agent speaks for itself only.");
        hits.push(Hit::new(format!("{name}=… {}", sight.shown()), reason));
    }
}

/// Options of `taut task` that take a value.
const VALUES: &[&str] = &[
    "agent", "lease", "attempt", "token", "reason", "result", "status", "spec", "category", "assignee", "priority",
    "description", "steps", "ref", "deps", "title", "by", "pid",
];

/// Why a command of the queue acts on what is others'. What only the run would
/// tell, as `$RALPH_AGENT_ID`, is left to the command itself, which knows who calls.
fn others(sight: &RuleInput<'_>) -> Option<String> {
    let grammar = Grammar { short: "npcdsr", long: VALUES, single_dash_long: false };
    let args = Args::parse(sight.command.args(), grammar);
    let mut operands = args.operands.iter().map(|word| text(word));
    if sight.program() != "task" {
        let group = operands.next();
        if matches!(group.as_deref(), Some("send" | "worker")) && sight.command.is_in_another_terminal() {
            return Some("From another terminal a message would pass for the user's own words.".to_string());
        }
        group.filter(|group| *group == "task")?;
    }
    let own = sight.parsed_call.around.agent.as_deref();
    let foreign = |name: &str| !name.is_empty() && !name.contains('$') && !name.contains('`') && Some(name) != own;
    let flag = |name: &str| args.flags.iter().find(|flag| flag.long && flag.name == name);
    let verbs = [operands.next(), operands.next(), operands.next()].map(Option::unwrap_or_default);
    match [&*verbs[0], &*verbs[1], &*verbs[2]] {
        ["delete", ..] if flag("all").is_some() || flag("status").is_some() => {
            Some("Deleting many tasks at once ends the work of others; it is for people.".to_string())
        }
        ["agent", "deregister", name] if foreign(name) => {
            Some(format!("Deregistering `{name}` takes its tasks away; an agent speaks for itself only."))
        }
        ["claim" | "renew" | "done" | "fail", ..] => {
            let name = flag("agent")?.value.as_deref().filter(|name| foreign(name))?;
            Some(format!("`--agent {name}` speaks for another; an agent speaks for itself only."))
        }
        _ => None,
    }
}
