//! Running one process to its end.

use std::process::Command;
use std::time::Duration;

use testkit::Ending;
use testkit::process::{ProcessInput, run, run_with};

const PLENTY: Duration = Duration::from_secs(20);

fn sh(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

#[test]
fn stdin_goes_in_and_both_outputs_come_out() {
    let done = run(sh("cat; echo oops >&2; exit 3"), b"hello", PLENTY).unwrap();
    assert_eq!(done.stdout_text(), "hello");
    assert_eq!(done.stderr_text(), "oops\n");
    assert_eq!(done.ending, Ending::Code(3));
    assert!(!done.pipes_held);
}

#[test]
fn a_child_that_never_reads_five_megabytes_is_no_problem() {
    let done = run(sh("exit 0"), &vec![b'x'; 5_000_000], PLENTY).unwrap();
    assert!(done.success());
}

#[test]
fn more_output_than_a_pipe_holds_is_read() {
    let done = run(sh("cat"), &vec![b'x'; 5_000_000], PLENTY).unwrap();
    assert_eq!(done.stdout.len(), 5_000_000);
}

#[test]
fn the_limit_kills_the_whole_group() {
    let done = run(sh("sleep 300 & echo $!; wait"), b"", Duration::from_millis(500)).unwrap();
    assert_eq!(done.ending, Ending::TimedOut);
    // The pipe can only be at its end when the sleeping child is gone too.
    assert!(!done.pipes_held);
}

#[test]
fn a_descendant_that_keeps_stdout_open_is_reported() {
    let mut command = sh("sleep 8 & echo answered");
    command.env_clear().env("PATH", "/usr/bin:/bin");
    let done = run(command, b"", PLENTY).unwrap();
    assert_eq!(done.stdout_text(), "answered\n");
    assert!(done.pipes_held);
}

#[test]
fn an_unended_input_keeps_a_reader_waiting_until_the_limit() {
    let soon = Duration::from_millis(300);
    let done = run_with(sh("cat"), ProcessInput::Unended(b"hello"), soon).unwrap();
    assert_eq!(done.ending, Ending::TimedOut);
    assert_eq!(done.stdout_text(), "hello");
    let done = run_with(sh("head -c 5"), ProcessInput::Unended(b"hello"), PLENTY).unwrap();
    assert!(done.success());
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let error = run(Command::new("/nonexistent/program"), b"", PLENTY).unwrap_err();
    assert!(error.to_string().contains("/nonexistent/program"), "{error}");
}
