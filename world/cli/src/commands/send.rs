//! `taut send`, `taut worker done`: what agents and people tell agents. What
//! the hook that saw the line has sent is found sent.

use super::effort;
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::Printer;
use engine::fleet::text;
use grammar::{AgentArgs, AgentCommand, MessageArgs};
use host::paths::PathVariables;
use store::{SessionFilter, Store};

/// Whoever sleeps in a pane is woken now rather than at the daemon's next look.
pub fn run(args: MessageArgs, printer: &Printer) -> Result<Exit, CliError> {
    let line = effort::typed(&AgentArgs::Messages(args));
    let wrong = matches!(line.command, Some(Err(_)));
    let mut carried = effort::carried(&line).map_err(|error| if wrong { error.of_usage() } else { error })?;
    if let Some(Ok(AgentCommand::Send { to, .. })) = &line.command
        && is_away(to)
        && carried.output.starts_with("sent to agent ")
    {
        carried.output = format!("{} has no session now; the message waits for its next one", text::line(to, 80));
    }
    service::tell_daemon(&PathVariables::from_process());
    Ok(effort::say(carried, printer))
}

/// Whether no session of this agent is open; where that cannot be read, nothing is claimed.
fn is_away(agent: &str) -> bool {
    let filter =
        SessionFilter { agent: Some(agent.to_string()), only_open: true, limit: 1, ..SessionFilter::default() };
    let open = Store::open_existing_read_only(&PathVariables::from_process().state())
        .and_then(|store| store.sessions(&filter));
    open.is_ok_and(|open| open.is_empty())
}
