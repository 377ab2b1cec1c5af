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
    shown_at(at, now, host::clock::utc_offset_s(at), host::clock::utc_offset_s(now))
}

fn shown_at(at: Ms, now: Ms, offset: i32, offset_now: i32) -> String {
    let wall = |at: Ms, offset: i32| at.plus(i64::from(offset) * 1000).rfc3339();
    let (then, today) = (wall(at, offset), wall(now, offset_now));
    let part = |text: &str, from: usize, to: usize| text.get(from..to).unwrap_or_default().to_string();
    if part(&then, 0, 10) == part(&today, 0, 10) {
        part(&then, 11, 16)
    } else {
        format!("{} {}", part(&then, 0, 10), part(&then, 11, 16))
    }
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
        let noon = Ms(12 * 3_600_000);
        assert_eq!(shown_at(noon.plus(1_800_000), noon, 3_600, 3_600), "13:30");
        assert_eq!(shown_at(noon.plus(12 * 3_600_000), noon, 0, 0), "1970-01-02 00:00");
        assert_eq!(shown_at(noon.plus(11 * 3_600_000), noon, 3_600, 0), "1970-01-02 00:00", "midnight an hour east");
    }
}
