//! From a command line to the command that serves it.

mod agent_choice;
mod agent_settings;
mod args;
mod commands;
mod dispatch;
mod error;
mod exit;
mod hook;
mod mcp_registration;
mod past_time;
mod person;
mod printer;
#[cfg(test)]
mod reference;
mod stdin;
mod user_config;

pub use dispatch::open;
