//! What a started agent says of its work, line by line, and what its status line is told.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut heard = Default::default();
    for line in String::from_utf8_lossy(bytes).lines() {
        (agents::DEFAULT.launch.hear)(line, &mut heard);
    }
    let _ = agents::DEFAULT.status_line.map(|read| read(bytes));
});
