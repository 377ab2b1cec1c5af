//! `taut shared sync`: says to the server now what it is owed. The last step of a machine that goes away, such as a CI
//! runner; and `taut shared deliver`, which hooks start where no daemon runs.

use super::not_connected;
use super::reach::owed_words;
use super::tell;
use crate::args::RunArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::person;
use crate::printer::{Printer, text};
use clap::Args;
use host::paths::PathVariables;
use pipeline::SharedServer;
use serde_json::json;
use service::shared_sync::{SyncReport, SyncWish, sync, sync_in};
use service::workers::shared::{SharedReport, SharedRounds};
use std::time::Duration;
use store::{OutboxStanding, OwedAt, Store};

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

/// What came of it, as it is said.
#[derive(Default)]
pub struct SaidThere {
    pub said: usize,
    pub renewed: usize,
    pub refused: Vec<String>,
    pub messages: usize,
    pub events: u64,
    /// Why the server was not reached, where it was not.
    pub away: Option<String>,
}

pub fn run(args: &SyncArgs, printer: &Printer) -> Result<Exit, CliError> {
    let wish = args.wait.map_or(SyncWish::Once, SyncWish::Wait);
    let SyncReport { done, owed, is_shared, .. } = sync(&PathVariables::from_process(), wish)?;
    if !is_shared {
        return Err(not_connected());
    }
    show(&SaidThere::of(done), owed, printer)
}

/// What a hook starts where no daemon runs. It alone is told where the user's file is, because its environment is made anew;
/// for an agent that would be a way to send password and record to a server of its own.
pub fn deliver(args: &RunArgs) -> Result<Exit, CliError> {
    person::unmarked("shared deliver")?;
    let setting = args.over(service::setting(&PathVariables::from_process()));
    let report = sync_in(&setting, SyncWish::Once)?;
    Ok(if report.is_through() { Exit::Ok } else { Exit::Failed })
}

/// One round with this server.
pub fn round(server: &SharedServer, places: &PathVariables, store: &mut Store) -> Result<SaidThere, CliError> {
    let mut rounds = SharedRounds::of_command(&service::setting(places));
    Ok(SaidThere::of(rounds.round(store, server)?))
}

impl SaidThere {
    fn of(done: SharedReport) -> Self {
        Self {
            said: done.said,
            renewed: done.renewed,
            refused: done.refused,
            messages: done.messages_sent,
            events: done.events_sent,
            away: done.error.map(|error| error.to_string()),
        }
    }

    /// Messages and events are spoken of where there were any.
    fn words(&self) -> String {
        let mut words = format!("{} said, {} renewed", self.said, self.renewed);
        let more = [(self.messages as u64, "message"), (self.events, "event")];
        for (count, one) in more.into_iter().filter(|(count, _)| *count > 0) {
            words.push_str(&format!(", {} sent", crate::commands::counted(count, one)));
        }
        words
    }
}

fn waits(owed: OutboxStanding) -> bool {
    owed.turns + owed.messages > 0
}

/// What this server was not to hear, which is no reason to fail.
fn besides(owed: OwedAt, printer: &Printer) {
    let counted = |count: i64| crate::commands::counted(count.unsigned_abs(), "word");
    if owed.elsewhere > 0 {
        let words = counted(owed.elsewhere);
        tell(printer, format!("for another server: {words}, kept here until this machine connects to that one again"));
    }
    if owed.unreadable > 0 {
        let words = counted(owed.unreadable);
        tell(
            printer,
            format!("of another version of taut: {words}, kept here; `taut shared sync` of that version says them"),
        );
    }
}

fn show(told: &SaidThere, owed: OwedAt, printer: &Printer) -> Result<Exit, CliError> {
    let standing = owed.standing;
    if printer.json() {
        printer.object(&json!({
            "said": told.said, "renewed": told.renewed, "refused": told.refused, "waiting": standing.turns,
            "messages_waiting": standing.messages, "messages": told.messages, "events": told.events, "away": told.away,
            "waiting_elsewhere": owed.elsewhere, "waiting_unreadable": owed.unreadable,
        }));
    } else {
        for slug in &told.refused {
            tell(printer, text!("refused: {} (it came too late; `taut shared refused` shows it)", slug));
        }
        besides(owed, printer);
    }
    let waiting = |how: &str| match waits(standing) {
        true => format!("; {how}: {}", owed_words(standing.turns, standing.messages)),
        false => String::new(),
    };
    if let Some(why) = &told.away {
        return Err(CliError::failed(format!("{why}{}", waiting("waiting here"))).hint("taut shared sync --wait 1m"));
    }
    if !printer.json() {
        printer.line(format!("{}{}", told.words(), waiting("still waiting")));
    }
    Ok(if waits(standing) { Exit::Failed } else { Exit::Ok })
}
