//! Presets: the files that give a project the limits and rules of one way of working.

/// A named set of files.
#[derive(Debug)]
pub struct Preset {
    pub name: &'static str,
    pub about: &'static str,
    /// Path below the project, and its text.
    pub files: &'static [(&'static str, &'static str)],
    /// Rules for the client's `permissions.allow`, so that the way out of a gate is open.
    pub permissions_allow: &'static [&'static str],
    /// Other names of the program, linked in our own `bin`.
    pub aliases: &'static [&'static str],
}

/// The lines that lead out of a gate, so that no prompt of the client stands before them.
const OWN_LINES: &[&str] = &[
    "Bash(taut log:*)", "Bash(taut status:*)", "Bash(taut session:*)", "Bash(taut effort:*)", "Bash(engine log:*)",
    "Bash(engine status:*)", "Bash(engine session:*)", "Bash(engine effort:*)",
];

/// A worker is asked to report before it ends: that must not need a person.
const OWN_LINES_OF_WORKERS: &[&str] = &[
    "Bash(taut log:*)", "Bash(taut status:*)", "Bash(taut session:*)", "Bash(taut effort:*)", "Bash(taut worker:*)",
    "Bash(taut send:*)", "Bash(taut inbox:*)",
];

/// Every preset by name. What a preset sets for other features is added with them.
pub const ALL: &[Preset] = &[
    Preset {
        name: "session-safety",
        about: "A task queue: an agent whose context is full is stopped and its tasks released.",
        files: &[(".taut/config.toml", include_str!("presets/session_safety.toml"))],
        permissions_allow: &[],
        aliases: &["task"],
    },
    Preset {
        name: "fresher",
        about: "A loop with hooks in .fresher, commits alone are progress, the agent asks nobody.",
        files: &[
            (".taut/config.toml", include_str!("presets/fresher.toml")),
            (".fresher/config.sh", include_str!("presets/fresher/config.sh")),
            (".fresher/hooks/started", include_str!("presets/fresher/started")),
            (".fresher/hooks/next_iteration", include_str!("presets/fresher/next_iteration")),
            (".fresher/hooks/finished", include_str!("presets/fresher/finished")),
            (".fresher/hooks/custom/notify-slack", include_str!("presets/fresher/notify-slack")),
        ],
        permissions_allow: &[],
        aliases: &["fresher"],
    },
    Preset {
        name: "claude-os",
        about: "Memory files for every session, warnings as its context fills, tools that reach people kept in bounds.",
        files: &[(".taut/config.toml", include_str!("presets/claude_os.toml"))],
        permissions_allow: OWN_LINES_OF_WORKERS,
        aliases: &[],
    },
    Preset {
        name: "workflow-engine",
        about: "Sessions with skills, phases, a heartbeat, directives and dehydration; seven one-strike patterns.",
        files: &[(".taut/config.toml", include_str!("presets/workflow_engine.toml"))],
        permissions_allow: OWN_LINES,
        aliases: &["engine"],
    },
];

/// The preset of that name.
pub fn find(name: &str) -> Option<&'static Preset> {
    ALL.iter().find(|preset| preset.name == name)
}
