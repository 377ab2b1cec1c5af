//! The table of what works with which agent, made from what each dialect declares.

use agents::Dialect;
use agents::dialect::Tried;
use model::EventKind;
use model::agent::HelperSessions;
use model::reply::GateStop;
use std::fmt::Write;
use std::path::Path;

const HEAD: &str = "# Agents

Made from what each dialect declares; `UPDATE_DOCS=1 cargo test -p taut reference` writes it anew.

`taut init` finds the agents that are installed here and offers them; `taut init --agent SOME` names some, `--all`
takes every one that is found. `taut doctor` shows each: found, hooks on, agreed to, last event, what it cannot do.
`taut uninstall` takes all hooks out again, byte for byte.

What an agent cannot be told is not said to it: a question becomes a denial that names the way to agree, and context waits
for an event that carries it. *Untried* ones are made from documentation alone and installed only with `--experimental`.

## What works where
";

type Cell = fn(&Dialect) -> String;

/// What can be said of an agent, and what its dialect declares of it.
const COLUMNS: &[(&str, Cell)] = &[
    ("id", |agent| format!("`{}`", agent.id())),
    ("tried on", |agent| match agent.tried {
        Tried::OnTheRealAgent(version) => version.to_owned(),
        Tried::FromDocumentation => "*untried*".to_owned(),
    }),
    ("deny", |agent| mark(denies(agent))),
    ("ask", |agent| mark(agent.profile.expresses.ask)),
    ("context at start", |agent| mark(takes_context(agent, EventKind::SessionStart))),
    ("with a prompt", |agent| mark(takes_context(agent, EventKind::UserPromptSubmit))),
    ("before a tool", |agent| mark(takes_context(agent, EventKind::PreToolUse))),
    ("after a tool", |agent| mark(takes_context(agent, EventKind::PostToolUse))),
    ("go on after a stop", |agent| {
        mark(agent.profile.expresses.block.has(EventKind::Stop) && tells(agent, EventKind::Stop))
    }),
    ("end a run", |agent| mark(agent.profile.expresses.halt)),
    ("rewrite a call", |agent| mark(agent.profile.expresses.rewrite)),
    ("sub-agents", |agent| helpers(agent).to_owned()),
    ("end of session", |agent| mark(tells(agent, EventKind::SessionEnd))),
];

/// `docs/agents/README.md`; the folder says which agents have a page.
fn page(folder: &Path) -> String {
    let some: Vec<&str> = agents::ALL.ids().skip(1).take(2).collect();
    let mut out = HEAD.replace("SOME", &some.join(","));
    let names: Vec<&str> = COLUMNS.iter().map(|(name, _)| *name).collect();
    let _ = write!(out, "\n| agent | {} |\n|---{}|\n", names.join(" | "), "|---".repeat(names.len()));
    for agent in agents::ALL.0 {
        let cells: Vec<String> = COLUMNS.iter().map(|(_, cell)| cell(agent)).collect();
        let _ = writeln!(out, "| {} | {} |", link(agent, folder), cells.join(" | "));
    }
    out.push_str("\nSub-agents: *marked* events carry their parent's session, *own sessions* are joined to it.\n");
    out.push_str("\n## What is lost\n");
    for agent in agents::ALL.0.iter().filter(|agent| !agent.limits.is_empty()) {
        let _ = write!(out, "\n**{}**\n\n", agent.profile.name);
        agent.limits.iter().for_each(|limit| out.push_str(&format!("- {limit}\n")));
    }
    out.push_str("\n## Left out\n\n| agent | why |\n|---|---|\n");
    for (name, why) in agents::others::LEFT_OUT {
        let _ = writeln!(out, "| {name} | {why} |");
    }
    out
}

fn link(agent: &Dialect, folder: &Path) -> String {
    let (name, page) = (agent.profile.name, format!("{}.md", agent.id()));
    if folder.join(&page).is_file() { format!("[{name}]({page})") } else { name.to_owned() }
}

fn mark(yes: bool) -> String {
    if yes { "yes" } else { "–" }.to_owned()
}

fn tells(agent: &Dialect, kind: EventKind) -> bool {
    agent.settings.registered.iter().any(|event| event.kind == kind)
}

fn takes_context(agent: &Dialect, kind: EventKind) -> bool {
    agent.profile.expresses.context.has(kind) && tells(agent, kind)
}

/// Something has to be said, and in a form that the agent was seen to honour.
fn denies(agent: &Dialect) -> bool {
    let answer = (agent.stop_unread)(GateStop::Deny { reason: "a reason".into(), halt: None });
    answer.stdout.contains("a reason") || answer.stderr.contains("a reason")
}

fn helpers(agent: &Dialect) -> &'static str {
    let told = tells(agent, EventKind::SubagentStart) || tells(agent, EventKind::SubagentStop);
    match agent.profile.helpers {
        HelperSessions::Own => "own sessions",
        HelperSessions::Marked if told => "marked",
        HelperSessions::Marked => "–",
    }
}

#[cfg(test)]
mod tests {
    use super::page;
    use std::path::Path;

    #[test]
    fn a1_the_table_of_agents_in_the_docs_is_the_one_that_is_declared() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/agents");
        let (file, page) = (folder.join("README.md"), page(&folder));
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(&file, &page).unwrap();
        }
        let kept = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(kept == page, "docs/agents/README.md is old: run `UPDATE_DOCS=1 cargo test -p taut reference`");
    }
}
