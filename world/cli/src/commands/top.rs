//! `taut top`: the fleet, live in a terminal; `--once` prints one frame of it.

mod act;

use super::{agents, seen, stored};
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::Printer;
use act::TopPerson;
use clap::Args;
use dash::tui::{self, ColorMode, FleetSource, Setup, ViewEnd};
use host::paths::PathVariables;
use std::io::IsTerminal;
use std::sync::Arc;

#[derive(Debug, Args)]
pub struct TopArgs {
    /// Print one frame as text and end
    #[arg(long)]
    pub once: bool,
}

/// Without a terminal to ask, as wide as documents are.
const USUAL_WIDTH: u16 = 120;

pub fn run(args: &TopArgs, printer: &Printer) -> Result<Exit, CliError> {
    if printer.json() {
        return agents::run(&agents::AgentsArgs::default(), printer);
    }
    if args.once {
        return once(printer);
    }
    let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb" || term.is_empty());
    if dumb || !Printer::has_reader() || !std::io::stdin().is_terminal() {
        let what = "taut top needs a terminal to draw on and keys to read";
        return Err(
            CliError::failed(what).hint("`taut agents --watch` prints every change, `taut top --once` one frame")
        );
    }
    live()
}

fn live() -> Result<Exit, CliError> {
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    // What stands in the way of reading is told before the screen is taken.
    drop(stored()?);
    service::follow_clients(&PathVariables::from_process());
    let ended = tui::run(Setup {
        source: FleetSource {
            folder: PathVariables::from_process().state(),
            open: Box::new(|| stored().ok().flatten()),
        },
        look: if plain { ColorMode::Plain } else { ColorMode::Colours },
        tmux: std::env::var("TMUX").unwrap_or_default(),
        now: host::clock::now,
        wall: host::clock::HERE,
        actions: Arc::new(TopPerson::here()),
    });
    match ended {
        Ok(ViewEnd::Quit) => Ok(Exit::Ok),
        Ok(ViewEnd::Signalled) => Ok(Exit::Interrupted),
        Err(error) => {
            Err(CliError::failed("taut top ended early").because(&error).hint("`taut top --once` prints one frame"))
        }
    }
}

fn once(printer: &Printer) -> Result<Exit, CliError> {
    let snapshot = stored()?.map(|store| tui::snapshot(&seen(store))).transpose()?.unwrap_or_default();
    for line in tui::picture(snapshot, host::clock::now(), width()) {
        printer.line(line);
    }
    Ok(Exit::Ok)
}

/// As the terminal is, else as `COLUMNS` says.
fn width() -> u16 {
    let told = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    let seen = Printer::has_reader().then(tui::width).flatten();
    seen.or(told).unwrap_or(USUAL_WIDTH).clamp(20, 1000)
}
