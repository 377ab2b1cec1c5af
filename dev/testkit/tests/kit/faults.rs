//! Faults at the system call: the call that was meant is met, and nothing else is.

use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use testkit::Ending;
use testkit::faults::{self, FaultKind, FaultRun, SyscallFault};

const LIMIT: Duration = Duration::from_secs(20);

fn run(program: &str, args: &[&str], stdin: &[u8], fault: Option<SyscallFault>) -> FaultRun {
    let mut command = Command::new(program);
    command.args(args).env_clear().env("LC_ALL", "C");
    faults::run(command, stdin, fault, LIMIT).unwrap()
}

/// The place of the first call like this one, counted from 1.
fn place(run: &FaultRun, name: &str, first: u64) -> usize {
    run.calls.iter().position(|call| call.name == name && call.first == first).expect("it is made") + 1
}

#[test]
fn without_a_fault_a_program_runs_as_it_does() {
    let run = run("cat", &[], b"hello", None);
    assert_eq!((run.finished.ending, run.finished.stdout_text().as_str()), (Ending::Code(0), "hello"));
    assert_eq!(run.met, None);
    assert!(run.calls.iter().any(|call| call.name == "write" && call.first == 1), "{:?}", run.calls);
}

#[test]
fn the_nth_call_fails_with_the_error_that_was_chosen() {
    let nth = place(&run("cat", &[], b"hello", None), "read", 0);
    let met = run("cat", &[], b"hello", Some(SyscallFault { nth, kind: FaultKind::Error(libc::EIO) }));
    assert_eq!(met.met.map(|call| (call.name, call.first)), Some(("read", 0)));
    assert_eq!((met.finished.code(), met.finished.stdout_text().as_str()), (Some(1), ""));
    assert!(met.finished.stderr_text().contains("Input/output error"), "{}", met.finished.stderr_text());
}

#[test]
fn a_lasting_fault_meets_every_later_call_of_its_class() {
    let nth = place(&run("cat", &[], b"hello", None), "write", 1);
    let met = run("cat", &[], b"hello", Some(SyscallFault { nth, kind: FaultKind::Lasting(libc::ENOSPC) }));
    assert_eq!((met.finished.code(), met.finished.stderr_text().as_str()), (Some(1), ""), "not even a complaint");
}

#[test]
fn a_stalled_call_is_made_after_the_stall() {
    let nth = place(&run("cat", &[], b"hello", None), "read", 0);
    let stall = Duration::from_millis(300);
    let met = run("cat", &[], b"hello", Some(SyscallFault { nth, kind: FaultKind::Stall(stall) }));
    assert_eq!(met.finished.stdout_text(), "hello");
    assert!(met.finished.took >= stall);
}

#[test]
fn a_killed_program_makes_no_further_call() {
    let nth = place(&run("cat", &[], b"hello", None), "write", 1);
    let met = run("cat", &[], b"hello", Some(SyscallFault { nth, kind: FaultKind::Kill }));
    assert_eq!((met.finished.ending, met.finished.stdout_text().as_str()), (Ending::Signal(libc::SIGKILL), ""));
}

#[test]
fn the_clock_is_turned_from_the_nth_call_on() {
    let day = 86_400;
    let turned = run("date", &["+%s"], b"", Some(SyscallFault { nth: 1, kind: FaultKind::Clock(-day) }));
    let said: i64 = turned.finished.stdout_text().trim().parse().unwrap();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs().cast_signed();
    assert!((now - day - 60..=now - day + 60).contains(&said), "{said} is not a day before {now}");
}
