//! `taut shared sync`: says to the server now what it is owed. The last step of a machine that goes away, such as a CI
//! runner, and what hooks start where no daemon runs.

use super::reach::owed_words;
use super::{not_connected, tell};
use crate::commands::open_and_take_in;
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, text};
use clap::Args;
use host::paths::PathVariables;
use pipeline::queue::{OnUnsure, Queue, SharedRound};
use pipeline::{SharedServer, SharedSettings};
use policy::config::sections;
use serde_json::json;
use service::ProjectQueue;
use service::shared_target::around_command;
use std::time::{Duration, Instant};
use store::{OutboxStanding, QueuePlace, Store, TaskServer};

const PAUSE: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(600);

#[derive(Debug, Args)]
pub struct SyncArgs {
    /// Try once (so it does without --wait)
    #[arg(long, conflicts_with = "wait")]
    pub once: bool,
    /// Try again for so long where the server is away: 10s, 2m
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub wait: Option<Duration>,
}

fn time(text: &str) -> Result<Duration, String> {
    let wrong = || "it looks like 10s or 2m".to_string();
    let at = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let number: u64 = number.parse().map_err(|_| wrong())?;
    let factor = match unit {
        "" | "s" => 1,
        "m" => 60,
        _ => return Err(wrong()),
    };
    Some(Duration::from_secs(number.saturating_mul(factor))).filter(|time| *time <= LONGEST).ok_or_else(wrong)
}

/// What came of a round over all queues.
#[derive(Default)]
pub struct SyncTold {
    pub said: usize,
    pub renewed: usize,
    pub refused: Vec<String>,
    /// Why the server was not reached, where it was not.
    pub away: Option<String>,
}

pub fn run(args: &SyncArgs, printer: &Printer) -> Result<Exit, CliError> {
    let places = PathVariables::from_process();
    let Some(server) = crate::shared_queue::server(&places)? else { return Err(not_connected()) };
    let mut store = open_and_take_in(&places, crate::commands::PATIENCE)?;
    let until = Instant::now() + args.wait.unwrap_or_default();
    let mut told = SyncTold::default();
    loop {
        round(&server, &places, &mut store, &mut told)?;
        let waits = waits(store.outbox_standing()?);
        if (told.away.is_none() && !waits) || Instant::now() + PAUSE > until {
            break;
        }
        std::thread::sleep(PAUSE);
    }
    show(&told, store.outbox_standing()?, printer)
}

/// One round for every queue that this machine takes part in.
pub fn round(
    server: &SharedServer,
    places: &PathVariables,
    store: &mut Store,
    told: &mut SyncTold,
) -> Result<(), CliError> {
    told.away = None;
    let on_unsure = match server.on_unsure {
        sections::OnUnsure::Tell => OnUnsure::Tell,
        sections::OnUnsure::Stop => OnUnsure::Stop,
    };
    for queue in queues(server, places)? {
        let settings = SharedSettings { server: server.clone(), queue };
        let mut there = ProjectQueue::new(&settings, &around_command(places), store)?;
        let queue: Queue<'_> = Queue::new(store, host::clock_reading::moment);
        match queue.on(&mut there).shared_round(on_unsure) {
            Ok(SharedRound { said, refused, renewed, .. }) => {
                told.said += said;
                told.renewed += renewed;
                told.refused.extend(refused);
                heard(store, &there.place().clone())?;
            }
            Err(error) => {
                told.away = Some(CliError::from(error).what().to_string());
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Those of the configuration, and that of the repository this runs in where the environment names the server.
fn queues(server: &SharedServer, places: &PathVariables) -> Result<Vec<String>, CliError> {
    let mut queues = server.projects.clone();
    let here = std::env::current_dir()?;
    let here = crate::shared_queue::settings(&here.to_string_lossy(), places)?;
    queues.extend(here.map(|shared| shared.queue).filter(|queue| !server.projects.contains(queue)));
    Ok(queues)
}

fn heard(store: &mut Store, place: &QueuePlace) -> Result<(), CliError> {
    let mut state = store.shared_state()?.filter(|state| state.server == place.server).unwrap_or_default();
    (state.server, state.shown) = (place.server.clone(), place.shown.clone());
    state.heard(host::clock::now());
    Ok(store.set_shared_state(&state)?)
}

fn waits(owed: OutboxStanding) -> bool {
    owed.turns + owed.messages > 0
}

fn show(told: &SyncTold, owed: OutboxStanding, printer: &Printer) -> Result<Exit, CliError> {
    if printer.json() {
        printer.object(&json!({
            "said": told.said, "renewed": told.renewed, "refused": told.refused, "waiting": owed.turns,
            "messages_waiting": owed.messages, "away": told.away,
        }));
    } else {
        for slug in &told.refused {
            tell(printer, text!("refused: {} (it came too late; `taut shared refused` shows it)", slug));
        }
    }
    if let Some(why) = &told.away {
        let waiting =
            if waits(owed) { format!("; {} wait here", owed_words(owed.turns, owed.messages)) } else { String::new() };
        return Err(CliError::failed(format!("{why}{waiting}")).hint("taut shared sync --wait 1m"));
    }
    if !printer.json() {
        let left =
            if waits(owed) { format!("; {} still wait", owed_words(owed.turns, owed.messages)) } else { String::new() };
        printer.line(format!("{} said, {} renewed{left}", told.said, told.renewed));
    }
    Ok(if waits(owed) { Exit::Failed } else { Exit::Ok })
}
