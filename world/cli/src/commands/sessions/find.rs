//! The session that somebody means by a few letters.

use super::super::reach::CallerReach;
use super::super::{agent_names, ago, effort, stored};
use crate::error::CliError;
use host::paths::PathVariables;
use model::agent_name::AgentNames;
use model::session::Session;
use std::collections::BTreeSet;
use store::{SessionFilter, Store};

/// The store and the session, where whoever asks may see it.
pub fn seen(command: &str, letters: &str) -> Result<(Store, Session), CliError> {
    let store = stored()?.ok_or_else(|| not_found(letters))?;
    let session = one(&store, letters)?;
    reached(command, store, session)
}

/// The same where an agent's name counts before the beginning of an id.
pub fn seen_of_agent(command: &str, name: &str) -> Result<(Store, Session), CliError> {
    let store = stored()?.ok_or_else(|| not_found(name))?;
    let session = match named(&store, name)? {
        Some(newest) => newest,
        None => one(&store, name)?,
    };
    reached(command, store, session)
}

fn reached(command: &str, store: Store, session: Session) -> Result<(Store, Session), CliError> {
    let caller = effort::who(&store, &PathVariables::from_process())?;
    if CallerReach::of(command, &store, caller)?.includes(&session) {
        return Ok((store, session));
    }
    Err(CliError::failed("an agent is shown the sessions of its own project, and this is one of another")
        .hint(format!("`taut {command}` in your own terminal shows every session")))
}

/// A whole id is not the beginning of another. One that several sessions bear, as after a compaction, means the newest.
pub fn one(store: &Store, letters: &str) -> Result<Session, CliError> {
    if letters.is_empty() {
        return Err(not_found(letters));
    }
    if let Some(exact) = store.session(letters)? {
        return Ok(exact);
    }
    let mut found = store.sessions_called(letters)?;
    let ours: Vec<usize> = (0..found.len()).filter(|at| found[*at].id.starts_with(letters)).collect();
    let names: BTreeSet<&str> = found.iter().map(|session| session.logical_id.as_str()).collect();
    match (names.len(), ours.as_slice()) {
        (0, _) => match named(store, letters)? {
            Some(newest) => Ok(newest),
            None => Err(agent_names::elsewhere(store, letters)?.unwrap_or_else(|| not_found(letters))),
        },
        (1, [one]) => Ok(found.swap_remove(*one)),
        (1, []) => Ok(found.swap_remove(0)),
        _ => Err(ambiguous(letters, &found, &store.agent_names()?)),
    }
}

/// The newest session of the agent that is meant.
fn named(store: &Store, agent: &str) -> Result<Option<Session>, CliError> {
    let filter = |agent: String| SessionFilter { agent: Some(agent), limit: 1, ..SessionFilter::default() };
    // One whose name is forgotten has its id.
    if let Some(newest) = store.sessions(&filter(agent.to_owned()))?.pop() {
        return Ok(Some(newest));
    }
    Ok(store.sessions(&filter(agent_names::meant(store, agent)?))?.pop())
}

fn not_found(letters: &str) -> CliError {
    CliError::not_found(format!("no session's id begins with `{letters}`, and no agent is called so"))
        .hint("taut sessions --all")
}

fn ambiguous(letters: &str, found: &[Session], names: &AgentNames) -> CliError {
    let now = host::clock::now();
    let line = |session: &Session| {
        let seen = ago(now.since(session.last_seen_at));
        format!("{}  {}, {}, seen {seen} ago", session.id, names.of(&session.agent), session.project)
    };
    let lines: Vec<String> = found.iter().map(line).collect();
    CliError::not_found(format!("`{letters}` may be any of several sessions:\n{}", lines.join("\n")))
        .hint("give more of the id")
}
