//! The daemon on real sockets and as a real process, each test in a folder of its own.

mod ending;
mod fast_client;
mod raw;
mod serving;
mod stage;
mod starting;
mod watching;
