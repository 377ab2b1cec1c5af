//! The daemon on real sockets and as a real process, each test in a folder of its own.

mod ending;
mod raw;
mod serving;
mod stage;
mod starting;
mod threshold;
mod watching;
