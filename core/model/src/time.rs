//! Time as data: milliseconds since the Unix epoch, UTC.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ms(pub i64);

impl Ms {
    pub fn plus(self, millis: i64) -> Self {
        Self(self.0.saturating_add(millis))
    }

    /// How long ago `earlier` was; a clock that went backwards gives zero.
    pub fn since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0).max(0)
    }

    /// The beginning of a day, as `2026-11-16` names it.
    pub fn of_date(date: &str) -> Option<Self> {
        let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse::<i64>().ok())?;
        let [year, month, day] = date.split('-').collect::<Vec<_>>().try_into().ok()?;
        let (year, month, day) = (digits(year)?, digits(month)?, digits(day)?);
        let days = days(year, month, day);
        // A day that the month does not have would be one of the next.
        (date.len() == 10 && civil(days) == (year, month, day)).then(|| Self(days.saturating_mul(86_400_000)))
    }

    /// The day in UTC, as `of_date` reads it.
    pub fn date(self) -> String {
        self.rfc3339().chars().take(10).collect()
    }

    /// The moment that `rfc3339` wrote so.
    pub fn of_rfc3339(text: &str) -> Option<Self> {
        let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
        let number = |from: usize, to: usize| time.get(from..to)?.parse::<u32>().ok().map(i64::from);
        let seconds = number(0, 2)? * 3600 + number(3, 5)? * 60 + number(6, 8)?;
        let at = Self::of_date(date)?.plus(seconds * 1000 + number(9, 12)?);
        (at.rfc3339() == text).then_some(at)
    }

    /// RFC 3339 in UTC with milliseconds, the form every `--json` uses.
    pub fn rfc3339(self) -> String {
        let (days, millis) = (self.0.div_euclid(86_400_000), self.0.rem_euclid(86_400_000));
        let (year, month, day) = civil(days);
        let seconds = millis / 1000;
        format!(
            "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:03}Z",
            seconds / 3600,
            seconds / 60 % 60,
            seconds % 60,
            millis % 1000
        )
    }
}

/// A clock on a wall: how many seconds it is ahead of UTC at each moment.
#[derive(Clone, Copy)]
pub struct WallClock(pub fn(Ms) -> i32);

impl WallClock {
    pub const UTC: Self = Self(|_| 0);

    /// `2026-11-16 14:03:22`.
    pub fn whole(self, at: Ms) -> String {
        at.plus(i64::from((self.0)(at)) * 1000).rfc3339().chars().take(19).collect::<String>().replace('T', " ")
    }

    /// `2026-11-16`.
    pub fn day(self, at: Ms) -> String {
        self.whole(at).chars().take(10).collect()
    }

    /// `14:03:22`.
    pub fn time(self, at: Ms) -> String {
        self.whole(at).chars().skip(11).collect()
    }

    pub fn is_same_day(self, at: Ms, now: Ms) -> bool {
        self.day(at) == self.day(now)
    }

    /// The time of a moment, with its day where that is not the one of now.
    pub fn shown(self, at: Ms, now: Ms) -> String {
        if self.is_same_day(at, now) { self.time(at) } else { self.whole(at) }
    }

    /// As `shown` in eight cells: the day of the month stands in the place of the seconds.
    pub fn short(self, at: Ms, now: Ms) -> String {
        if self.is_same_day(at, now) { self.time(at) } else { self.whole(at).chars().skip(8).take(8).collect() }
    }
}

/// It is data, whichever function tells it.
impl std::fmt::Debug for WallClock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("WallClock")
    }
}

impl Default for WallClock {
    fn default() -> Self {
        Self::UTC
    }
}

/// Two are alike where they tell the same of the first moment.
impl PartialEq for WallClock {
    fn eq(&self, other: &Self) -> bool {
        (self.0)(Ms(0)) == (other.0)(Ms(0))
    }
}

/// Days since the epoch as year, month, day (proleptic Gregorian; H. Hinnant's method).
fn civil(days: i64) -> (i64, i64, i64) {
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let day_of_era = z.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

/// The reverse of `civil`.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let shifted_month = if month > 2 { month - 3 } else { month + 9 };
    let day_of_year = (153 * shifted_month + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::{Ms, WallClock};

    #[test]
    fn f4_a_wall_has_its_own_time_and_its_own_days() {
        let (east, at) = (WallClock(|_| 7_200), Ms::of_rfc3339("2026-11-15T23:10:05.123Z").unwrap());
        assert_eq!(at.rfc3339(), "2026-11-15T23:10:05.123Z");
        assert_eq!((east.shown(at, at), WallClock::UTC.shown(at, at)), ("01:10:05".into(), "23:10:05".into()));
        let (before, wanted) = (at.plus(-7_200_000), "2026-11-15 23:10:05");
        assert_eq!((east.shown(before, at), east.short(before, at)), (wanted.into(), "15 23:10".into()));
        assert_eq!((WallClock::UTC.shown(before, at).len(), east.short(at, at).len()), (8, 8));
        for wrong in ["", "2026-11-15", "2026-11-15T23:10:05Z", "2026-11-15T24:10:05.123Z", "2026-11-15Tä3:10:05.123Z"]
        {
            assert_eq!(Ms::of_rfc3339(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn shows_known_moments() {
        assert_eq!(Ms(0).rfc3339(), "1970-01-01T00:00:00.000Z");
        assert_eq!(Ms(951_782_400_001).rfc3339(), "2000-02-29T00:00:00.001Z");
        assert_eq!(Ms(1_794_700_800_123).rfc3339(), "2026-11-15T00:00:00.123Z");
        assert_eq!(Ms(-1).rfc3339(), "1969-12-31T23:59:59.999Z");
    }

    #[test]
    fn a_clock_that_went_back_gives_no_negative_age() {
        assert_eq!(Ms(5).since(Ms(9)), 0);
    }

    #[test]
    fn a_date_is_read_as_it_is_written_and_no_other() {
        for day in [0, 1, 58, 59, 789, 11_016, 20_773, -1, 40_000] {
            let at = Ms(day * 86_400_000);
            assert_eq!(Ms::of_date(&at.date()), Some(at), "{}", at.date());
        }
        for wrong in ["2026-02-30", "2026-13-01", "26-01-01", "2026-1-1", "2026-11-1x", "", "+026-11-16", "2026-00-10"]
        {
            assert_eq!(Ms::of_date(wrong), None, "{wrong}");
        }
    }
}
