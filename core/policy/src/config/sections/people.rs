//! `[communication]`, `[contacts]`, `[modes]`, `[fleet]`.

use crate::config::declare::{table, words};
use crate::config::types::TextOr;

table! {
    /// Tools that reach people.
    pub struct CommunicationSection {
        /// Those tools: only in interactive sessions, and only to contacts that are tagged.
        [lost] tools: Vec<TextOr<CommunicationTool>> = Vec::new(),
    }
}

table! {
    /// A tool that reaches people.
    pub struct CommunicationTool {
        /// Its name, in any case; `*` stands for anything.
        [needed] tool: String = String::new(),
        /// The fields of its input that hold contacts, besides the usual ones (`to`, `cc`, `bcc`, `recipients`, `channel`,
        /// `user`, `email`, …), at any depth. `[]`: none does, and only the mode binds it.
        [word "contact"] contact: Option<TextOr<Vec<String>>> = None,
        /// It only prepares a message that a person sends.
        draft: bool = false,
    }
}

pub const COMMUNICATION: &str = r#"[communication]
tools = [{ tool = "mcp__mail__send*", contact = "to" }, { tool = "mcp__mail__draft*", contact = "to", draft = true }]
"#;

words! {
    /// What an agent may do with a contact.
    pub enum ContactTag("tag") {
        /// Write to it.
        Direct = "claude_direct",
        /// Prepare a message to it.
        Draft = "claude_draft",
    }
}

pub const CONTACTS: &str = "[contacts]\n\"ann@example.org\" = [\"claude_direct\"]\n";

table! {
    /// What is different in a mode.
    pub struct ModeSection {
        /// Sessions of this mode show that a tool runs. Without it: all but those in the background.
        tool_tracking: Option<bool> = None,
        /// Sessions of this mode are shown what came of their workers. Without it: all but those in the background.
        task_notifications: Option<bool> = None,
    }
}

pub const MODES: &str = "[modes.background]\ntool_tracking = false\ntask_notifications = false\n";

table! {
    /// What agents are shown of one another.
    pub struct FleetSection {
        /// A session is shown the end of its sub-agents, though its client says it already.
        report_sub_agents: bool = false,
    }
}

pub const FLEET: &str = "[fleet]\nreport_sub_agents = true\n";
