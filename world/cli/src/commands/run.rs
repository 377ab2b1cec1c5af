//! `taut run -- <agent> …`: supervises one interactive agent in this terminal.

use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, text};
use clap::Args;
use host::paths::PathVariables;
use runner::{RunMessage, RunName, Supervised, Tell};
use serde_json::json;
use std::path::Path;

#[derive(Debug, Args)]
pub struct SuperviseArgs {
    /// Say what would be done and do nothing
    #[arg(long)]
    pub dry_run: bool,
    /// The agent's command line
    #[arg(last = true, required = true)]
    pub line: Vec<String>,
}

struct Plain<'p>(&'p Printer);

impl Tell for Plain<'_> {
    fn show(&self, said: &RunMessage) {
        match said {
            RunMessage::Note(text) => self.0.note(format!("taut: {text}")),
            RunMessage::Warning(text) => self.0.note(text!("taut: {} {}", self.0.yellow("warning:"), text)),
            _ => {}
        }
    }
}

pub fn run(args: &SuperviseArgs, printer: &Printer) -> Result<Exit, CliError> {
    let Some((program, rest)) = args.line.split_first() else {
        return Err(
            CliError::failed("there is nothing to run").hint(format!("taut run -- {}", agents::DEFAULT.launch.program))
        );
    };
    let state = PathVariables::from_process().state();
    let tries = args.dry_run || std::env::var("TEST_MODE").is_ok_and(|value| value == "1");
    // Held until the agent has ended: a second one in this place gets another name.
    let taken = match (named(), tries) {
        (None, false) => Some(RunName::take(&state, &place_name(program)?)),
        _ => None,
    };
    let agent = match (&taken, named()) {
        (Some(taken), _) => taken.name.clone(),
        (None, Some(named)) => named,
        (None, None) => RunName::free(&state, &place_name(program)?),
    };
    let what =
        Supervised { program: program.clone(), args: rest.to_vec(), agent, state, person: crate::person::started };
    if tries {
        if printer.json() {
            printer.object(
                &json!({"program": what.program, "args": what.args, "agent": what.agent, "would": what.variables()}),
            );
        } else {
            what.variables().iter().for_each(|line| printer.line(line));
        }
        return Ok(Exit::Ok);
    }
    let code = runner::supervise(&what, &Plain(printer))?;
    crate::shared_queue::say_what_is_owed(&PathVariables::from_process(), printer);
    Ok(Exit::Loop(u8::try_from(code).unwrap_or(1)))
}

/// The name of this agent in this folder and terminal: a pane of tmux, else the device.
fn place_name(program: &str) -> Result<String, CliError> {
    let folder = std::env::current_dir()?;
    let folder = folder.canonicalize().unwrap_or(folder);
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let pane = variable("TMUX_PANE").map(|pane| {
        let tmux = variable("TMUX").unwrap_or_default();
        format!("{} {pane}", tmux.split(',').next().unwrap_or_default())
    });
    let terminal = pane.or_else(|| sys::terminal::device().map(|device| format!("device {device}")));
    let program = Path::new(program).file_name().unwrap_or_default().to_string_lossy();
    let known = agents::ALL.0.iter().find(|dialect| dialect.program.names.contains(&&*program));
    let program = known.map_or(&*program, |dialect| dialect.id());
    Ok(engine::run_name(&folder.to_string_lossy(), terminal.as_deref(), program))
}

fn named() -> Option<String> {
    let names = ["TAUT_AGENT_ID", "RALPH_AGENT_ID", "AGENT_ID"];
    names.iter().find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
}
