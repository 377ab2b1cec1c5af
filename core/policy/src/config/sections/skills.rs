//! `[skills.<name>]`, and `taut:` in the frontmatter of a skill's own file, which has the same keys.

use crate::config::declare::{ConfigType, ValueKind, table, words};
use crate::config::sections::{PayloadValue, Scale};
use crate::config::types::{Number, Percent};
use toml::Value;

table! {
    /// What a skill wants of the efforts it begins.
    pub struct SkillSection {
        /// In order; an effort moves forward through them.
        phases: Option<Vec<String>> = None,
        /// Files that are shown to the model when the effort begins.
        preload: Option<Vec<String>> = None,
        /// Names of directive files that must be read where they are found.
        directives: Option<Vec<String>> = None,
        /// Work must be logged: the heartbeat counts. With `heartbeat` it is on.
        [on] log: Option<bool> = None,
        /// A template of the log, for sub-agents and messages.
        template: Option<String> = None,
        /// As the section of that name, for this skill.
        [on] heartbeat: Option<SkillHeartbeat> = None,
        /// On, the percentage, or as the section of that name, for this skill.
        [on] overflow: Option<SkillOverflow> = None,
        /// Conditions on the effort's counters that are told once when they hold.
        guards: Option<Vec<SkillGuard>> = None,
    }
}

table! {
    /// How often work must be logged.
    pub struct SkillHeartbeat {
        /// Tool calls without `taut log` after which an agent is reminded.
        [lower] warn: Option<u32> = None,
        /// Tool calls without `taut log` after which it is stopped.
        [lower] block: Option<u32> = None,
    }
}

table! {
    /// When an agent must save what it knows.
    pub struct SkillOverflowTable {
        /// Percent of the context from which only saving is open.
        [lower] at: Option<Percent> = None,
        /// Percent of the context from which an agent is warned.
        [lower] warn: Option<Percent> = None,
        /// What a percentage is of.
        scale: Option<Scale> = None,
    }
}

/// When an agent must save what it knows: on or off, from a percentage, or in detail.
#[derive(Debug, Clone, PartialEq)]
pub enum SkillOverflow {
    Switch(bool),
    At(f64),
    Table(SkillOverflowTable),
}

impl ConfigType for SkillOverflow {
    type Value = Self;
    const KIND: ValueKind = ValueKind::Either(&[ValueKind::Truth, Percent::KIND, SkillOverflowTable::KIND]);

    fn read(value: &Value) -> Option<Self> {
        match value {
            Value::Boolean(on) => Some(Self::Switch(*on)),
            Value::Table(_) => SkillOverflowTable::read(value).map(Self::Table),
            // What cannot be read is on: a limit is not lost to a mistake.
            other => Some(Percent::read(other).map_or(Self::Switch(true), Self::At)),
        }
    }

    fn show(value: &Self) -> Option<Value> {
        match value {
            Self::Switch(on) => bool::show(on),
            Self::At(percent) => Percent::show(percent),
            Self::Table(table) => SkillOverflowTable::show(table),
        }
    }
}

table! {
    /// A condition on an effort's counters.
    pub struct SkillGuard {
        /// The name it is reported with.
        rule_id as "ruleId": Option<String> = None,
        /// The same, spelled otherwise.
        rule_id_too as "rule_id": Option<String> = None,
        /// When it holds.
        [needed] condition: GuardCondition = GuardCondition::default(),
        /// What the model is shown.
        payload: Option<PayloadValue> = None,
    }
}

table! {
    /// When a guard holds.
    pub struct GuardCondition {
        /// The counter.
        [needed] field: Option<GuardField> = None,
        /// How it is compared.
        [needed] op: Option<GuardOperator> = None,
        /// With what; a share of the window is from 0 to 1.
        [needed] value: Option<Number> = None,
    }
}

words! {
    /// A counter of an effort.
    pub enum GuardField("field") {
        HeartbeatCounter = "heartbeat_counter",
        HeartbeatCounterToo = "heartbeatCounter",
        ContextUsage = "context_usage",
        ContextUsageToo = "contextUsage",
    }
}

words! {
    /// How a counter is compared.
    pub enum GuardOperator("comparison") {
        AtLeast = "gte",
        Above = "gt",
        AtMost = "lte",
        Below = "lt",
        Equal = "eq",
    }
}

pub const EXAMPLE: &str = r#"[skills.implement]
phases = ["1: Plan", "2: Build", "3: Close"]
preload = ["docs/standards.md"]
log = true
heartbeat = { warn = 3, block = 10 }
directives = ["TESTING", "PITFALLS"]
overflow = { at = 95 }
guards = [{ ruleId = "look-up", condition = { field = "heartbeat_counter", op = "gte", value = 5 }, payload = "Look up." }]
"#;
