//! The fast client: answers a hook through the daemon before the C library and the Rust runtime have started.
//!
//! Start-up of a static glibc program costs several times what a hook needs. So the program's ELF entry is
//! `taut_entry` (see the build script of the `taut` crate), which looks at the raw stack the kernel made. A hook that
//! the daemon answers ends here. Everything else goes on to the real `_start` as if nothing had happened; what was
//! read of stdin by then is kept for [`taken`].
//!
//! The price is that nothing here may call the C library: its `memcpy` and kin are not yet bound. Hence no std, no
//! builtins, no copying by slices; bytes are moved by the loops and the instruction in `bytes`.
//! Where the fast client is not built (see the build script) or not linked in, [`taken`] answers `None` and the ordinary client does the same work.

#![no_std]
#![no_builtins]

pub mod limits;
mod taken_stdin;
pub mod wire;

#[cfg(fast_client)]
mod fast;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod start;

pub use taken_stdin::{TakenStdin, taken};
