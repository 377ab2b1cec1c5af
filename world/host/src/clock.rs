//! The clock, and ids that sort by it.

use model::Ms;
use std::time::{SystemTime, UNIX_EPOCH};

pub fn now() -> Ms {
    Ms(sys::clock::wall_ms())
}

/// How far the clock on this machine's wall is ahead of UTC at that moment, in seconds.
pub fn utc_offset_s(at: Ms) -> i32 {
    sys::clock::utc_offset_s(at.0.div_euclid(1000))
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
    fn ids_of_one_draw_differ() {
        let [a, b, c] = uuids::<3>(Ms(5));
        assert!(a < b && b < c);
    }
}
