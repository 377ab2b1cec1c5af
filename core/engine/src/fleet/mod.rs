//! The fleet seen from outside: how it is shown, told of and woken.

pub(crate) mod messages;
pub mod notify;
pub mod paint;
pub mod reports;
pub mod run_turn;
pub mod text;
pub mod wake;
