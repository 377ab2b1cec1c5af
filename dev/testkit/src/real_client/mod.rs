//! The real Claude Code, offline: installed once at a pinned version, run against the scripted model.

mod install;
mod launch;
mod namespace;
mod print;
mod terminal;
mod tmux;

pub use install::{Installer, PACKAGE, RealClient, VERSION, cache_folder};
pub use launch::{ClientLaunch, ClientPermissions};
pub use namespace::Isolation;
pub use print::PrintRun;
pub use terminal::Terminal;
