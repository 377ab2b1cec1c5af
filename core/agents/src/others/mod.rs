//! Agents that call no hook of ours, as far as their processes tell them apart. Whoever runs below one is no person.

/// Names of their programs.
pub const PROGRAMS: &[&str] = &[
    "aider", "amp", "auggie", "cline", "codebuff", "crush", "goose", "iflow", "junie", "kilo", "kilocode", "kiro-cli",
    "openhands", "plandex",
];

/// Parts of the paths of their scripts, where an interpreter runs them.
pub const PACKAGES: &[&str] =
    &["/@augmentcode/auggie/", "/@charmland/crush/", "/@kilocode/cli/", "/@sourcegraph/amp/", "/aider/__main__.py"];

/// Variables that they set, to anything, for the commands they run, and for nothing else.
pub const MARKS: &[&str] = &["AUGMENT_AGENT", "CLINE_ACTIVE", "GOOSE_TERMINAL"];
