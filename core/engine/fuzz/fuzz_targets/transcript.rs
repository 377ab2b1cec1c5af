//! A transcript is written by another program and read from its end, from wherever the reading began.
#![no_main]

use engine::fuzzing;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for (before, floor) in [(0, 0), (0, 100), (1_000_000, 0), (u64::MAX, u64::MAX)] {
        let _ = fuzzing::transcript(bytes, before, floor);
    }
});
