//! Taut's own commands, and for whom they are. What is declared for nobody is not for agents.

/// For whom a command is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// Agents may run it: it looks, or is about an agent's own work.
    Agents,
    /// It changes what the guard does, speaks past it, starts agents, or acts for the user.
    People,
}

/// Commands by what stands before them: `policy` and `allow` are `taut policy allow`.
const COMMANDS: &[(&str, Audience, &[&str])] = &[
    (
        "",
        Audience::Agents,
        &[
            "agents", "demo", "doctor", "events", "explain", "guard", "help", "inbox", "log", "send", "sessions",
            "status", "tmux", "top", "version",
        ],
    ),
    (
        "",
        Audience::People,
        &["allow", "hook", "init", "pause", "rpc", "run", "statusline", "trust", "ui", "uninstall"],
    ),
    ("agent", Audience::Agents, &["focus"]),
    ("config", Audience::Agents, &["path", "schema", "show"]),
    ("config", Audience::People, &["edit"]),
    ("daemon", Audience::Agents, &["log", "status"]),
    ("daemon", Audience::People, &["run", "start", "stop"]),
    ("db", Audience::Agents, &["path"]),
    ("db", Audience::People, &["backup", "check"]),
    ("effort", Audience::Agents, &["finish", "list", "phase", "show", "start"]),
    ("init", Audience::People, &["loop"]),
    ("loop", Audience::People, &["build", "log", "plan"]),
    ("notify", Audience::Agents, &["status"]),
    ("notify", Audience::People, &["deliver", "off", "on", "test"]),
    ("policy", Audience::Agents, &["allows", "check", "list", "show", "test"]),
    ("policy", Audience::People, &["allow", "forget", "pack"]),
    (
        "session",
        Audience::Agents,
        &[
            "activate", "continue", "deactivate", "dehydrate", "end", "find", "init", "phase", "restart", "status",
        ],
    ),
    (
        "task",
        Audience::Agents,
        &[
            "block", "claim", "create", "delete", "deps", "done", "fail", "history", "list", "peek", "plan-status",
            "plan-sync", "renew", "requeue", "show", "step-done", "unblock", "update", "watch", "why",
        ],
    ),
    ("task agent", Audience::Agents, &["deregister", "list", "register"]),
    ("tmux", Audience::Agents, &["apply", "clear", "status"]),
    ("worker", Audience::Agents, &["done"]),
];

/// For whom the command is that these words after `taut` name; `None` where nobody declared it. Words that name only a
/// group of commands print its help, and a word that is none of a group which is all for agents is refused by it.
pub fn audience(words: &[&str]) -> Option<Audience> {
    let [first, rest @ ..] = words else { return Some(Audience::Agents) };
    let deeper = rest.get(1).and_then(|third| declared(&format!("{first} {}", rest.first()?), third));
    let below = rest.first().and_then(|second| declared(first, second));
    let mut group = COMMANDS.iter().filter(|(before, ..)| before == first).peekable();
    let harmless = group.peek().is_some() && group.all(|(_, audience, _)| *audience == Audience::Agents);
    let help = matches!(rest, [] | ["help", ..]) && COMMANDS.iter().any(|(before, ..)| before == first);
    deeper.or(below).or_else(|| declared("", first)).or((harmless || help).then_some(Audience::Agents))
}

/// Whether the very command of this path is declared.
pub fn is_declared(path: &[&str]) -> bool {
    path.split_last().is_some_and(|(name, before)| declared(&before.join(" "), name).is_some())
}

fn declared(before: &str, name: &str) -> Option<Audience> {
    let fits = |(group, _, names): &&(&str, Audience, &[&str])| *group == before && names.contains(&name);
    COMMANDS.iter().find(fits).map(|(_, audience, _)| *audience)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn g8_the_deepest_name_that_is_declared_counts() {
        let of = |line: &str| audience(&line.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>());
        for line in ["", "task list", "task agent list", "task agent", "tmux", "tmux apply", "policy", "policy help allow"] {
            assert_eq!(of(line), Some(Audience::Agents), "{line}");
        }
        for line in ["status working", "send bob pause", "log uninstall", "task show allow"] {
            assert_eq!(of(line), Some(Audience::Agents), "the rest is text: {line}");
        }
        for line in ["init", "init loop", "policy allow x", "loop build", "run", "pause 1h"] {
            assert_eq!(of(line), Some(Audience::People), "{line}");
        }
        assert_eq!(of("unheard"), None);
        assert_eq!(of("policy unheard"), None);
        assert_eq!(of("task unheard"), Some(Audience::Agents), "it will say that there is none");
        assert!(is_declared(&["task", "agent", "list"]) && !is_declared(&["task", "unheard"]));
    }
}
