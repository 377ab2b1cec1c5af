//! `[session]`, `[heartbeat]`, `[overflow]`, `[compaction]`, `[directives]`.

use crate::config::declare::{table, words};
use crate::config::types::Percent;

table! {
    /// Whether work needs a session.
    pub struct SessionSection {
        /// No tool but those that lead to a session runs before one is active.
        [on] required: bool = false,
        /// Files that the refusal names as to be read first.
        standards: Vec<String> = Vec::new(),
    }
}

pub const SESSION: &str = r#"[session]
required = true
standards = ["docs/standards.md"]
"#;

table! {
    /// How often work must be logged.
    pub struct HeartbeatSection {
        /// Tool calls without `taut log` after which an agent is reminded.
        [lower] warn: u32 = 3,
        /// Tool calls without `taut log` after which it is stopped.
        [lower] block: u32 = 10,
    }
}

pub const HEARTBEAT: &str = "[heartbeat]\nwarn = 3\nblock = 10\n";

table! {
    /// When an agent must save what it knows.
    pub struct OverflowSection {
        /// Percent of the context from which only saving is open.
        [lower] at: Percent = 95.0,
        /// Percent of the context from which an agent is warned; at least 5 below `at`, whatever is written.
        [lower] warn: Percent = 90.0,
        /// What a percentage is of: up to where the client compacts by itself, or of the whole window.
        scale: Scale = Scale::Limit,
    }
}

/// A warning comes at least so many percent before the gate closes.
pub const WARNED_BEFORE: f64 = 5.0;

words! {
    /// What a percentage is of.
    #[derive(Default)]
    pub enum Scale("scale") {
        /// 100 is the point of auto-compaction.
        #[default]
        Limit = "limit",
        /// 100 is the whole window.
        Raw = "raw",
    }
}

pub const OVERFLOW: &str = "[overflow]\nat = 95\nwarn = 90\nscale = \"limit\"\n";

table! {
    /// What becomes of an agent whose context is full.
    pub struct CompactionSection {
        /// Compacted, stopped, or stopped and started again. Without it an agent that nobody watches is stopped.
        [word "stop"] auto: Option<Compaction> = None,
    }
}

words! {
    /// What becomes of an agent whose context is full.
    pub enum Compaction("way to compact") {
        Allow = "allow",
        Stop = "stop",
        Restart = "restart",
    }
}

pub const COMPACTION: &str = "[compaction]\nauto = \"stop\"\n";

table! {
    /// Files beside the work that must be read where they are found.
    pub struct DirectivesSection {
        /// The names of such files, without their ending.
        names: Vec<String> = NAMES.iter().map(|name| (*name).to_string()).collect(),
        /// Tool calls that may be made while one waits.
        [lower] block: u32 = 3,
    }
}

const NAMES: &[&str] = &[
    "AGENTS", "README", "INVARIANTS", "ARCHITECTURE", "COMMANDS", "TESTING", "PITFALLS", "CONTRIBUTING", "TEMPLATE",
    "CHECKLIST",
];

pub const DIRECTIVES: &str = "[directives]\nnames = [\"AGENTS\", \"INVARIANTS\"]\nblock = 3\n";
