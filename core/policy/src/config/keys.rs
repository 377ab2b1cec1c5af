//! The keys a configuration file may have: the only list of them.

/// Sections of the file. All but `guard` and `notify` belong to other features and are read by them.
pub(super) const SECTIONS: &[&str] = &[
    "guard",
    "agents",
    "communication",
    "compaction",
    "contacts",
    "context",
    "daemon",
    "directives",
    "events",
    "fleet",
    "heartbeat",
    "hooks",
    "log",
    "loop",
    "modes",
    "notify",
    "overflow",
    "preset",
    "queue",
    "retention",
    "roles",
    "run",
    "session",
    "skills",
    "tasks",
    "tmux",
    "ui",
    "undo",
    "version",
    "workflow",
];

/// Sections that start something or reach outside the project: those of an untrusted project do nothing.
pub(super) const NEED_TRUST: &[&str] = &["agents", "contacts", "hooks", "loop", "roles", "run", "skills"];

/// What a session is told, and how its context is measured.
pub(super) const CONTEXT: &[&str] = &[
    "core",
    "prefix",
    "report",
    "reserve",
    "roles",
    "runtime",
    "status_reminder",
    "usage",
    "warnings",
    "window",
    "windows",
];

/// What a person is told beside the agent's work. Read here, because a project may say so little of it.
pub(super) const NOTIFY: &[&str] = &["on", "terminal", "desktop", "command", "debounce", "quiet"];

pub(super) const GUARD: &[&str] = &["mode", "on_failure", "packs", "rules", "allow", "rule"];
pub(super) const RULE_SETTING: &[&str] = &["kind"];
pub(super) const ALLOW: &[&str] = &["rule", "path", "command", "agent", "reason", "expires"];
pub(super) const USER_RULE: &[&str] =
    &["id", "kind", "program", "args", "any", "unless", "reason", "instead", "denies", "passes"];
