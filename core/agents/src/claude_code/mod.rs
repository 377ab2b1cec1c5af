//! Claude Code.

pub mod decode;
pub mod encode;
pub mod launch;
pub mod screen;
pub mod settings;
pub mod status_line;
pub mod stream;

/// The name users type after `--agent`.
pub const NAME: &str = "claude-code";
