//! What a test needs of the machine. Where that is missing the test says so and ends; under the full proof it fails.

use std::env;
use std::io::{self, Write};
use std::thread;

/// Set by `.ci/run`, which installs all that is needed: there nothing may be left out.
pub const FULL_PROOF: &str = "TAUT_CI";

/// Says that the running test proves nothing here, where everybody sees it: `cargo test` keeps back what a passing
/// test prints, but not what is written to the stream itself.
///
/// # Panics
/// Under the full proof.
pub fn skipped(why: &str) {
    let test = thread::current().name().unwrap_or("a test").to_owned();
    assert!(env::var_os(FULL_PROOF).is_none(), "{test} cannot be run here: {why}. {FULL_PROOF} is set, so it must be");
    // One write, so that other tests' lines stay whole. Nothing can be done where even this cannot be said.
    let _ = io::stderr().write_all(format!("skipped: {test}: {why}\n").as_bytes());
}

/// Whether a program cannot be found, which is then said by [`skipped`].
#[must_use]
pub fn is_missing(program: &str) -> bool {
    let folders = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&folders).any(|folder| folder.join(program).is_file());
    if !found {
        skipped(&format!("there is no {program}"));
    }
    !found
}

/// Whether this user may not become another one, which is then said by [`skipped`].
#[must_use]
pub fn is_not_root() -> bool {
    // SAFETY: geteuid takes no arguments and cannot fail.
    let other = unsafe { libc::geteuid() } != 0;
    if other {
        skipped("only root can be two users");
    }
    other
}
