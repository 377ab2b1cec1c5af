//! `taut agent focus`: somebody looks at an agent that wanted their attention.

use super::stored;
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::Printer;
use clap::{Args, Subcommand};
use engine::fleet::text::line;
use host::paths::PathVariables;
use model::row::{Agent, AgentStatus};
use policy::config::nearest;
use serde_json::json;
use store::Focus;

#[derive(Debug, Subcommand)]
pub enum AgentVerb {
    /// Say that you have seen that an agent wants your attention
    Focus(FocusArgs),
}

#[derive(Debug, Args)]
pub struct FocusArgs {
    /// The agent, as `taut agents` lists it
    #[arg(required_unless_present = "pane")]
    pub id: Option<String>,
    /// Whichever agent is in this pane: tmux's socket and the pane's number
    #[arg(long, value_name = "SOCKET PANE", conflicts_with = "id")]
    pub pane: Option<String>,
}

pub fn run(verb: &AgentVerb, printer: &Printer) -> Result<Exit, CliError> {
    let AgentVerb::Focus(args) = verb;
    match (&args.id, &args.pane) {
        (Some(id), _) => focus(id, printer),
        (None, Some(pane)) => focus_pane(pane),
        (None, None) => Ok(Exit::Usage),
    }
}

fn focus(id: &str, printer: &Printer) -> Result<Exit, CliError> {
    let mut store = stored()?.ok_or_else(|| unknown(id, &[]))?;
    let Some(focused) = store.focus(id, host::clock::now())? else { return Err(unknown(id, &store.agents()?)) };
    let (status, note) = match focused {
        Focus::Checked => {
            service::tell_daemon(&PathVariables::from_process());
            (AgentStatus::Checked, None)
        }
        Focus::Untouched(status) => (status, Some(format!("{id} is {}: there was nothing to look at", status.name()))),
    };
    if printer.json() {
        printer.object(&json!({"id": id, "status": status.name()}));
    } else if let Some(note) = note {
        printer.note(note);
    } else {
        printer.line(format!("{id} is checked"));
    }
    Ok(Exit::Ok)
}

pub fn unknown(id: &str, agents: &[Agent]) -> CliError {
    CliError::not_found(no_such(id, agents)).hint("taut agents")
}

/// With the nearest id there is, whichever letters are great or small.
pub fn no_such(id: &str, agents: &[Agent]) -> String {
    let small: Vec<String> = agents.iter().map(|agent| agent.id.to_lowercase()).collect();
    let words: Vec<&str> = small.iter().map(String::as_str).collect();
    let typed = id.to_lowercase();
    // Names that Taut gave are long: who types the beginning of one means it, where no other begins so.
    let begun: Vec<&str> = words.iter().filter(|word| !typed.is_empty() && word.starts_with(&typed)).copied().collect();
    let near = if let [only] = begun.as_slice() { Some(*only) } else { nearest(&typed, &words) };
    let near = agents.iter().find(|agent| near.is_some_and(|near| agent.id.to_lowercase() == near));
    let near = near.map(|agent| format!(" (nearest: `{}`)", line(&agent.id, 80))).unwrap_or_default();
    format!("there is no agent `{}`{near}", line(id, 80))
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
