//! An answer to whichever card a view showed: given here where this machine holds it, else sent to the machine that does.

use super::{remote_card, send};
use crate::{ActionError, FleetPlace, Person, answer};
use model::card::{Card, CardAnswer};
use std::time::{Duration, Instant};
use store::{SentAnswer, Store};

const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What came of it.
#[derive(Debug, Clone, PartialEq)]
pub enum AnswerWay {
    /// It waits for whoever holds the card.
    Here(Box<Card>),
    /// It is signed and waits for the server.
    Sent(SentAnswer),
}

/// # Errors
/// As those of [`answer`] and [`send`].
pub fn answer_anywhere(
    store: &mut Store,
    (place, person): (&FleetPlace, &Person),
    (card, given): (&str, CardAnswer),
) -> Result<AnswerWay, ActionError> {
    if store.card(card)?.is_none()
        && let Some(remote) = remote_card(store, card)?
    {
        return send(store, &place.state, person, (&remote, given)).map(AnswerWay::Sent);
    }
    answer(store, person, card, given).map(|card| AnswerWay::Here(Box::new(card)))
}

/// What the card's machine says of an answer, where it says so within the time.
///
/// # Errors
/// When the store cannot be read.
pub fn fate(store: &Store, sent: &SentAnswer, limit: Duration) -> Result<Option<(bool, String)>, store::Error> {
    let until = Instant::now() + limit;
    loop {
        let fate = store.sent_answer(&sent.nonce)?.and_then(|sent| sent.fate);
        if fate.is_some() || Instant::now() >= until {
            return Ok(fate);
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// The card with this id, of this machine or as another one told of it.
///
/// # Errors
/// When the store cannot be read.
pub fn card_anywhere(store: &Store, id: &str) -> Result<Option<Card>, store::Error> {
    match store.card(id)? {
        Some(card) => Ok(Some(card)),
        None => Ok(remote_card(store, id)?.map(|remote| remote.card)),
    }
}
