//! A test that cannot be run here says so where it is seen, and is a failure of the full proof.

use std::process::{Command, Output};

use testkit::need::FULL_PROOF;

const INSIDE: &str = "TESTKIT_NEED_INSIDE";

/// This binary again, with one test that cannot be run, and its output kept back as usual.
fn again(full_proof: bool) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "need::what_cannot_be_run_is_seen_to_be_skipped_and_fails_the_full_proof"]);
    command.env(INSIDE, "1").env_remove(FULL_PROOF);
    if full_proof {
        command.env(FULL_PROOF, "1");
    }
    command.output().unwrap()
}

#[test]
fn what_cannot_be_run_is_seen_to_be_skipped_and_fails_the_full_proof() {
    if std::env::var_os(INSIDE).is_some() {
        assert!(testkit::is_missing("a-program-that-nobody-has"));
        return;
    }
    let usual = again(false);
    let printed = String::from_utf8_lossy(&usual.stderr).into_owned();
    assert!(usual.status.success(), "{printed}");
    assert!(printed.contains("skipped: need::what_cannot_be_run"), "{printed}");
    assert!(printed.contains("there is no a-program-that-nobody-has"), "{printed}");
    let full = again(true);
    let printed = String::from_utf8_lossy(&full.stdout).into_owned();
    assert!(!full.status.success() && printed.contains("cannot be run here"), "{printed}");
}

#[test]
fn a_program_that_is_there_is_not_missing() {
    assert!(!testkit::is_missing("sh"));
}
