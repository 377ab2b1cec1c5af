//! The operating system, as far as the standard library leaves it open. All that is unsafe stands here, or in the fast
//! client.

#[cfg(target_os = "macos")]
pub mod account;
pub mod clock;
pub mod crash;
pub mod disk;
pub mod environment;
pub mod output;
pub mod outside;
pub mod poll;
pub mod process;
pub mod process_stat;
pub mod pty;
pub mod random;
pub mod side_process;
pub mod signals;
pub mod socket;
pub mod terminal;
