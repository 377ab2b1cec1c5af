//! How long, how much and when, as a person says it of a run.

use model::Ms;

/// `45 s`, `12 min`, `1 h 02 min`, `2 d 3 h`.
pub(super) fn length(ms: i64) -> String {
    match ms.max(0) / 1000 {
        seconds @ ..60 => format!("{seconds} s"),
        seconds @ 60..3600 => format!("{} min", seconds / 60),
        seconds @ 3600..86_400 => format!("{} h {:02} min", seconds / 3600, seconds / 60 % 60),
        seconds => format!("{} d {} h", seconds / 86_400, seconds / 3600 % 24),
    }
}

/// The time on the wall here; with its day where that is another than today.
pub(super) fn local(at: Ms, now: Ms) -> String {
    let mut shown = host::clock::shown_at(at, now);
    // Seconds say nothing of a run.
    shown.truncate(shown.len() - ":00".len());
    shown
}

pub(super) fn tokens(count: u64) -> String {
    match count {
        ..1_000 => count.to_string(),
        1_000..1_000_000 => format!("{}k", count / 1_000),
        _ => format!("{:.1}M", count as f64 / 1e6),
    }
}

/// `[####------] 4/11`.
pub(super) fn bar(done: u64, all: u64) -> String {
    const CELLS: u64 = 10;
    let full = done.min(all).saturating_mul(CELLS).checked_div(all).unwrap_or_default();
    let cells = |mark: &str, count: u64| mark.repeat(usize::try_from(count).unwrap_or_default());
    format!("[{}{}] {done}/{all}", cells("#", full), cells("-", CELLS - full))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l13_lengths_times_and_amounts_read_as_a_person_says_them() {
        let lengths = [-5, 59_999, 12 * 60_000, 3_725_000, 97_200_000].map(length);
        assert_eq!(lengths, ["0 s", "59 s", "12 min", "1 h 02 min", "1 d 3 h"]);
        assert_eq!([999, 84_200, 1_250_000].map(tokens), ["999", "84k", "1.2M"]);
        assert_eq!(
            [bar(0, 3), bar(4, 11), bar(3, 3), bar(9, 3)],
            ["[----------] 0/3", "[###-------] 4/11", "[##########] 3/3", "[##########] 9/3"]
        );
    }

    #[test]
    fn l13_a_time_is_local_and_says_its_day_where_that_is_another() {
        let noon = host::clock::day_begins("2026-11-16").unwrap().plus(12 * 3_600_000);
        assert_eq!(local(noon.plus(5_430_000), noon), "13:30");
        assert_eq!(local(noon.plus(12 * 3_600_000), noon), "2026-11-17 00:00");
    }
}
