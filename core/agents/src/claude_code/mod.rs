//! Claude Code.

pub mod decode;
pub mod encode;
pub mod settings;
pub mod status_line;

/// The name users type after `--agent`.
pub const NAME: &str = "claude-code";
