//! A moment on two clocks: where they part, the machine slept or its clock was set.

use crate::clock;
use model::task::ClockReading;

/// Where nobody tells which run of the machine this is, all are one: a clock
/// that began anew then looks like a long sleep, which costs one grace.
pub fn moment() -> ClockReading {
    ClockReading { now: clock::now(), awake: sys::clock::awake_ms(), boot: sys::clock::boot().to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_clock_goes_forward_within_one_boot() {
        let (first, second) = (moment(), moment());
        assert!(first.awake > 0 && second.awake >= first.awake);
        assert_eq!(first.boot, second.boot);
    }
}
