//! The commands and hooks as users and agents run them, in throw-away homes.

mod broken;
mod config;
mod deadline;
mod effort;
mod environment;
mod equal;
mod hostile_files;
mod hostile_text;
mod install;
mod lists;
mod load;
mod log;
mod loops;
mod messages;
mod notify;
mod origin;
mod private;
mod queue;
mod quiet;
mod record;
mod secrets;
mod statusline;
mod top;
mod ui;
mod unknown_agent;
mod usage;
