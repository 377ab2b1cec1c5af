//! `taut say`: what is next, said to an agent by its user. For people only.

use super::{agent_names, stored};
use crate::error::CliError;
use crate::exit::Exit;
use crate::person;
use crate::printer::{Printer, Text};
use crate::stdin;
use actions::{ActionError, FleetPlace, Person, Said};
use clap::Args;
use engine::fleet::text::line;
use host::paths::PathVariables;
use model::card::ActionPlace;
use serde_json::json;

#[derive(Debug, Args)]
pub struct SayArgs {
    /// The agent: its name, its id, or how one of them begins
    pub agent: String,
    /// What there is to say; - reads it from stdin
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub text: Vec<String>,
}

pub fn run(args: &SayArgs, printer: &Printer) -> Result<Exit, CliError> {
    let from_stdin = args.text == ["-"];
    if from_stdin {
        person::required_beside_stdin("say")?
    } else {
        person::required("say")?
    }
    let text = if from_stdin { stdin::waiting().unwrap_or_default() } else { args.text.join(" ") };
    let places = PathVariables::from_process();
    let place = FleetPlace { state: places.state(), home: places.home() };
    let person = Person { user: person::name(), place: ActionPlace::Terminal };
    let mut store = stored()?.ok_or_else(|| agent_names::unknown(&args.agent, &[]))?;
    let (id, name) = agent_names::anywhere(&store, &args.agent)?;
    let said = actions::say(&mut store, &place, &person, &id, &text).map_err(|error| match error {
        ActionError::NoAgent(_) => {
            CliError::not_found(format!("{} has ended", line(&name, 80))).hint("taut sessions --all")
        }
        ActionError::Store(cause) => cause.into(),
        refused => CliError::failed(refused.to_string()).hint("taut agents"),
    })?;
    service::tell_daemon(&places);
    let _ = store.settle();
    show((&id, &name), &said, printer);
    Ok(Exit::Ok)
}

fn show((id, name): (&str, &str), said: &Said, printer: &Printer) {
    if printer.json() {
        return printer.object(&match said {
            Said::Typed => json!({"agent": id, "name": name, "way": "typed"}),
            Said::Message { wakes, why } => {
                json!({"agent": id, "name": name, "way": "message", "wakes": wakes, "why": why})
            }
            Said::Elsewhere { to } => json!({"agent": id, "name": to, "way": "elsewhere"}),
        });
    }
    let agent = line(name, 80);
    printer.line(Text::lines(match said {
        Said::Typed => format!("typed at the prompt of {agent}, as your own words"),
        Said::Message { wakes, why } => {
            let when = if *wakes {
                "it is shown at its next prompt or tool call; at rest it is woken for it"
            } else {
                "it is shown at its next prompt or tool call"
            };
            format!("not typed: {why}\nsent to {agent} as a note of yours; {when}")
        }
        Said::Elsewhere { to } => format!(
            "sent to {} on another machine as words of a person on this one; they are shown there when the shared server \
             has been reached",
            line(to, 120)
        ),
    }));
}
