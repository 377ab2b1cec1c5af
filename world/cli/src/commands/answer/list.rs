//! `taut answer` alone: what waits for an answer, the oldest first.

use super::give::show;
use crate::commands::{ago, stored};
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, Text};
use actions::remote_answer::{self, RemoteCard};
use dash::card_view::CardRow;
use model::Ms;
use model::card::Card;
use serde_json::{Value, json};
use store::Store;

/// More of one line than anybody reads in a list.
const MOST_ABOUT: usize = 60;
/// Names of agents of other machines come from there.
const MOST_NAME: usize = 120;

pub fn run(printer: &Printer) -> Result<Exit, CliError> {
    let store = stored()?;
    let cards = store.as_ref().map(actions::open_cards).transpose()?.unwrap_or_default();
    let remote = store.as_ref().map(remote_answer::remote_cards).transpose()?.unwrap_or_default();
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
        remote.iter().for_each(|one| printer.object(&remote_object(one)));
        return Ok(Exit::Ok);
    }
    if cards.is_empty() && remote.is_empty() {
        printer.note("nothing waits that could be answered from here; `taut answer status` says whether anything can");
        return Ok(Exit::Ok);
    }
    let now = host::clock::now();
    let here = cards.iter().map(|card| row(names.of(&card.agent), card, now));
    let rows: Vec<Vec<Text>> = here.chain(remote.iter().map(|one| row(&one.shown, &one.card, now))).collect();
    printer.table(&["AGENT", "WAITS", "FOR", "WHAT", "CARD"], &rows);
    Ok(Exit::Ok)
}

fn row(agent: &str, card: &Card, now: Ms) -> Vec<Text> {
    vec![
        Text::line(model::text::line(agent, MOST_NAME)),
        Text::line(ago(now.since(card.at))),
        Text::line(card.kind.name()),
        Text::line(model::text::line(&show::about(card), MOST_ABOUT)),
        Text::line(show::short(card)),
    ]
}

fn remote_object(one: &RemoteCard) -> Value {
    let mut object = json!(CardRow::of(&one.card));
    object["agent"] = json!(one.agent.agent);
    object["agent_name"] = json!(one.shown);
    object["project"] = json!(one.agent.told.project);
    object["machine"] = json!(one.agent.label);
    object["machine_id"] = json!(one.agent.machine);
    object
}
