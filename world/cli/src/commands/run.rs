//! `taut run -- <agent> …`: supervises one interactive agent in this terminal.

use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, text};
use clap::Args;
use host::paths::PathVariables;
use runner::{RunMessage, Supervised, Tell};
use serde_json::json;

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
    let what = Supervised {
        program: program.clone(),
        args: rest.to_vec(),
        agent: named().unwrap_or_else(|| format!("run-{}", &host::clock::uuid(host::clock::now())[24..])),
        state: PathVariables::from_process().state(),
    };
    if args.dry_run || std::env::var("TEST_MODE").is_ok_and(|value| value == "1") {
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
    Ok(Exit::Loop(u8::try_from(code).unwrap_or(1)))
}

fn named() -> Option<String> {
    let names = ["TAUT_AGENT_ID", "RALPH_AGENT_ID", "AGENT_ID"];
    names.iter().find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
}
