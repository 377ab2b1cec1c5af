//! The end of a hook that was answered: what it prints, and its exit code.

use super::ask::FastAnswer;
use super::sys::{self, Moved, Wait, WaitBudget};

/// A reader that does not read costs no more than this.
const PRINT_MS: u32 = 400;

/// So much a pipe that says it is writable takes without blocking.
const PIPE_BYTES: usize = 4096;

/// Prints and ends the process.
pub fn show(answer: &FastAnswer) -> ! {
    if !answer.stdout.is_empty() || !answer.stderr.is_empty() {
        sys::ignore_broken_pipes();
        let mut budget = WaitBudget::millis(PRINT_MS);
        // The answer first: what else there is to say must not keep it back.
        print(sys::STDOUT, answer.stdout, &mut budget);
        print(sys::STDERR, answer.stderr, &mut budget);
    }
    sys::exit(answer.exit)
}

fn print(fd: i32, bytes: &[u8], budget: &mut WaitBudget) {
    let mut rest = bytes;
    while !rest.is_empty() {
        if budget.wait(fd, sys::WRITABLE) == Wait::TimedOut {
            return;
        }
        match sys::write(fd, rest.get(..PIPE_BYTES).unwrap_or(rest)) {
            Moved::Bytes(0) | Moved::Failed => return,
            Moved::Bytes(count) => rest = rest.get(count..).unwrap_or(b""),
            Moved::Again => {}
        }
    }
}
