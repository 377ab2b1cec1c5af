//! Whom somebody means who types a name, an id, or how one of them begins.

use super::{SEPARATOR, key};
use crate::time::Ms;
use std::collections::BTreeSet;

/// An agent as far as it takes to be found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownAgent {
    pub id: String,
    /// `None` where it goes by its id.
    pub name: Option<String>,
    /// It is running, or listed with those that run; others are only remembered.
    pub present: bool,
    /// When its status last changed, or its name was given.
    pub at: Ms,
}

/// Who is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentMatch {
    /// Its id.
    One(String),
    /// The names of all that it may be.
    Several(Vec<String>),
    Unknown,
}

/// What an agent is to be called that appears, or appears again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameWish {
    pub agent: String,
    /// Called after its project, where it has no name yet.
    pub project: String,
    pub at: Ms,
}

/// An id always means its own agent, so that no folder's name takes what is for another. Then those that are here count
/// before those that were: by their names, by the only one of a project, by how a name or an id begins.
pub fn resolve(typed: &str, known: &[KnownAgent]) -> AgentMatch {
    if known.iter().any(|agent| agent.id == typed) {
        return AgentMatch::One(typed.to_string());
    }
    if typed.is_empty() {
        return AgentMatch::Unknown;
    }
    let (present, past): (Vec<_>, Vec<_>) = known.iter().partition(|agent| agent.present);
    let wanted = key(typed);
    let named = |agent: &&KnownAgent| agent.name.as_deref().is_some_and(|name| key(name) == wanted);
    let numbered = |agent: &&KnownAgent| {
        let name = agent.name.as_deref().map(key);
        name.is_some_and(|name| name.rsplit_once(SEPARATOR).is_some_and(|(stem, _)| stem == wanted))
    };
    let begins = |agent: &&KnownAgent| begins(agent, typed, &wanted);
    let exactly = |agent: &&KnownAgent| agent.name.as_deref() == Some(typed);
    for among in [some(&present, exactly), some(&present, named), some(&present, numbered), some(&present, begins)] {
        if let Some(found) = one(&among) {
            return found;
        }
    }
    // Of those that had the name one after the other, the last is meant.
    let last = some(&past, named).into_iter().max_by_key(|agent| agent.at);
    last.map(|agent| AgentMatch::One(agent.id.clone()))
        .or_else(|| one(&some(&past, begins)))
        .unwrap_or(AgentMatch::Unknown)
}

fn some<'a>(agents: &[&'a KnownAgent], is_meant: impl Fn(&&KnownAgent) -> bool) -> Vec<&'a KnownAgent> {
    agents.iter().copied().filter(|agent| is_meant(agent)).collect()
}

fn one(found: &[&KnownAgent]) -> Option<AgentMatch> {
    match found {
        [] => None,
        [agent] => Some(AgentMatch::One(agent.id.clone())),
        many => {
            let names: BTreeSet<&str> = many.iter().map(|agent| agent.name.as_deref().unwrap_or(&agent.id)).collect();
            // Several of one name are told apart by their ids.
            let ids = || many.iter().map(|agent| agent.id.clone()).collect();
            let names: Vec<String> = names.into_iter().map(str::to_string).collect();
            Some(AgentMatch::Several(if names.len() == many.len() { names } else { ids() }))
        }
    }
}

/// Whether its id or its name begins so, in great or small letters.
fn begins(agent: &KnownAgent, typed: &str, wanted: &str) -> bool {
    let typed = typed.to_lowercase();
    let of = |text: &str| {
        let small = text.to_lowercase();
        small.starts_with(&typed) || key(text).starts_with(wanted)
    };
    of(&agent.id) || agent.name.as_deref().is_some_and(of)
}
