//! Judging must cost what a text is long, however often it is repeated: `cargo +nightly fuzz run long`.
//!
//! A text that takes far more than its share of a short one is a finding; one that takes for ever is the fuzzer's
//! own (`-timeout`).
#![no_main]

use libfuzzer_sys::fuzz_target;
use model::fact::Facts;
use policy::{Around, Circumstances, Matter, Policy};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

const SHORT: usize = 3 << 10;
const LONG: usize = 48 << 10;
/// Times its share of the short line that a long one may take: the clock of a busy machine is no better.
const SHARE: u32 = 4;
/// What is quicker than this harms nobody.
const QUICK: Duration = Duration::from_millis(400);

static POLICY: LazyLock<Policy> = LazyLock::new(Policy::built_in);

// The text is taken apart at its first line end: what is repeated, and what closes it as often.
fuzz_target!(|text: &str| {
    let (unit, close) = text.split_once('\n').unwrap_or((text, ""));
    let line = |size: usize| {
        let times = size / (unit.len() + close.len()).max(1);
        format!("{}{}", unit.repeat(times), close.repeat(times))
    };
    let (short, long) = (line(SHORT), line(LONG));
    let share = (LONG / SHORT) as u32 * SHARE;
    // What looks slow is measured again: the machine may have been busy.
    let slow = (0..3).all(|_| {
        let long = judged(&long);
        long > QUICK && long > judged(&short) * share
    });
    assert!(!slow, "{unit:?} and {close:?} cost more than {SHARE} times their share");
});

fn judged(line: &str) -> Duration {
    let around = Around { home: Some("/home/ann".into()), ..Around::default() };
    let begun = Instant::now();
    let matter = Matter::line(line, Some("/srv/app".into()), &around);
    let findings = policy::judge(&matter, &POLICY, &Facts::default(), &Circumstances::default());
    assert!(policy::reason(&findings).len() < 1 << 20);
    begun.elapsed()
}
