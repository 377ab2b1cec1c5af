//! A moment in the past as people write it: `2d` ago, or a date.

use crate::error::CliError;
use model::Ms;

const DAY_MS: i64 = 86_400_000;

/// `90m`, `2h`, `3d`, `2w`, or a day of this clock, `2026-11-01`.
pub fn read(text: &str, option: &str) -> Result<Ms, CliError> {
    let now = host::clock::now();
    let read = ago(text).map(|millis| now.plus(-millis)).or_else(|| {
        let midnight = Ms(day(text)?.checked_mul(DAY_MS)?);
        Some(midnight.plus(-i64::from(host::clock::utc_offset_s(midnight)) * 1000))
    });
    read.ok_or_else(|| {
        CliError::usage(format!("`{text}` is neither a length of time nor a date"))
            .hint(format!("{option} 2d, {option} 3w or {option} 2026-11-01"))
    })
}

fn ago(text: &str) -> Option<i64> {
    let split = text.len().checked_sub(1).filter(|at| text.is_char_boundary(*at))?;
    let (number, unit) = text.split_at(split);
    let unit = match unit {
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => DAY_MS,
        "w" => 7 * DAY_MS,
        _ => return None,
    };
    number.parse::<u32>().ok().and_then(|number| i64::from(number).checked_mul(unit))
}

/// Days since the epoch (proleptic Gregorian; H. Hinnant's method).
fn day(text: &str) -> Option<i64> {
    let numbers: Vec<i64> =
        text.split('-').map(|part| part.parse::<u32>().map(i64::from)).collect::<Result<_, _>>().ok()?;
    let [year @ 1970..=9999, month @ 1..=12, day @ 1..=31] = numbers[..] else { return None };
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    Some(era * 146_097 + day_of_era - 719_468)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_a_length_of_time_or_a_day() {
        assert_eq!(ago("90m"), Some(5_400_000));
        assert_eq!(ago("2w"), Some(14 * DAY_MS));
        assert_eq!(day("1970-01-01"), Some(0));
        assert_eq!(
            day("2000-02-29").map(|days| Ms(days * DAY_MS).rfc3339()).as_deref(),
            Some("2000-02-29T00:00:00.000Z")
        );
        assert_eq!(
            day("2026-11-15").map(|days| Ms(days * DAY_MS).rfc3339()).as_deref(),
            Some("2026-11-15T00:00:00.000Z")
        );
        for wrong in ["", "d", "-2d", "2y", "2026-13-01", "2026-1", "yesterday", "ä", "99999999999d"] {
            assert!(ago(wrong).is_none() && day(wrong).is_none(), "{wrong}");
            assert!(read(wrong, "--since").is_err(), "{wrong}");
        }
    }
}
