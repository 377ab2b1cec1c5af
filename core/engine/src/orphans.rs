//! Orphans: sessions whose client died without a word. Only several signs
//! together end one; where one cannot be read, nothing is ended.

use crate::state;
use model::Ms;
use model::session::Session;

/// So long nothing must have been heard.
pub const SILENCE_MS: i64 = 2 * 60 * 60 * 1000;

const REASON: &str = "orphaned";

/// What one sign says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    There,
    Gone,
    /// It could not be asked, or the answer means nothing.
    Unknown,
    /// There is no such thing to ask about.
    None,
}

/// What is seen of a session's client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signs {
    pub client: Sign,
    pub pane: Sign,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Lives,
    Orphaned,
    /// Cannot tell: kills nothing.
    Unknown,
}

pub fn fate(session: &Session, signs: Signs, now: Ms) -> Fate {
    if !session.open() || now.since(session.last_seen_at) < SILENCE_MS {
        return Fate::Lives;
    }
    of_silent(signs)
}

fn of_silent(signs: Signs) -> Fate {
    match (signs.client, signs.pane) {
        (Sign::There, _) => Fate::Lives,
        (Sign::Gone, Sign::Gone | Sign::None) => Fate::Orphaned,
        _ => Fate::Unknown,
    }
}

pub fn bury(session: Session, now: Ms) -> Session {
    state::end(session, REASON, now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s13_only_a_client_and_a_pane_that_are_both_gone_make_an_orphan() {
        use Sign::{Gone, None, There, Unknown};
        for client in [There, Gone, Unknown, None] {
            for pane in [There, Gone, Unknown, None] {
                let expected = match (client, pane) {
                    (There, _) => Fate::Lives,
                    (Gone, Gone | None) => Fate::Orphaned,
                    _ => Fate::Unknown,
                };
                assert_eq!(of_silent(Signs { client, pane }), expected, "{client:?} {pane:?}");
            }
        }
    }
}
