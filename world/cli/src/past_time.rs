//! A moment in the past as people write it: `2d` ago, or a date.

use crate::error::CliError;
use model::Ms;

const DAY_MS: i64 = 86_400_000;

/// `90m`, `2h`, `3d`, `2w`, or a day of this clock, `2026-11-01`.
pub fn read(text: &str, option: &str) -> Result<Ms, CliError> {
    let now = host::clock::now();
    let read = ago(text).map(|millis| now.plus(-millis)).or_else(|| host::clock::day_begins(text));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_a_length_of_time_or_a_day() {
        assert_eq!(ago("90m"), Some(5_400_000));
        assert_eq!(ago("2w"), Some(14 * DAY_MS));
        for wrong in ["", "d", "-2d", "2y", "2026-13-01", "2026-1", "yesterday", "ä", "99999999999d"] {
            assert!(ago(wrong).is_none(), "{wrong}");
            assert!(read(wrong, "--since").is_err(), "{wrong}");
        }
    }
}
