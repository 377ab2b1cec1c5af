//! The clock, and ids that sort by it.

use model::{Ms, WallClock};
use std::time::{SystemTime, UNIX_EPOCH};

/// The clock on this machine's wall.
pub const HERE: WallClock = WallClock(utc_offset_s);

pub fn now() -> Ms {
    Ms(sys::clock::wall_ms())
}

/// How far the clock on this machine's wall is ahead of UTC at that moment, in seconds.
pub fn utc_offset_s(at: Ms) -> i32 {
    sys::clock::utc_offset_s(at.0.div_euclid(1000))
}

/// For people: as the clock on the wall shows it, with its day where that is not today's.
pub fn shown(at: Ms) -> String {
    shown_at(at, now())
}

/// As `shown`, where it is `now`.
pub fn shown_at(at: Ms, now: Ms) -> String {
    HERE.shown(at, now)
}

/// How long until then: `40 s left`, `10 min left`, `3 h left`, `2 d left`.
pub fn left(until: Ms, now: Ms) -> String {
    let minutes = until.since(now).saturating_add(30_000) / 60_000;
    match minutes {
        ..2 => format!("{} s left", until.since(now).saturating_add(999) / 1000),
        2..120 => format!("{minutes} min left"),
        120..2880 => format!("{} h left", (minutes + 30) / 60),
        _ => format!("{} d left", (minutes + 720) / 1440),
    }
}

/// The day on the wall, `2026-11-16`.
pub fn day_shown(at: Ms) -> String {
    HERE.day(at)
}

/// The day on the wall, counted from 1970.
pub fn day_number(at: Ms) -> i64 {
    at.plus(i64::from(utc_offset_s(at)) * 1000).0.div_euclid(86_400_000)
}

/// The first moment of a day of the clock on the wall, as `2026-11-16` names it.
pub fn day_begins(date: &str) -> Option<Ms> {
    let midnight = Ms::of_date(date)?;
    Some(midnight.plus(-i64::from(utc_offset_s(midnight)) * 1000))
}

/// A fresh UUIDv7.
pub fn uuid(at: Ms) -> String {
    uuid_from(at, random())
}

/// Several UUIDv7 from one draw of randomness: a hook makes at most three.
pub fn uuids<const N: usize>(at: Ms) -> [String; N] {
    let seed = random();
    std::array::from_fn(|nth| {
        let mut bytes = seed;
        // The draw is random already; counting within it keeps the ids apart and in order.
        bytes[8] = (bytes[8] & 0xf0) | (nth as u8 & 0x0f);
        uuid_from(at, bytes)
    })
}

/// Sixteen bytes from the system's generator.
pub fn random() -> [u8; 16] {
    let mut bytes = [0_u8; 16];
    if sys::random::fill(&mut bytes).is_err() {
        // No generator: time and process number still tell two ids apart on one machine.
        let mark = (u128::from(std::process::id()) << 96)
            ^ SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        bytes = mark.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835).to_be_bytes();
    }
    bytes
}

fn uuid_from(at: Ms, mut bytes: [u8; 16]) -> String {
    bytes[..6].copy_from_slice(&at.0.to_be_bytes()[2..]);
    bytes[6] = 0x70 | (bytes[6] & 0x0f);
    bytes[8] = 0x80 | (bytes[8] & 0x3f);
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_by_time_and_carry_their_version() {
        let (early, late) = (uuid(Ms(1_000)), uuid(Ms(2_000)));
        assert!(early < late);
        assert_eq!((early.len(), &early[14..15]), (36, "7"));
        assert!("89ab".contains(&early[19..20]));
    }

    #[test]
    fn f4_a_time_has_its_day_where_that_is_not_today() {
        // Whatever the zone here is, a moment and its day belong together.
        let at = day_begins("2026-11-16").unwrap().plus(13 * 3_600_000 + 5_007);
        assert_eq!(shown_at(at, at.plus(60_000)), "13:00:05");
        assert_eq!(shown_at(at, at.plus(86_400_000)), "2026-11-16 13:00:05");
        assert_eq!(shown_at(at, at.plus(-86_400_000)), "2026-11-16 13:00:05");
        assert_eq!((day_shown(at).as_str(), day_begins("2026-11-31")), ("2026-11-16", None));
    }

    #[test]
    fn f4_what_is_left_is_a_length_of_time() {
        let left = |seconds: i64| left(Ms(seconds * 1000 - 1), Ms(0));
        assert_eq!([left(-5), left(1), left(89)], ["0 s left", "1 s left", "89 s left"]);
        assert_eq!(
            [left(90), left(600), left(7_200), left(172_800)],
            ["90 s left", "10 min left", "2 h left", "2 d left"]
        );
    }

    #[test]
    fn ids_of_one_draw_differ() {
        let [a, b, c] = uuids::<3>(Ms(5));
        assert!(a < b && b < c);
    }
}
