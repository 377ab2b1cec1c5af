//! What an agent asks of a person as other machines are told of it, and an answer on its way to the machine of that agent.

use crate::card::{CardAnswer, CardShown};
use serde::{Deserialize, Serialize};

/// Kinds of messages between machines that are for no agent.
pub const ANSWER: &str = "card_answer";
pub const ANSWER_FATE: &str = "card_answer_fate";

/// A card in the presence of its agent: redacted again, short, and without what would be written into a file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PresenceCard {
    pub id: String,
    /// `permission`, `question` or `plan`.
    pub kind: String,
    pub tool: String,
    /// Of the exact input, which stays on the agent's machine.
    pub digest: String,
    /// Which agent asks, by the word of its own machine: `api@vm-3`. All else that a server says of that anybody may write.
    pub of: String,
    pub shown: CardShown,
}

/// An answer to a card of another machine: who says what to which card, and what they saw of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemoteAnswer {
    /// The server's own id.
    pub server: String,
    pub from_machine: String,
    pub to_machine: String,
    pub card: String,
    /// Of the exact input, as presence told it.
    pub digest: String,
    /// Digest of all that the person was shown of the card.
    pub seen: String,
    pub answer: CardAnswer,
    /// The account of who answered.
    pub user: String,
    /// `terminal`, `page` or `top`.
    pub place: String,
    /// Drawn for this answer; it carries no time.
    pub nonce: String,
}

/// An answer with the proof of the machine it was given on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignedAnswer {
    pub answer: RemoteAnswer,
    /// Ed25519 over the answer's one spelling, in hexadecimal digits.
    pub signature: String,
}

/// What became of an answer on the machine that holds the card.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AnswerFate {
    /// Of the answer.
    pub nonce: String,
    pub card: String,
    /// Whether it was given to whoever holds the card.
    pub taken: bool,
    /// In words.
    pub said: String,
}
