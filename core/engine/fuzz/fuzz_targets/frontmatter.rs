//! The head of a role's, mode's or skill's file, which a repository may bring.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| drop(engine::fuzzing::frontmatter(text)));
