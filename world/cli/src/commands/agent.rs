//! `taut agent focus`: somebody looks at an agent that wanted their attention. `taut agent name` is beside it.

mod name;

use super::{agent_names, stored};
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::Printer;
use clap::{Args, Subcommand};
use host::paths::PathVariables;
use model::row::AgentStatus;
use serde_json::json;
use store::Focus;

#[derive(Debug, Subcommand)]
pub enum AgentVerb {
    /// Say that you have seen that an agent wants your attention
    Focus(FocusArgs),
    /// Call an agent by a name of your own, or take that back (people only)
    Name(name::NameArgs),
}

#[derive(Debug, Args)]
pub struct FocusArgs {
    /// The agent: its name, its id, or how one of them begins
    #[arg(required_unless_present = "pane")]
    pub id: Option<String>,
    /// Whichever agent is in this pane: tmux's socket and the pane's number
    #[arg(long, value_name = "SOCKET PANE", conflicts_with = "id")]
    pub pane: Option<String>,
}

pub fn run(verb: &AgentVerb, printer: &Printer) -> Result<Exit, CliError> {
    let args = match verb {
        AgentVerb::Focus(args) => args,
        AgentVerb::Name(args) => return name::run(args, printer),
    };
    match (&args.id, &args.pane) {
        (Some(id), _) => focus(id, printer),
        (None, Some(pane)) => focus_pane(pane),
        (None, None) => Ok(Exit::Usage),
    }
}

fn focus(typed: &str, printer: &Printer) -> Result<Exit, CliError> {
    let mut store = stored()?.ok_or_else(|| agent_names::unknown(typed, &[]))?;
    let id = agent_names::found(&store, typed)?;
    let name = store.agent_name(&id)?;
    let Some(focused) = store.focus(&id, host::clock::now())? else {
        return Err(CliError::not_found(format!("{name} has ended")).hint("taut sessions --all"));
    };
    let (status, note) = match focused {
        Focus::Checked => {
            service::tell_daemon(&PathVariables::from_process());
            (AgentStatus::Checked, None)
        }
        Focus::Untouched(status) => {
            (status, Some(format!("{name} is {}: there was nothing to look at", status.name())))
        }
    };
    if printer.json() {
        printer.object(&json!({"id": id, "name": name, "status": status.name()}));
    } else if let Some(note) = note {
        printer.note(note);
    } else {
        printer.line(format!("{name} is checked"));
    }
    Ok(Exit::Ok)
}

/// tmux calls this at every change of focus: most panes hold no agent, and nobody reads what is said.
fn focus_pane(pane: &str) -> Result<Exit, CliError> {
    if let Some(mut store) = stored()? {
        let now = host::clock::now();
        let mut seen = false;
        for agent in store.agents_in_pane(pane)? {
            seen |= matches!(store.focus(&agent, now)?, Some(Focus::Checked));
        }
        if seen {
            service::tell_daemon(&PathVariables::from_process());
        }
    }
    Ok(Exit::Ok)
}
