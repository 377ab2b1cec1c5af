//! The door. The hook goes first: nothing may slow it down.

mod agent_settings;
mod args;
mod commands;
mod door;
mod error;
mod exit;
mod hook;
mod person;
mod printer;
mod service;
mod stdin;

fn main() -> std::process::ExitCode {
    door::open(std::env::args_os().collect())
}
