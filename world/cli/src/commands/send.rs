//! `taut send`, `taut worker done`: what agents and people tell agents. What
//! the hook that saw the line has sent is found sent.

use super::{agent_names, effort, stored};
use crate::error::CliError;
use crate::exit::Exit;
use crate::person;
use crate::printer::Printer;
use actions::Person;
use engine::fleet::text;
use grammar::{AgentArgs, AgentCommand, MessageArgs};
use host::paths::PathVariables;
use model::card::ActionPlace;
use model::effort::Addressee;
use serde_json::json;
use store::{SessionFilter, Store};

/// Whoever sleeps in a pane is woken now rather than at the daemon's next look.
pub fn run(args: MessageArgs, printer: &Printer) -> Result<Exit, CliError> {
    let line = effort::typed(&AgentArgs::Messages(args));
    let wrong = matches!(line.command, Some(Err(_)));
    if let Some(Ok(AgentCommand::Send { to, text })) = &line.command
        && let Some(exit) = as_a_person(to, text, printer)?
    {
        return Ok(exit);
    }
    let mut carried = effort::carried(&line).map_err(|error| if wrong { error.of_usage() } else { error })?;
    if let Some(Ok(AgentCommand::Send { to, .. })) = &line.command
        && carried.output.starts_with("sent to agent ")
        && let Some(name) = away(to)
    {
        carried.output = format!("{} has no session now; the message waits for its next one", text::line(&name, 80));
    }
    service::tell_daemon(&PathVariables::from_process());
    Ok(effort::say(carried, printer))
}

/// A person's own note, where a person was seen to write it; `None` where nobody can tell, or nobody is called so: then it is
/// sent as what anybody might send.
fn as_a_person(to: &str, text: &str, printer: &Printer) -> Result<Option<Exit>, CliError> {
    if person::required("send").is_err() && person::required_beside_stdin("send").is_err() {
        return Ok(None);
    }
    let Some(mut store) = stored()? else { return Ok(None) };
    let Some(addressee) = store.addressee(to)? else { return Ok(None) };
    let who = match &addressee {
        Addressee::Agent(id) => format!("agent {}", text::line(&store.agent_name(id)?, 80)),
        Addressee::Conversation(name) => format!("conversation {}", text::line(name, 80)),
        Addressee::Remote(remote) => format!("{} on another machine", text::line(&remote.shown, 120)),
    };
    let is_remote = matches!(addressee, Addressee::Remote(_));
    let person = Person { user: person::name(), place: ActionPlace::Terminal };
    actions::note(&mut store, &person, addressee, text).map_err(|error| CliError::failed(error.to_string()))?;
    let _ = store.settle();
    service::tell_daemon(&PathVariables::from_process());
    let when = if is_remote {
        "it is shown there when the shared server has been reached"
    } else if away(to).is_some() {
        "it waits for its next session"
    } else {
        "it is shown at its next prompt or tool call"
    };
    let said = format!("sent to {who} as a note of yours; {when}");
    if printer.json() {
        printer.object(&json!({"said": said}))
    } else {
        printer.line(said)
    }
    Ok(Some(Exit::Ok))
}

/// What an agent is called that has no session now; where that cannot be read, nothing is claimed.
fn away(typed: &str) -> Option<String> {
    let store = Store::open_existing_read_only(&PathVariables::from_process().state()).ok()?;
    let id = agent_names::meant(&store, typed).ok()?;
    let filter = SessionFilter { agent: Some(id.clone()), only_open: true, limit: 1, ..SessionFilter::default() };
    let is_away = store.sessions(&filter).ok()?.is_empty();
    is_away.then(|| store.agent_name(&id).unwrap_or(id))
}
