//! Whether a person is at the page right now. The token proves that the page is ours; it does not prove that somebody
//! sits there: it lies in the browser for as long as a tab is open, where whoever passes by and whatever reads the
//! browser's files has it. So a page may act only with a permit, which it gets for the code that stands in the terminal
//! of `taut ui` and nowhere else, and which ends when nothing was done with it for a while.

use super::token::Token;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// So long nothing was done: the page is asked for the code again.
pub const PAUSE_MS: i64 = 10 * 60_000;
/// So often in a row the code may be wrong; then this server only reads.
const MOST_WRONG: u32 = 10;
/// Pages that may act at the same time; the one that did nothing longest goes.
const MOST_PERMITS: usize = 16;

pub struct Presence {
    code: Token,
    known: Mutex<PermitTable>,
}

#[derive(Default)]
struct PermitTable {
    permits: Vec<Permit>,
    wrong: u32,
}

struct Permit {
    secret: Token,
    used_at: i64,
}

#[derive(Debug, thiserror::Error)]
pub enum ConfirmError {
    #[error("this is not the code that `taut ui` printed in its terminal; {left} more tries")]
    Wrong { left: u32 },
    #[error("the code was wrong {MOST_WRONG} times: this page only shows until `taut ui` is started again")]
    Locked,
    #[error("the system gives no random numbers for the permit")]
    Random(#[from] io::Error),
}

impl Presence {
    pub fn new() -> io::Result<Self> {
        Ok(Self { code: Token::code()?, known: Mutex::default() })
    }

    pub fn code(&self) -> &str {
        self.code.text()
    }

    /// A permit for whoever knows the code.
    ///
    /// # Errors
    /// When it is another code, or was too often.
    pub fn confirm(&self, offered: &str, now: i64) -> Result<Token, ConfirmError> {
        let mut known = self.known();
        if known.wrong >= MOST_WRONG {
            return Err(ConfirmError::Locked);
        }
        // As it is read off a screen.
        let offered: String = offered.chars().filter(|letter| !letter.is_whitespace() && *letter != '-').collect();
        if !self.code.is(offered.as_bytes()) {
            known.wrong += 1;
            let left = MOST_WRONG - known.wrong;
            return Err(if left == 0 { ConfirmError::Locked } else { ConfirmError::Wrong { left } });
        }
        let secret = Token::fresh()?;
        known.wrong = 0;
        known.forget_idle(now);
        if known.permits.len() >= MOST_PERMITS
            && let Some(oldest) = (0..known.permits.len()).min_by_key(|at| known.permits[*at].used_at)
        {
            known.permits.swap_remove(oldest);
        }
        known.permits.push(Permit { secret: secret.clone(), used_at: now });
        Ok(secret)
    }

    /// Whether the page with this permit may act now. Looking does not prolong it.
    pub fn is_here(&self, permit: &[u8], now: i64) -> bool {
        let mut known = self.known();
        known.forget_idle(now);
        known.permits.iter().any(|known| known.secret.is(permit))
    }

    /// The same, for an act: from now on the pause is counted anew.
    pub fn acts(&self, permit: &[u8], now: i64) -> bool {
        let mut known = self.known();
        known.forget_idle(now);
        let found = known.permits.iter_mut().find(|known| known.secret.is(permit));
        found.map(|permit| permit.used_at = now).is_some()
    }

    fn known(&self) -> MutexGuard<'_, PermitTable> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PermitTable {
    /// A clock that went back is no pause that is over and none that has begun: it is asked again.
    fn forget_idle(&mut self, now: i64) {
        self.permits.retain(|permit| (0..PAUSE_MS).contains(&(now - permit.used_at)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(presence: &Presence) -> &'static str {
        if presence.code() == "000000" { "000001" } else { "000000" }
    }

    #[test]
    fn f4_a_permit_lasts_while_something_is_done_with_it_and_no_longer() {
        let presence = Presence::new().unwrap();
        let permit = presence.confirm(presence.code(), 0).unwrap();
        let permit = permit.text().as_bytes();
        assert!(presence.acts(permit, PAUSE_MS - 1));
        assert!(presence.is_here(permit, 2 * PAUSE_MS - 2));
        assert!(!presence.acts(permit, 2 * PAUSE_MS - 1), "looking at it did not prolong it");
        assert!(!presence.acts(permit, PAUSE_MS), "it is not brought back by a clock that goes back");
    }

    #[test]
    fn f4_the_code_is_taken_as_it_is_read_and_no_other_way() {
        let presence = Presence::new().unwrap();
        let (first, last) = presence.code().split_at(3);
        assert!(presence.confirm(&format!(" {first} {last}\n"), 0).is_ok());
        assert!(matches!(presence.confirm("", 0), Err(ConfirmError::Wrong { left: 9 })));
        assert!(!presence.acts(b"", 0) && !presence.acts(presence.code().as_bytes(), 0));
    }

    #[test]
    fn f4_who_guesses_the_code_is_locked_out_with_the_right_one_too() {
        let presence = Presence::new().unwrap();
        let permit = presence.confirm(presence.code(), 0).unwrap();
        for _ in 0..9 {
            assert!(matches!(presence.confirm(wrong(&presence), 0), Err(ConfirmError::Wrong { .. })));
        }
        assert!(matches!(presence.confirm(wrong(&presence), 0), Err(ConfirmError::Locked)));
        assert!(matches!(presence.confirm(presence.code(), 0), Err(ConfirmError::Locked)));
        assert!(presence.acts(permit.text().as_bytes(), 0), "who was here before is not thrown out by that");
    }

    #[test]
    fn f4_each_tab_has_its_own_permit_and_their_number_is_bounded() {
        let presence = Presence::new().unwrap();
        let all: Vec<Token> = (0..20).map(|n| presence.confirm(presence.code(), n).unwrap()).collect();
        let here = |token: &&Token| presence.is_here(token.text().as_bytes(), 20);
        assert_eq!(all.iter().filter(here).count(), MOST_PERMITS);
        assert!(!here(&&all[0]) && here(&&all[19]));
    }
}
