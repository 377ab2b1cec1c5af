//! Something that an agent waits for, as far as no test cares.

use model::card::{Card, CardKind, CardShown, CardState};
use model::{ClientProcess, Ms};

/// A card that nobody has answered, of a call of Bash.
#[must_use]
pub fn waiting(id: &str) -> Card {
    Card {
        id: id.to_owned(),
        at: Ms(1),
        session: "s".to_owned(),
        agent: "api".to_owned(),
        project: None,
        dialect: "claude-code".to_owned(),
        client: ClientProcess::default(),
        holder: ClientProcess::default(),
        kind: CardKind::Permission,
        tool: "Bash".to_owned(),
        digest: "d".to_owned(),
        shown: CardShown::default(),
        state: CardState::Open,
        answer: None,
        answered: None,
        ended_at: None,
    }
}
