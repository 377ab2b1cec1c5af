//! What configuration and an effort's skill say together of sessions, gates and memory. Nothing is on that was not
//! switched on.

use super::skill::Skill;
use policy::Policy;
use policy::config::sections::{
    DirectivesSection, ModeSection, OverflowSection, SkillOverflow, SkillOverflowTable, WARNED_BEFORE,
};

pub use policy::config::sections::{Compaction, Scale};

/// When an agent must save what it knows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Overflow {
    pub at: f64,
    pub warn: f64,
    pub scale: Scale,
}

/// How often work must be logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heartbeat {
    pub warn: u32,
    pub block: u32,
}

pub fn heartbeat(policy: &Policy, skill: &Skill) -> Heartbeat {
    let section = &policy.sections.heartbeat;
    Heartbeat { warn: skill.warn.unwrap_or(section.warn), block: skill.block.unwrap_or(section.block).max(1) }
}

/// On where the configuration or the effort's skill says so. A warning comes before what it warns of, whatever is written.
pub fn overflow(policy: &Policy, skill: Option<&Skill>) -> Option<Overflow> {
    let section = policy.sections.overflow.as_ref();
    let declared = skill.and_then(|skill| skill.overflow.as_ref()).filter(|own| **own != SkillOverflow::Switch(false));
    if section.is_none() && declared.is_none() {
        return None;
    }
    let own = match declared {
        Some(SkillOverflow::At(percent)) => SkillOverflowTable { at: Some(*percent), ..SkillOverflowTable::default() },
        Some(SkillOverflow::Table(table)) => table.clone(),
        _ => SkillOverflowTable::default(),
    };
    let OverflowSection { at, warn, scale } = section.cloned().unwrap_or_default();
    let at = own.at.unwrap_or(at);
    let warn = own.warn.unwrap_or(warn).min(at - WARNED_BEFORE).max(0.0);
    Some(Overflow { at, warn, scale: own.scale.unwrap_or(scale) })
}

/// Whether sessions of a mode show that a tool runs.
pub fn tracks_tools(policy: &Policy, mode: Option<&str>) -> bool {
    of_mode(policy, mode, |mode| mode.tool_tracking)
}

/// Whether sessions of a mode are shown what came of their workers.
pub fn hears_of_workers(policy: &Policy, mode: Option<&str>) -> bool {
    of_mode(policy, mode, |mode| mode.task_notifications)
}

/// In the background nobody looks on, and nothing is shown but what somebody sent.
fn of_mode(policy: &Policy, mode: Option<&str>, said: fn(&ModeSection) -> Option<bool>) -> bool {
    let section = mode.and_then(|mode| policy.sections.modes.get(mode));
    section.and_then(said).unwrap_or(mode != Some("background"))
}

/// The names of directive files, without their ending.
pub fn directive_names(policy: &Policy) -> Vec<String> {
    let named = &policy.sections.directives.names;
    let names = if named.is_empty() { &DirectivesSection::default().names } else { named };
    names.iter().map(|name| name.trim_end_matches(".md").to_string()).collect()
}

/// Stands before everything Taut tells the model, in the words of the preset.
pub fn label(policy: &Policy, level: &str) -> String {
    format!("{}:", policy.sections.context.prefix.replace("INFO", level))
}
