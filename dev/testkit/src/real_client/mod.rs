//! Real clients, offline: each installed once at a pinned version, run against the scripted model.

pub mod agent;
mod install;
mod launch;
mod namespace;
pub mod pinned;
mod print;
mod terminal;
mod tmux;

pub use agent::{AgentLaunch, AgentRun, DrivenAgent, DrivenTool};
pub use install::{Installer, RealClient, cache_folder};
pub use launch::{ClientLaunch, ClientPermissions};
pub use namespace::Isolation;
pub use pinned::{PinnedClient, Registry};
pub use print::PrintRun;
pub use terminal::Terminal;
