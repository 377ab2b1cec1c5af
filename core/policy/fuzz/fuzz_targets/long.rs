//! Judging must come back soon from any text, however often it is repeated: `cargo +nightly fuzz run long`.
//! Slow units are found by the fuzzer's own clock (`-timeout`) and kept by it (`slow-unit-…`, `timeout-…`).
#![no_main]

use libfuzzer_sys::fuzz_target;
use policy::{Around, ParsedCall, Policy};
use std::sync::LazyLock;

/// The length that is looked for slow lines in.
const LONG: usize = 48 << 10;

static POLICY: LazyLock<Policy> = LazyLock::new(Policy::built_in);

// The text is taken apart at its first line end: what is repeated, and what closes it as often.
fuzz_target!(|text: &str| {
    let (unit, close) = text.split_once('\n').unwrap_or((text, ""));
    let times = LONG / (unit.len() + close.len()).max(1);
    let line = format!("{}{}", unit.repeat(times), close.repeat(times));
    let around = Around { home: Some("/home/ann".into()), ..Around::default() };
    let parsed_call = ParsedCall::line(&line, Some("/srv/app".into()), &around);
    let findings = policy::judge(&parsed_call, &POLICY, &Default::default(), &Default::default());
    assert!(policy::reason(&findings).len() < 1 << 20);
});
