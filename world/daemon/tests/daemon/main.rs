//! The daemon on real sockets and as a real process, each test in a folder of its own.

mod document;
mod ending;
mod fast_client;
mod home;
mod raw;
mod serving;
mod starting;
mod watching;
