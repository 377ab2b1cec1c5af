//! Without a database: what the rules that need no state say still stands, a
//! strike denies, and the event is put by for later.

use crate::pipeline::Response;
use crate::prepare::{self, CountedAt, Prepared, PreparedCall};
use crate::replay;
use engine::{EventContext, Places};
use model::{Answer, Loaded, Placed, row};
use std::path::Path;

/// What is answered when nothing stored can be looked at.
pub fn answer(prepared: &Prepared) -> Answer {
    match &prepared.parsed_call {
        PreparedCall::Event(event) => {
            let (reply, _) = decide(prepared, event);
            prepared.answer(event, reply)
        }
        PreparedCall::Unreadable { stop: Some(stop), .. } => prepared.stop_unread(stop),
        PreparedCall::Unreadable { stop: None, .. } => Answer::default(),
    }
}

/// The answer and the event as they are when nothing can be stored.
pub fn served(prepared: &Prepared) -> Response {
    let (answer, mut row) = match &prepared.parsed_call {
        PreparedCall::Event(event) => {
            let (reply, row) = decide(prepared, event);
            (prepared.answer(event, reply), row)
        }
        PreparedCall::Unreadable { why, stop } => {
            (answer(prepared), prepare::unreadable_row(prepared, why, stop.as_ref()))
        }
    };
    row.session = None;
    row.answer = answer.clone();
    replay::mark(&mut row, prepared);
    let event = (prepared.counts == CountedAt::Here).then_some(row);
    Response { answer, event, ..Response::default() }
}

/// Answers, and keeps the event in the spool so that it is not lost.
pub fn serve(prepared: &Prepared, state: &Path, why: &str) -> Response {
    let mut served = served(prepared);
    served.troubles.push(why.to_string());
    if let Some(Err(error)) = served.event.as_ref().map(|row| store::spool(state, row)) {
        say_unstored(&mut served, &error);
    }
    served
}

/// The agent's owner hears of it wherever it was served: the daemon has no
/// stderr of the hook's, so it goes with the answer. At most once a minute.
fn say_unstored(served: &mut Response, error: &store::Error) {
    if error.is_to_be_said() {
        served.answer.stderr.push_str(&format!("taut: {error}\n"));
    }
}

fn decide(prepared: &Prepared, event: &prepare::PreparedEvent) -> (model::reply::Reply, row::Event) {
    let (loaded, nowhere) = (Loaded::default(), Placed::default());
    let blind = Places { blind: true, ..event.places.clone() };
    let context = event.context(&prepared.call, prepared.ids(), &loaded, &nowhere);
    let context = EventContext { places: &blind, ..context };
    let needs = engine::needs(&context);
    let outcome = engine::decide(&EventContext { placed: &needs.placed, ..context });
    (outcome.reply, outcome.event)
}
