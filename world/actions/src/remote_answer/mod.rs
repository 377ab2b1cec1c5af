//! Answers over machines: a card is answered on the machine that holds it, by a person on another one whose machine a person
//! here has said to trust. A row on a server proves nobody, so what counts is a signature over what that person saw.

mod anywhere;
mod send;
mod take;

pub use anywhere::{AnswerWay, answer_anywhere, card_anywhere, fate};
pub use send::{RemoteCard, remote_card, remote_cards, send, shown_card};
pub use take::{presence_card, take};

#[cfg(test)]
mod tests;

use model::remote_card::PresenceCard;

/// Digest of all that somebody is shown of a card.
fn seen(card: &PresenceCard) -> String {
    pipeline::sha256(&engine::cards::seen_text(card))
}

/// What two people compare when one is to trust the other's machine.
#[must_use]
pub fn fingerprint(public_key: &str) -> String {
    let digest = pipeline::sha256(&format!("taut machine key {}", public_key.to_ascii_lowercase()));
    let groups: Vec<String> =
        digest.as_bytes().chunks(4).take(10).map(|four| String::from_utf8_lossy(four).into()).collect();
    groups.join("-")
}
