//! The operating system, as far as the standard library leaves it open.

pub mod clock;
pub mod crash;
pub mod output;
pub mod outside;
pub mod random;
pub mod side_process;
