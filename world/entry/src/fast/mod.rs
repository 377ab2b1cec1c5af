//! The way of a hook over the threshold: line, connection, stdin, question, answer, end.

mod ask;
mod bytes;
mod input;
mod json;
mod line;
mod show;
mod sys;

use crate::limits;
use crate::taken::{self, Taken};
use line::Line;

/// Where the kernel starts the program when the build script says so.
///
/// It looks at the stack the kernel made, leaves it as it was, and goes on to the C library's own entry unless the
/// hook was answered. `rdx` belongs to that entry: it would be called at exit.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn taut_entry() {
    core::arch::naked_asm!(
        "mov r12, rsp",
        "mov r13, rdx",
        "mov rdi, rsp",
        "xor ebp, ebp",
        "and rsp, -16",
        "call {threshold}",
        "mov rsp, r12",
        "mov rdx, r13",
        "jmp _start",
        threshold = sym threshold,
    )
}

/// Ends the process when the daemon answered the hook; returns when the ordinary way has to do the work.
unsafe extern "C" fn threshold(stack: *const usize) {
    // SAFETY: the entry passes the stack pointer as the kernel set it.
    let Some(line) = (unsafe { Line::read(stack) }) else {
        return;
    };
    let Some(socket) = ask::connect(&line) else {
        return;
    };
    let mut request = [0; 16];
    if sys::random(&mut request) {
        let input = input::read();
        let taken = Taken { stdin: input.bytes, complete: input.complete, request, asked: false };
        let asked = input.complete && input.bytes.len() <= limits::STDIN_BYTES;
        if asked && let Some(answer) = ask::ask(socket, &line, &taken) {
            show::show(&answer);
        }
        taken::leave(&Taken { asked, ..taken });
    }
    sys::close(socket);
}
