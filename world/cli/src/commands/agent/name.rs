//! `taut agent name`: what people call an agent. For people only: nobody chooses the name under which it asks for something.

use crate::commands::{PATIENCE, agent_names, stored};
use crate::error::CliError;
use crate::exit::Exit;
use crate::person;
use crate::printer::{Printer, text};
use clap::Args;
use engine::fleet::text::line;
use host::paths::PathVariables;
use model::agent_name;
use serde_json::json;
use store::{Renamed, Store};

#[derive(Debug, Args)]
pub struct NameArgs {
    /// The agent: its name, its id, or how one of them begins
    pub agent: String,
    /// What to call it: letters, digits, `-`, `_` and `.`
    #[arg(required_unless_present = "forget", conflicts_with = "forget")]
    pub name: Option<String>,
    /// Call it after its project again
    #[arg(long)]
    pub forget: bool,
}

pub fn run(args: &NameArgs, printer: &Printer) -> Result<Exit, CliError> {
    person::required("agent name")?;
    if let Some(why) = args.name.as_deref().and_then(agent_name::refused) {
        return Err(CliError::usage(why).hint("taut agent name acme.2 reviewer"));
    }
    let Some(store) = stored()? else { return Err(agent_names::unknown(&args.agent, &[])) };
    let id = agent_names::found(&store, &args.agent)?;
    let before = store.agent_name(&id)?;
    if store.agent(&id)?.is_some_and(|agent| agent.named) && before == id {
        let shown = line(&id, 80);
        return Err(CliError::failed(format!("`{shown}` is named by its environment, which scripts rely on"))
            .hint("start it with another TAUT_AGENT_ID, or with none"));
    }
    drop(store);
    let mut store = Store::open_and_migrate(&PathVariables::from_process().state(), PATIENCE)?;
    let now = host::clock::now();
    let after = match &args.name {
        None => store.forget_agent_name(&id, now)?,
        Some(name) => match store.name_agent(&id, name, now)? {
            Renamed::To(name) => name,
            Renamed::Taken => {
                return Err(CliError::failed(format!("another agent is called `{name}`")).hint("taut agents"));
            }
        },
    };
    service::tell_daemon(&PathVariables::from_process());
    if printer.json() {
        printer.object(&json!({"id": id, "name": after, "before": before}));
    } else if after == before {
        printer.line(text!("{} is called so already", after));
    } else {
        printer.line(text!("{} is called {} from now on", before, after));
    }
    Ok(Exit::Ok)
}
