//! From a command line to the command that serves it.

mod agent_settings;
mod args;
mod commands;
mod dispatch;
mod error;
mod exit;
mod hook;
mod keeper;
mod monitor;
mod notifier;
mod painter;
mod person;
mod printer;
mod reaper;
#[cfg(test)]
mod reference;
mod service;
mod stdin;
mod user_config;
mod waker;

pub use dispatch::open;
