//! Claude Code.

pub mod decode;
pub mod encode;

/// The name users type after `--agent`.
pub const NAME: &str = "claude-code";
