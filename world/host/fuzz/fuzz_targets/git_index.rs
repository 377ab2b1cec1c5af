//! An index is a file of the project: whatever it holds, whether git tracks a path is told or cannot be told.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for wanted in ["", "src", "src/main.rs", "z"] {
        let _ = host::probe::git_index_holds(bytes, wanted.as_bytes());
    }
});
