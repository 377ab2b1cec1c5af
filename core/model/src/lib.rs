//! The words of Taut: plain data that every room shares. No behaviour beyond
//! what a word needs to be read and shown.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

pub mod agent;
pub mod agent_name;
pub mod call;
pub mod card;
pub mod client_state;
pub mod effect;
pub mod effort;
pub mod event;
pub mod fact;
pub mod fleet;
pub mod memory_file;
pub mod needs;
pub mod patch;
pub mod question;
pub mod remote_card;
pub mod reply;
pub mod row;
pub mod run;
pub mod session;
pub mod session_facts;
pub mod session_work;
pub mod status_colour;
pub mod stop_code;
pub mod task;
pub mod task_branch;
pub mod text;
pub mod time;
pub mod tool;
pub mod verdict;
pub mod who;
pub mod work_change;

pub use agent::AgentProfile;
pub use call::{Answer, Call, ClientProcess, Environment};
pub use event::{Body, Envelope, EventKind, Family};
pub use needs::{Needs, Placed};
pub use time::{Ms, WallClock};
pub use tool::{ToolCall, ToolKind};
pub use verdict::{Finding, Findings, FoundInFile, Level, RuleKind};
pub use who::{Loaded, Who};
