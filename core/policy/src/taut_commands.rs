//! Taut's own commands, and for whom they are. What is declared for nobody is not for agents.

/// For whom a command is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandAudience {
    /// Agents may run it: it looks, or is about an agent's own work.
    Agents,
    /// It changes what the guard does, speaks past it, starts agents, or acts for the user.
    People,
}

/// Commands by what stands before them: `policy` and `allow` are `taut policy allow`.
const COMMANDS: &[(&str, CommandAudience, &[&str])] = &[
    (
        "",
        CommandAudience::Agents,
        &[
            "agents", "complete", "completions", "continue", "demo", "diff", "doctor", "events", "explain", "facts",
            "forget", "guard", "help", "inbox", "log", "mcp", "memory", "metrics", "recall", "remember", "replay",
            "scan", "self", "send", "sessions", "stats", "status", "tmux", "top", "version",
        ],
    ),
    (
        "",
        CommandAudience::People,
        &[
            "allow", "answer", "hook", "init", "man", "pause", "rpc", "run", "say", "statusline", "trust", "ui",
            "undo", "uninstall",
        ],
    ),
    ("agent", CommandAudience::Agents, &["focus"]),
    // Nobody chooses the name under which it asks for something.
    ("agent", CommandAudience::People, &["name"]),
    // Any other word there is an agent to be answered.
    ("answer", CommandAudience::Agents, &["status"]),
    ("answer", CommandAudience::People, &["off", "on", "wait"]),
    ("config", CommandAudience::Agents, &["path", "schema", "show"]),
    ("config", CommandAudience::People, &["edit"]),
    ("daemon", CommandAudience::Agents, &["log", "status"]),
    ("daemon", CommandAudience::People, &["run", "start", "stop"]),
    ("db", CommandAudience::Agents, &["path"]),
    ("db", CommandAudience::People, &["backup", "check"]),
    ("effort", CommandAudience::Agents, &["finish", "list", "phase", "show", "start"]),
    ("events", CommandAudience::Agents, &["show"]),
    ("init", CommandAudience::People, &["loop"]),
    ("loop", CommandAudience::Agents, &["list", "log", "report", "status"]),
    ("demo", CommandAudience::Agents, &["agent", "loop"]),
    (
        "loop",
        CommandAudience::People,
        &["build", "guard-group", "pause", "plan", "resume", "service", "stop", "undo", "write-log"],
    ),
    ("memory", CommandAudience::Agents, &["status"]),
    ("memory", CommandAudience::People, &["forget", "off", "on"]),
    ("notify", CommandAudience::Agents, &["status"]),
    ("notify", CommandAudience::People, &["add", "deliver", "off", "on", "test"]),
    ("policy", CommandAudience::Agents, &["allows", "check", "list", "log", "show", "test"]),
    ("policy", CommandAudience::People, &["allow", "forget", "pack"]),
    (
        "session",
        CommandAudience::Agents,
        &["activate", "continue", "deactivate", "dehydrate", "end", "find", "init", "phase", "restart", "status"],
    ),
    ("sessions", CommandAudience::Agents, &["export", "show"]),
    ("shared", CommandAudience::Agents, &["export", "refused", "status", "sync"]),
    // They change what leaves this machine and for whom, or move a whole queue.
    ("shared", CommandAudience::People, &["connect", "deliver", "disconnect", "import", "key", "migrate", "trust"]),
    (
        "task",
        CommandAudience::Agents,
        &[
            "block", "claim", "create", "delete", "deps", "done", "export", "fail", "history", "import", "list",
            "peek", "plan-status", "plan-sync", "renew", "requeue", "show", "step-done", "unblock", "update", "watch",
            "why",
        ],
    ),
    ("task agent", CommandAudience::Agents, &["deregister", "list", "register"]),
    ("telemetry", CommandAudience::Agents, &["status"]),
    // They change what leaves this machine.
    ("telemetry", CommandAudience::People, &["off", "on"]),
    ("tmux", CommandAudience::Agents, &["apply", "clear", "status"]),
    // Any other word there is a checkpoint to go back to.
    ("undo", CommandAudience::Agents, &["list", "show"]),
    ("worker", CommandAudience::Agents, &["done"]),
];

/// For whom the command is that these words after `taut` name; `None` where nobody declared it. Words that name only a
/// group of commands print its help, and a word that is none of a group which is all for agents is refused by it.
pub fn audience(words: &[&str]) -> Option<CommandAudience> {
    let [first, rest @ ..] = words else { return Some(CommandAudience::Agents) };
    let deeper = rest.get(1).and_then(|third| declared(&format!("{first} {}", rest.first()?), third));
    let below = rest.first().and_then(|second| declared(first, second));
    let mut group = COMMANDS.iter().filter(|(before, ..)| before == first).peekable();
    let harmless = group.peek().is_some() && group.all(|(_, audience, _)| *audience == CommandAudience::Agents);
    let help = matches!(rest, [] | ["help", ..]) && COMMANDS.iter().any(|(before, ..)| before == first);
    deeper.or(below).or_else(|| declared("", first)).or((harmless || help).then_some(CommandAudience::Agents))
}

/// Whether the very command of this path is declared.
pub fn is_declared(path: &[&str]) -> bool {
    path.split_last().is_some_and(|(name, before)| declared(&before.join(" "), name).is_some())
}

fn declared(before: &str, name: &str) -> Option<CommandAudience> {
    let fits = |(group, _, names): &&(&str, CommandAudience, &[&str])| *group == before && names.contains(&name);
    COMMANDS.iter().find(fits).map(|(_, audience, _)| *audience)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn g8_the_deepest_name_that_is_declared_counts() {
        let of = |line: &str| audience(&line.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>());
        for line in
            ["", "task list", "task agent list", "task agent", "tmux", "tmux apply", "policy", "policy help allow"]
        {
            assert_eq!(of(line), Some(CommandAudience::Agents), "{line}");
        }
        for line in [
            "shared", "shared status", "shared sync", "status working", "send bob pause", "log uninstall",
            "task show allow",
        ] {
            assert_eq!(of(line), Some(CommandAudience::Agents), "the rest is text: {line}");
        }
        for line in [
            "init", "init loop", "policy allow x", "loop build", "run", "pause 1h", "answer", "answer api",
            "answer on", "answer wait", "shared trust vm-3", "shared key", "shared connect x", "shared migrate",
            "say api go on", "agent name api me", "undo", "undo 3fa9c21b",
        ] {
            assert_eq!(of(line), Some(CommandAudience::People), "{line}");
        }
        assert_eq!(of("unheard"), None);
        assert_eq!(of("policy unheard"), None);
        assert_eq!(of("task unheard"), Some(CommandAudience::Agents), "it will say that there is none");
        assert!(is_declared(&["task", "agent", "list"]) && !is_declared(&["task", "unheard"]));
    }
}
