//! Standards: files an agent reads to know how to work. Reading them is never
//! held against it.

use super::GatedCall;
use crate::event_context::EventContext;
use crate::memory::path::normal;

/// The call reads the user's or a project's standing instructions.
pub fn reads(event: &EventContext<'_>, gated: &GatedCall<'_>) -> bool {
    let Some(path) = gated.call.read_file() else { return false };
    let path = normal(path, event.cwd(), &event.places.home);
    let name = path.rsplit('/').next().unwrap_or_default();
    let among = |folder: &str| path.split('/').rev().skip(1).any(|part| part == folder);
    let template = name.starts_with("TEMPLATE_") && name.ends_with("_LOG.md");
    let agent = event.envelope.agent;
    let named = name == agent.instructions || matches!(name, "MEMORY.md" | "AGENTS.md");
    named || among(agent.folder) || among("memory") || template
}
