//! `[context]`.

use crate::config::declare::table;
use crate::config::types::{TextOr, TokenCount};
use std::collections::BTreeMap;

/// How far before the end of the window the client was seen to compact.
const RESERVE: u64 = 33_000;

table! {
    /// What a session is shown, and how its context is measured. Nothing is on that was not switched on.
    pub struct ContextSection {
        /// Begins every text of ours that informs; `INFO` in it becomes `WARNING` where one warns.
        prefix: String = "[TAUT: INFO]".to_string(),
        /// Files that every new session is given.
        core: Vec<TextOr<CoreEntry>> = Vec::new(),
        /// The file of the session's role and mode is loaded, where there is one.
        roles: bool = true,
        /// TokenCount of the whole window, where neither the client nor `windows` knows.
        window: Option<TokenCount> = None,
        /// TokenCount of the whole window, by the beginning of the model's name.
        windows: BTreeMap<String, TokenCount> = BTreeMap::new(),
        /// How many tokens before the end of the window the client compacts.
        [higher] reserve: TokenCount = RESERVE,
        /// Warns at 60, 80, 90 and 95 %.
        warnings: bool = false,
        /// One line at each prompt: time, session, skill, phase, heartbeat.
        runtime: bool = false,
        /// Reminds an agent after two minutes without a status.
        status_reminder: bool = false,
        /// A background session is asked once to report before it ends.
        report: bool = false,
        /// Measures after every tool call, not only once a turn.
        usage: bool = false,
    }
}

table! {
    /// A file that every session is given.
    pub struct CoreEntry {
        /// Below the project; `~/` and `/` only in your own configuration or a trusted project.
        [needed] path: String = String::new(),
        /// The name it is listed with; its path otherwise.
        name: Option<String> = None,
        /// What it is, behind the name.
        label: Option<String> = None,
    }
}

pub const EXAMPLE: &str = r#"[context]
core = ["docs/NOW.md", { path = "docs/MEMORY.md", name = "MEMORY", label = "what we decided" }]
warnings = true
runtime = true
windows = { "claude-x" = 500000 }
"#;
