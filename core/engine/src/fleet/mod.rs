//! The fleet seen from outside: how it is shown, told of and woken.

pub mod notify;
pub mod paint;
