//! The fleet seen from outside: how it is shown, told of and woken.

pub mod at_rest;
pub mod messages;
pub mod notify;
pub mod paint;
pub mod reports;
pub mod run_turn;
pub mod text;
pub mod wake;
