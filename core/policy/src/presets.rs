//! Presets: the files that reproduce a seed's own thresholds and rules in a project.

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
        about: "The loop of seed 004: hooks in .fresher, commits alone are progress, the agent asks nobody.",
        files: &[(".taut/config.toml", include_str!("presets/fresher.toml"))],
        permissions_allow: &[],
        aliases: &["fresher"],
    },
    Preset {
        name: "workflow-engine",
        about: "The seven literal one-strike patterns of the workflow engine.",
        files: &[(".taut/config.toml", include_str!("presets/workflow_engine.toml"))],
        permissions_allow: &[],
        aliases: &[],
    },
];

/// The preset of that name.
pub fn find(name: &str) -> Option<&'static Preset> {
    ALL.iter().find(|preset| preset.name == name)
}
