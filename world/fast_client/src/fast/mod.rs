//! The way of a hook through the fast client: line, connection, stdin, question, answer, end.

mod ask;
mod bytes;
mod input;
mod json;
mod line;
mod origin;
mod show;
mod sys;

use crate::taken_stdin::{self, TakenStdin};
use line::HookLine;

/// Ends the process when the daemon answered the hook; returns when the ordinary way has to do the work.
///
/// # Safety
/// `stack` must be the stack pointer as the kernel set it, at the start of the process.
// Nothing here unwinds; an ABI that forbids it would only add a call to the code that says so.
pub(crate) unsafe extern "C-unwind" fn answer_hook(stack: *const usize) {
    // SAFETY: the caller passes the stack as the kernel laid it out.
    let Some(line) = (unsafe { HookLine::read(stack) }) else {
        return;
    };
    if !origin::is_the_users_own(&line) {
        return;
    }
    let Some(socket) = ask::connect(&line) else {
        return;
    };
    let mut request = [0; 16];
    if sys::random(&mut request) {
        let input = input::read();
        let taken = TakenStdin { stdin: input.bytes, complete: input.complete, request, asked: false };
        if input.complete
            && let Some(answer) = ask::ask(socket, &line, &taken)
        {
            show::show(&answer);
        }
        taken_stdin::leave(&TakenStdin { asked: input.complete, ..taken });
    }
    sys::close(socket);
}
