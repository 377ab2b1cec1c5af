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

/// Those that a person may look for and that no dialect is made for, and why.
pub const LEFT_OUT: &[(&str, &str)] = &[
    ("Cline", "A denial ends the whole run, and the model never learns why."),
    ("aider", "It has no hooks."),
    ("Continue", "Its command line reads hooks from settings files and calls none of them."),
    ("Amp", "Its loop runs on a server; plugins are experimental and cannot be tried without it."),
    ("Windsurf", "Exit codes only, no event of a session's start, stop or end, and nothing of it could be run."),
    ("Auggie", "Hooks are behind a flag of the tenant's, and a command is one executable without arguments."),
];
