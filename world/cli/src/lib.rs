//! From a command line to the command that serves it.

mod agent_choice;
mod agent_settings;
mod args;
mod command_line;
mod commands;
mod dispatch;
mod error;
mod exit;
mod hook;
mod mcp_registration;
mod past_time;
mod person;
mod printer;
mod progress;
#[cfg(test)]
mod reference;
mod shared_queue;
mod stdin;
mod user_config;
mod waiting_line;

pub use command_line::cli_command;
pub use dispatch::open;
