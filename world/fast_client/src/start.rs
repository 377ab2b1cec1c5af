//! The ELF entry of the program, before the C library's own.

/// Where the kernel starts the program when the build script says so.
///
/// It looks at the stack the kernel made, leaves it as it was, and goes on to the C library's own entry unless the
/// hook was answered. `rdx` belongs to that entry: it would be called at exit.
///
/// # Safety
/// Only the kernel starts it, once.
#[cfg(fast_client)]
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn taut_entry() {
    core::arch::naked_asm!(
        "mov r12, rsp",
        "mov r13, rdx",
        "mov rdi, rsp",
        "xor ebp, ebp",
        "and rsp, -16",
        "call {answer_hook}",
        "mov rsp, r12",
        "mov rdx, r13",
        "jmp _start",
        answer_hook = sym crate::fast::answer_hook,
    )
}

/// The entry of a build without the fast client: nothing but the way on.
///
/// # Safety
/// Only the kernel starts it, once.
#[cfg(not(fast_client))]
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn taut_entry() {
    core::arch::naked_asm!("jmp _start")
}
