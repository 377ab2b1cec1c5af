//! The cards that can be answered: those whose holder lives. A holder that was killed leaves its card behind.

use model::card::{Card, CardState};
use model::{ClientProcess, Ms};
use store::{CardFilter, Error, Store};

/// What waits for an answer, the oldest first. Every view and command offers these and no others.
///
/// # Errors
/// When the store cannot be read.
pub fn open_cards(store: &Store) -> Result<Vec<Card>, Error> {
    Ok(store.cards(&CardFilter::default())?.into_iter().filter(can_be_answered).collect())
}

/// Whether somebody still waits for this card's answer.
#[must_use]
pub fn can_be_answered(card: &Card) -> bool {
    card.state == CardState::Open && is_running(card.holder)
}

/// Closes the cards that nobody holds any more, and says how many those were. The client's own dialog stands as without
/// Taut; what was printed and is not confirmed waits for its client's next event as long as there is a client.
///
/// # Errors
/// When the store cannot be read or written.
pub fn close_abandoned(store: &mut Store, now: Ms) -> Result<usize, Error> {
    let is_left = |card: &Card| match card.state {
        CardState::Open | CardState::Answered => !is_running(card.holder),
        CardState::Given => !is_running(card.client),
        CardState::Used | CardState::AtTerminal | CardState::LetGo => false,
    };
    let left: Vec<Card> = store.cards(&CardFilter::default())?.into_iter().filter(is_left).collect();
    let mut closed = 0;
    for card in left {
        closed += usize::from(store.step_card(&card.id, card.state, CardState::LetGo, now)?);
    }
    Ok(closed)
}

pub(crate) fn is_running(process: ClientProcess) -> bool {
    sys::process_stat::lives(process.pid, process.started)
}
