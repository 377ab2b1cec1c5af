//! Senses and hands: what the core asks of this machine, and what it changes on it.

pub mod artifacts;
pub mod client_state;
pub mod clock;
pub mod clock_reading;
pub mod environment;
pub mod install;
pub mod loopback_peer;
pub mod machine_key;
pub mod memory_file;
pub mod notify;
pub mod origin;
pub mod overrides;
pub mod paths;
pub mod person;
pub mod probe;
pub mod process_group;
pub mod programs;
pub mod run_terminal;
pub mod session_diff;
pub mod settings_file;
pub mod tmux;
pub mod trust;
