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

#[cfg(test)]
mod tests {
    use super::Ms;

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
}
