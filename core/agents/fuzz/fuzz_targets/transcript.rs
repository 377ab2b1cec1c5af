//! A transcript is written by another program and read from its end, from wherever the reading began.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let reader = agents::DEFAULT.profile.transcript;
    for (before, floor) in [(0, 0), (0, 100), (1_000_000, 0), (u64::MAX, u64::MAX)] {
        let size = u64::saturating_add(before, bytes.len() as u64);
        let tail = agents::TranscriptTail { bytes: bytes.to_vec(), size };
        let _ = ((reader.usage)(&tail, floor), (reader.last_words)(&tail));
    }
});
