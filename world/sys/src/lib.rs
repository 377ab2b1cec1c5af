//! The operating system, as far as the standard library leaves it open.

pub mod apart;
pub mod clock;
pub mod crash;
pub mod output;
pub mod outside;
pub mod random;
