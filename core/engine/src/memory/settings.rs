//! What configuration says of sessions, gates and memory. Nothing is on that
//! was not switched on; a value of the wrong kind is the default.

use super::skill::Skill;
use policy::Policy;
use serde_json::Value;

/// Tool calls without a log after which an agent is warned, and stopped.
pub const WARN_AFTER: u32 = 3;
pub const BLOCK_AFTER: u32 = 10;

/// Tool calls that may be made while a required directive waits.
pub const UNREAD_AFTER: u32 = 3;

/// Past this an effort must be saved, unless told otherwise.
pub const OVERFLOW_AT: f64 = 95.0;
pub const OVERFLOW_WARN: f64 = 90.0;

/// Directive files that are looked for.
pub const DIRECTIVES: &[&str] = &[
    "AGENTS",
    "README",
    "INVARIANTS",
    "ARCHITECTURE",
    "COMMANDS",
    "TESTING",
    "PITFALLS",
    "CONTRIBUTING",
    "TEMPLATE",
    "CHECKLIST",
];

/// One section of the configuration, read leniently.
#[derive(Debug, Clone, Copy)]
pub struct Section<'a>(Option<&'a toml::Value>);

impl<'a> Section<'a> {
    pub fn of(policy: &'a Policy, name: &str) -> Self {
        Self(policy.section(name))
    }

    pub fn present(self) -> bool {
        self.0.is_some_and(toml::Value::is_table)
    }

    pub fn get(self, key: &str) -> Option<&'a toml::Value> {
        self.0?.get(key)
    }

    pub fn flag(self, key: &str) -> bool {
        self.get(key).and_then(toml::Value::as_bool).unwrap_or_default()
    }

    pub fn text(self, key: &str) -> Option<&'a str> {
        self.get(key).and_then(toml::Value::as_str)
    }

    pub fn count(self, key: &str) -> Option<u32> {
        self.get(key).and_then(toml::Value::as_integer).and_then(|n| u32::try_from(n).ok())
    }

    pub fn number(self, key: &str) -> Option<f64> {
        let value = self.get(key)?;
        value.as_float().or_else(|| value.as_integer().map(|n| n as f64))
    }

    pub fn texts(self, key: &str) -> Vec<&'a str> {
        self.get(key).and_then(toml::Value::as_array).into_iter().flatten().filter_map(toml::Value::as_str).collect()
    }
}

/// When an agent must save what it knows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Overflow {
    pub at: f64,
    pub warn: f64,
    pub scale: Scale,
}

/// What a percentage is of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Scale {
    /// 100 is the point of auto-compaction.
    #[default]
    Limit,
    /// 100 is the whole window.
    Raw,
}

/// How often work must be logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heartbeat {
    pub warn: u32,
    pub block: u32,
}

/// What becomes of an agent whose context is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compaction {
    Allow,
    Stop,
    Restart,
}

/// A session must be active before any work.
pub fn session_required(policy: &Policy) -> bool {
    Section::of(policy, "session").flag("required")
}

pub fn heartbeat(policy: &Policy, skill: &Skill) -> Heartbeat {
    let section = Section::of(policy, "heartbeat");
    Heartbeat {
        warn: skill.warn.or_else(|| section.count("warn")).unwrap_or(WARN_AFTER),
        block: skill.block.or_else(|| section.count("block")).unwrap_or(BLOCK_AFTER).max(1),
    }
}

/// On where the configuration or the effort's skill says so.
pub fn overflow(policy: &Policy, skill: Option<&Skill>) -> Option<Overflow> {
    let section = Section::of(policy, "overflow");
    let declared = skill.map(|skill| &skill.overflow).filter(|value| !value.is_null() && **value != Value::Bool(false));
    if !section.present() && declared.is_none() {
        return None;
    }
    let own = |key: &str| declared.and_then(|value| value.get(key)).and_then(Value::as_f64);
    let scale = declared.and_then(|value| value.get("scale")).and_then(Value::as_str).or_else(|| section.text("scale"));
    Some(Overflow {
        at: declared
            .and_then(Value::as_f64)
            .or_else(|| own("at"))
            .or_else(|| section.number("at"))
            .unwrap_or(OVERFLOW_AT),
        warn: own("warn").or_else(|| section.number("warn")).unwrap_or(OVERFLOW_WARN),
        scale: if scale == Some("raw") { Scale::Raw } else { Scale::Limit },
    })
}

pub fn compaction(policy: &Policy) -> Option<Compaction> {
    match Section::of(policy, "compaction").text("auto")? {
        "allow" => Some(Compaction::Allow),
        "stop" => Some(Compaction::Stop),
        "restart" => Some(Compaction::Restart),
        _ => None,
    }
}

/// Whether sessions of a mode show that a tool runs.
pub fn tracks_tools(policy: &Policy, mode: Option<&str>) -> bool {
    let mode = mode.and_then(|mode| Section::of(policy, "modes").get(mode));
    mode.and_then(|mode| mode.get("tool_tracking")).and_then(toml::Value::as_bool).unwrap_or(true)
}

/// The names of directive files, without their ending.
pub fn directive_names(policy: &Policy) -> Vec<String> {
    let named = Section::of(policy, "directives").texts("names");
    let names = if named.is_empty() { DIRECTIVES.to_vec() } else { named };
    names.into_iter().map(|name| name.trim_end_matches(".md").to_string()).collect()
}

pub fn unread_after(policy: &Policy) -> u32 {
    Section::of(policy, "directives").count("block").unwrap_or(UNREAD_AFTER)
}

/// Stands before everything Taut tells the model, in the words of the preset.
pub fn label(policy: &Policy, level: &str) -> String {
    let prefix = Section::of(policy, "context").text("prefix").unwrap_or("[TAUT: INFO]");
    format!("{}:", prefix.replace("INFO", level))
}
