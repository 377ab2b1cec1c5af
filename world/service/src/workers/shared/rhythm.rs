//! When the server is asked again: soon while somebody is at work here, later while only something is owed, not at all
//! while there is nothing; and ever later while it is away. And when its tables are tended.

use std::time::{Duration, Instant};

const SOON: Duration = Duration::from_secs(2);
pub(crate) const LATER: Duration = Duration::from_secs(15);
/// With nothing to say and nobody there the connection is kept for so long.
const KEPT_OPEN: Duration = Duration::from_secs(60);
/// However often it is woken.
const CLOSEST: Duration = Duration::from_secs(1);
const LONGEST_ABSENCE: Duration = Duration::from_secs(60);

/// Who and what there is for a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// A session is open here, or a view looks.
    Somebody,
    /// A word is owed, a task is held, or events wait.
    Something,
    Nothing,
}

/// What is to be done now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Round,
    /// It has been quiet for long: the server may sleep.
    Close,
    /// Nothing is due before so long.
    Wait(Duration),
}

#[derive(Debug, Default)]
pub(crate) struct Rhythm {
    last: Option<Instant>,
    /// When there was something last.
    needed: Option<Instant>,
    /// Not asked before, because it is away or refuses.
    rests_until: Option<Instant>,
    failures: u32,
}

impl Rhythm {
    pub fn step(&mut self, need: Need, is_open: bool, now: Instant) -> Step {
        if need != Need::Nothing {
            self.needed = Some(now);
        }
        let quiet = self.needed.map(|needed| now.saturating_duration_since(needed));
        if need == Need::Nothing && (!is_open || quiet.is_none_or(|quiet| quiet >= KEPT_OPEN)) {
            return if is_open { Step::Close } else { Step::Wait(LATER) };
        }
        let closest = self.last.map(|last| last + CLOSEST);
        match closest.max(self.rests_until).map(|due| due.saturating_duration_since(now)) {
            Some(left) if !left.is_zero() => Step::Wait(left),
            Some(_) | None => Step::Round,
        }
    }

    /// How long after a round that went well the next one is due, unless it is woken. Also after one of which the server, who
    /// is there, refused a part: that alone is left for later.
    pub fn went_well(&mut self, need: Need, now: Instant) -> Duration {
        (self.last, self.rests_until, self.failures) = (Some(now), None, 0);
        if need == Need::Somebody { SOON } else { LATER }
    }

    /// `chance` is between 0 and 255: machines that lost the same server do not all come back at once.
    pub fn went_wrong(&mut self, is_refusal: bool, chance: u8, now: Instant) -> Duration {
        self.failures = self.failures.saturating_add(1);
        let doubled = Duration::from_secs(1 << (self.failures - 1).min(6)).min(LONGEST_ABSENCE);
        let base = if is_refusal { LONGEST_ABSENCE } else { doubled };
        let pause = base / 2 + base * u32::from(chance) / 255;
        (self.last, self.rests_until) = (Some(now), Some(now + pause));
        pause
    }

    /// Another server is configured: it may be there.
    pub fn begin_anew(&mut self) {
        *self = Self::default();
    }
}

const DAY: Duration = Duration::from_secs(24 * 3_600);
/// Others wait for a moment behind a try that somebody is in the way of.
const TENDED_AGAIN: Duration = Duration::from_secs(10 * 60);

/// When a server's tables are tended: once a day, and sooner where that did not succeed.
#[derive(Debug, Default)]
pub(crate) struct TendRhythm {
    next: Option<Instant>,
}

impl TendRhythm {
    pub fn is_due(&self, now: Instant) -> bool {
        self.next.is_none_or(|next| next <= now)
    }

    pub fn tried(&mut self, succeeded: bool, now: Instant) {
        self.next = Some(now + if succeeded { DAY } else { TENDED_AGAIN });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: fn(u64) -> Duration = Duration::from_secs;

    #[test]
    fn x1_a_server_is_asked_soon_while_somebody_is_there_and_left_alone_when_nobody_is() {
        let (mut rhythm, start) = (Rhythm::default(), Instant::now());
        assert_eq!(rhythm.step(Need::Nothing, false, start), Step::Wait(LATER), "never begun");
        assert_eq!(rhythm.step(Need::Somebody, false, start), Step::Round);
        assert_eq!(rhythm.went_well(Need::Somebody, start), SOON);
        assert_eq!(rhythm.step(Need::Somebody, true, start), Step::Wait(CLOSEST), "however often it is woken");
        assert_eq!(rhythm.step(Need::Somebody, true, start + S(1)), Step::Round);
        assert_eq!(rhythm.went_well(Need::Something, start + S(1)), LATER);
        assert_eq!(rhythm.step(Need::Nothing, true, start + S(59)), Step::Round, "it is kept for a while");
        assert_eq!(rhythm.step(Need::Nothing, true, start + S(62)), Step::Close);
        assert_eq!(rhythm.step(Need::Nothing, false, start + S(62)), Step::Wait(LATER));
    }

    #[test]
    fn x1_a_server_that_is_away_is_called_ever_later_up_to_a_minute_and_a_half() {
        let (mut rhythm, now) = (Rhythm::default(), Instant::now());
        let pauses: Vec<u64> = (0..9).map(|_| rhythm.went_wrong(false, 255, now).as_millis() as u64).collect();
        assert_eq!(pauses, [1_500, 3_000, 6_000, 12_000, 24_000, 48_000, 90_000, 90_000, 90_000]);
        assert_eq!(rhythm.went_wrong(false, 0, now), S(30));
        assert_eq!(rhythm.step(Need::Somebody, false, now + S(29)), Step::Wait(S(1)), "not for being woken");
        rhythm.went_well(Need::Somebody, now);
        assert_eq!(rhythm.went_wrong(false, 0, now), Duration::from_millis(500));
        rhythm.begin_anew();
        assert_eq!(rhythm.went_wrong(true, 0, now), S(30), "a refusal is not mended by asking");
        assert_eq!(rhythm.went_well(Need::Somebody, now), SOON);
        assert_eq!(rhythm.step(Need::Somebody, true, now + S(2)), Step::Round);
        rhythm.begin_anew();
        assert_eq!(rhythm.step(Need::Somebody, false, now), Step::Round);
    }
    #[test]
    fn x3_what_was_not_tended_is_tried_again_in_ten_minutes_and_what_was_in_a_day() {
        let (mut rhythm, now) = (TendRhythm::default(), Instant::now());
        assert!(rhythm.is_due(now));
        rhythm.tried(false, now);
        assert!(!rhythm.is_due(now + S(599)) && rhythm.is_due(now + S(600)));
        rhythm.tried(true, now);
        assert!(!rhythm.is_due(now + S(86_399)) && rhythm.is_due(now + S(86_400)));
    }
}
