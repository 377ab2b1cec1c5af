//! Standards: files an agent reads to know how to work. Reading them is never
//! held against it.

use super::Snapshot;
use crate::memory::path::normal;

/// The call reads the user's or a project's standing instructions.
pub fn reads(snapshot: &Snapshot<'_>) -> bool {
    let Some(path) = snapshot.call.read_file() else { return false };
    let path = normal(path, snapshot.cwd, snapshot.home);
    let name = path.rsplit('/').next().unwrap_or_default();
    let among = |folder: &str| path.split('/').rev().skip(1).any(|part| part == folder);
    let template = name.starts_with("TEMPLATE_") && name.ends_with("_LOG.md");
    among(".claude") || among("memory") || template || matches!(name, "CLAUDE.md" | "MEMORY.md" | "AGENTS.md")
}
