//! From what somebody typed to an agent: every command that takes one asks here.

use crate::error::CliError;
use engine::fleet::text::line;
use model::Ms;
use model::agent_name::{AgentMatch, KnownAgent};
use model::effort::Addressee;
use policy::config::nearest;
use store::Store;

/// So many of those that could be meant are named.
const MOST_NAMED: usize = 8;

/// The id of the agent that is meant, on this machine.
pub fn found(store: &Store, typed: &str) -> Result<String, CliError> {
    match store.resolve_agent(typed)? {
        AgentMatch::One(id) => Ok(id),
        AgentMatch::Several(names) => Err(several(typed, &names)),
        AgentMatch::Unknown => Err(match elsewhere(store, typed)? {
            Some(refused) => refused,
            None => unknown_anywhere(typed, &store.known_agents()?, store.remote_names()?),
        }),
    }
}

/// The id and the name of an agent, which may be of another machine: `api@vm-3`.
pub fn anywhere(store: &Store, typed: &str) -> Result<(String, String), CliError> {
    if store.resolve_agent(typed)? == AgentMatch::Unknown
        && let Some(Addressee::Remote(remote)) = store.addressee(typed)?
        && remote.machine.is_some()
    {
        return Ok((typed.to_string(), remote.shown));
    }
    let id = found(store, typed)?;
    let name = store.agent_name(&id)?;
    Ok((id, name))
}

/// Of an agent of another machine, that only its own machine can do what is asked; `None` where nobody there is meant.
pub fn elsewhere(store: &Store, typed: &str) -> Result<Option<CliError>, CliError> {
    let remote = match store.addressee_or_several(typed)? {
        Ok(Addressee::Remote(remote)) => remote,
        Err(names) if !names.is_empty() => return Ok(Some(several(typed, &names))),
        Ok(Addressee::Agent(_) | Addressee::Conversation(_)) | Err(_) => return Ok(None),
    };
    let shown = line(&remote.shown, 120);
    let machine = remote.shown.rsplit_once('@').map_or("its machine".into(), |(_, machine)| line(machine, 80));
    let why = format!("`{shown}` is on another machine, and this is done where the agent is");
    let here = "from here: `taut send`, `taut say`, `taut answer`";
    Ok(Some(CliError::not_found(why).hint(format!("run it on {machine}; {here}"))))
}

/// The same for a filter: what is nobody's name stays as it was typed, and finds nothing.
pub fn meant(store: &Store, typed: &str) -> Result<String, CliError> {
    match store.resolve_agent(typed)? {
        AgentMatch::One(id) => Ok(id),
        AgentMatch::Several(names) => Err(several(typed, &names)),
        AgentMatch::Unknown => Ok(typed.to_string()),
    }
}

/// The same where a filter may be left out.
pub fn filter(store: &Store, typed: Option<&String>) -> Result<Option<String>, CliError> {
    typed.map(|typed| meant(store, typed)).transpose()
}

/// A name with the id that it is stored under, where that is another.
pub fn with_id(name: &str, id: &str) -> String {
    if name == id { id.to_string() } else { format!("{name} ({id})") }
}

pub fn unknown(typed: &str, known: &[KnownAgent]) -> CliError {
    CliError::not_found(no_such(typed, known)).hint("taut agents")
}

fn unknown_anywhere(typed: &str, known: &[KnownAgent], remote: Vec<String>) -> CliError {
    let elsewhere = remote.into_iter().map(|name| KnownAgent { id: name, name: None, present: true, at: Ms(0) });
    let all: Vec<KnownAgent> = known.iter().cloned().chain(elsewhere).collect();
    unknown(typed, &all)
}

/// With the nearest name or id there is, whichever letters are great or small.
pub fn no_such(typed: &str, known: &[KnownAgent]) -> String {
    let names = known.iter().flat_map(|agent| agent.name.iter().chain([&agent.id]));
    let names: Vec<(String, &String)> = names.map(|name| (name.to_lowercase(), name)).collect();
    let words: Vec<&str> = names.iter().map(|(small, _)| small.as_str()).collect();
    let near = nearest(&typed.to_lowercase(), &words);
    let near = names.iter().find(|(small, _)| near == Some(small.as_str()));
    let near = near.map(|(_, name)| format!(" (nearest: `{}`)", line(name, 80))).unwrap_or_default();
    format!("there is no agent `{}`{near}", line(typed, 80))
}

fn several(typed: &str, names: &[String]) -> CliError {
    let shown: Vec<String> = names.iter().take(MOST_NAMED).map(|name| format!("`{}`", line(name, 80))).collect();
    let more = names.len().saturating_sub(MOST_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    CliError::not_found(format!("`{}` may be any of {}{more}", line(typed, 80), shown.join(", ")))
        .hint("write more of the name; `taut agents` lists them")
}
