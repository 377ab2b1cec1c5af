//! Orphans: sessions whose client died without a word. Only several signs
//! together end one; where one cannot be read, nothing is ended.

use crate::state;
use model::Ms;
use model::session::Session;

/// So long nothing must have been heard.
pub const SILENCE_MS: i64 = 2 * 60 * 60 * 1000;

pub const REASON: &str = "orphaned";

/// What one sign says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LifeSign {
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
    pub client: LifeSign,
    pub pane: LifeSign,
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
        (LifeSign::There, _) => Fate::Lives,
        (LifeSign::Gone, LifeSign::Gone | LifeSign::None) => Fate::Orphaned,
        _ => Fate::Unknown,
    }
}

pub fn reap(session: Session, now: Ms) -> Session {
    state::end(session, REASON, now)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::tests::session;

    #[test]
    fn s13_two_hours_of_silence_come_first_and_what_has_ended_is_no_orphan() {
        let gone = Signs { client: LifeSign::Gone, pane: LifeSign::Gone };
        let open = session();
        assert_eq!(fate(&open, gone, Ms(SILENCE_MS - 1)), Fate::Lives);
        assert_eq!(fate(&open, gone, Ms(SILENCE_MS)), Fate::Orphaned);
        let ended = reap(open, Ms(SILENCE_MS));
        assert_eq!(ended.end_reason.as_deref(), Some(REASON));
        assert_eq!(fate(&ended, gone, Ms(9 * SILENCE_MS)), Fate::Lives);
    }

    #[test]
    fn s13_only_a_client_and_a_pane_that_are_both_gone_make_an_orphan() {
        use LifeSign::{Gone, None, There, Unknown};
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
