//! What an option or an argument may be: what its definition lists, or what this machine has.

use super::{Candidate, MOST};
use clap::Arg;
use host::paths::PathVariables;
use model::agent_name::SEPARATOR;
use model::row::{Agent, AgentStatus};
use model::session::Session;
use model::task::TaskStatus;
use store::{SessionFilter, Store, TaskFilter};

/// Values that only this machine knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValueKind {
    Rule,
    /// An agent's kind, by its id.
    Client,
    /// One of the fleet.
    Agent,
    Task,
    Session,
}

pub fn of(path: &[&str], arg: &Arg) -> Vec<Candidate> {
    let listed: Vec<Candidate> = arg
        .get_possible_values()
        .into_iter()
        .filter(|value| !value.is_hide_set())
        .map(|value| Candidate {
            value: value.get_name().to_owned(),
            about: value.get_help().map(ToString::to_string).unwrap_or_default(),
        })
        .collect();
    match kind(path, arg.get_id().as_str()) {
        Some(kind) if listed.is_empty() => known(kind),
        _ => listed,
    }
}

/// By the name that a definition gives it, and by the command where one name means several things.
fn kind(path: &[&str], id: &str) -> Option<ValueKind> {
    match (path, id) {
        (["policy", "show" | "allow"], "rule") | (["policy", "forget"], "what") | (_, "rule") => Some(ValueKind::Rule),
        (["init" | "uninstall" | "doctor" | "hook", ..], "agent") => Some(ValueKind::Client),
        (["loop" | "run", ..], "agent") => Some(ValueKind::Client),
        (["task", "agent", ..], _) => None,
        (["task", "create"], "id") => None,
        (["task", ..], "id" | "by") | (_, "task") => Some(ValueKind::Task),
        (_, "agent" | "assignee") | (["agent", ..], "id") | (["send"], "to") | (["diff"], "of") => {
            Some(ValueKind::Agent)
        }
        (_, "session") | (["sessions", "show" | "export"], _) => Some(ValueKind::Session),
        _ => None,
    }
}

fn known(kind: ValueKind) -> Vec<Candidate> {
    let candidate = |value: &str, about: &str| Candidate { value: value.to_owned(), about: about.to_owned() };
    match kind {
        ValueKind::Rule => policy::rules::ALL.iter().map(|rule| candidate(rule.id, rule.title)).collect(),
        ValueKind::Client => {
            agents::ALL.0.iter().map(|dialect| candidate(dialect.id(), dialect.profile.name)).collect()
        }
        // Whatever is wrong with the record, a key that was pressed is no place to say so.
        ValueKind::Agent | ValueKind::Task | ValueKind::Session => stored(kind).unwrap_or_default(),
    }
}

fn stored(kind: ValueKind) -> Option<Vec<Candidate>> {
    let places = PathVariables::from_process();
    let store = Store::open_existing_read_only(&places.state()).ok()?;
    Some(match kind {
        ValueKind::Task => {
            let cwd = std::env::current_dir().ok()?;
            let project = host::probe::project(&cwd, &places.home()).root;
            let filter = TaskFilter {
                statuses: vec![TaskStatus::Active, TaskStatus::Open, TaskStatus::Quarantined],
                limit: MOST,
                ..TaskFilter::default()
            };
            let tasks = store.tasks(&project, &filter).ok()?;
            tasks.into_iter().map(|task| Candidate { value: task.queued.slug, about: task.plan.title }).collect()
        }
        ValueKind::Session => {
            let sessions = store.sessions(&SessionFilter { limit: MOST, ..SessionFilter::default() }).ok()?;
            let names = store.agent_names().ok()?;
            let about = |session: &Session| format!("{} in {}", names.of(&session.agent), session.project);
            sessions.into_iter().map(|session| Candidate { about: about(&session), value: session.id }).collect()
        }
        _ => {
            let (agents, names) = (store.agents().ok()?, store.agent_names().ok()?);
            let is_here = |agent: &Agent| agent.named || agent.session.is_some() || agent.status == AgentStatus::Error;
            let agents = agents.into_iter().filter(is_here).take(MOST);
            // As it can be typed.
            let typed = |id: &str| names.of(id).replace(SEPARATOR, ".");
            agents.map(|agent| Candidate { about: agent.status.name().to_owned(), value: typed(&agent.id) }).collect()
        }
    })
}
