//! `taut answer` alone: what waits for an answer, the oldest first.

use super::give::show;
use crate::commands::{ago, stored};
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, Text};
use dash::card_view::CardRow;
use serde_json::json;
use store::Store;

/// More of one line than anybody reads in a list.
const MOST_ABOUT: usize = 60;

pub fn run(printer: &Printer) -> Result<Exit, CliError> {
    let store = stored()?;
    let cards = store.as_ref().map(actions::open_cards).transpose()?.unwrap_or_default();
    let names = store.as_ref().map(Store::agent_names).transpose()?.unwrap_or_default();
    if printer.json() {
        for card in &cards {
            let mut object = json!(CardRow::of(card));
            object["agent"] = json!(card.agent);
            object["agent_name"] = json!(names.of(&card.agent));
            object["project"] = json!(card.project);
            object["session"] = json!(card.session);
            printer.object(&object);
        }
        return Ok(Exit::Ok);
    }
    if cards.is_empty() {
        printer.note("nothing waits that could be answered from here; `taut answer status` says whether anything can");
        return Ok(Exit::Ok);
    }
    let now = host::clock::now();
    let rows: Vec<Vec<Text>> = cards
        .iter()
        .map(|card| {
            let about = model::text::line(&show::about(card), MOST_ABOUT);
            vec![
                Text::line(names.of(&card.agent)),
                Text::line(ago(now.since(card.at))),
                Text::line(card.kind.name()),
                Text::line(about),
                Text::line(show::short(card)),
            ]
        })
        .collect();
    printer.table(&["AGENT", "WAITS", "FOR", "WHAT", "CARD"], &rows);
    Ok(Exit::Ok)
}
