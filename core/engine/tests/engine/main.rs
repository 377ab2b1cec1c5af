//! The engine from outside: one test binary.

mod clients;
mod secrets;
