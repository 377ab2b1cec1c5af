//! The reader must come back from any text: `cargo +nightly fuzz run read`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|line: &str| {
    let around = bash::Surroundings { cwd: Some("/srv/app".into()), home: Some("/home/ann".into()), ..Default::default() };
    let reading = bash::read(line, &around);
    // As many as a short line may make of itself, and once more what is written out in it.
    assert!(reading.commands.len() <= 2 * 10_000 + 2 * line.len());
});
