//! `[[workflow.rule]]`.

use crate::config::declare::{ConfigType, ValueKind, table, words};
use crate::config::types::{Number, TextOr};
use toml::Value;

table! {
    /// Rules that tell or block when something holds.
    pub struct WorkflowSection {
        /// The rules, each as `[[workflow.rule]]`.
        rule: Vec<WorkflowRule> = Vec::new(),
    }
}

table! {
    /// A trigger, a payload, and how urgent it is.
    pub struct WorkflowRule {
        /// The name it is reported with.
        [needed] id: String = String::new(),
        /// For people.
        description: Option<String> = None,
        /// Low first.
        priority: i64 = 100,
        /// Whether it only tells, or blocks.
        [word "block"] urgency: RuleUrgency = RuleUrgency::Allow,
        /// Whether it is told whenever it holds, or once.
        inject: InjectOften = InjectOften::Always,
        /// How the payload is meant.
        mode: Option<PayloadMode> = None,
        /// What the model is shown; `$skill`, `$currentPhase`, `$logFile`, `$toolCallsSinceLastLog` are put in.
        payload: Option<TextOr<Payload>> = None,
        /// Calls that pass though it blocks: `Tool` or `Tool(pattern)`.
        whitelist: Vec<String> = Vec::new(),
        /// The tools it is for.
        tool_filter as "toolFilter": Option<ToolFilter> = None,
        /// The same, spelled otherwise.
        tool_filter_too as "tool_filter": Option<ToolFilter> = None,
        /// When it holds.
        [needed] trigger: Trigger = Trigger::default(),
    }
}

words! {
    /// Whether a rule only tells, or blocks.
    pub enum RuleUrgency("urgency") {
        Allow = "allow",
        Block = "block",
        Interrupt = "interrupt",
    }
}

words! {
    /// How often a rule is told.
    pub enum InjectOften("way to inject") {
        Always = "always",
        Once = "once",
    }
}

words! {
    /// How a payload is meant.
    pub enum PayloadMode("mode") {
        Inline = "inline",
        Read = "read",
        Preload = "preload",
        Paste = "paste",
    }
}

table! {
    /// A text, and files to read with it.
    pub struct Payload {
        /// The text.
        text: Option<String> = None,
        /// The same, spelled otherwise.
        message: Option<String> = None,
        /// Files that the model is to read.
        files: Vec<String> = Vec::new(),
    }
}

table! {
    /// The tools a rule is for.
    pub struct ToolFilter {
        /// Only these.
        include: Vec<String> = Vec::new(),
        /// Not these.
        exclude: Vec<String> = Vec::new(),
    }
}

table! {
    /// When a rule holds.
    pub struct Trigger {
        /// What is looked at.
        [needed] kind as "type": Option<TriggerType> = None,
        /// What it is compared with.
        [needed] condition: TriggerCondition = TriggerCondition::default(),
    }
}

words! {
    /// What a trigger looks at.
    pub enum TriggerType("trigger") {
        ContextThreshold = "contextThreshold",
        Lifecycle = "lifecycle",
        Phase = "phase",
        ToolCount = "toolCount",
        Discovery = "discovery",
        PerTranscriptToolCount = "perTranscriptToolCount",
    }
}

table! {
    /// What a trigger compares with: `gte` for counts and context, `eq` for counts and the lifecycle, and so on.
    pub struct TriggerCondition {
        /// At least so much; a text stands for where the overflow gate or the heartbeat closes.
        [word "limit"] gte: Option<NumberOrText> = None,
        /// Exactly so many calls, or the state: `idle`, `loading`, `active`, `dehydrating`.
        eq: Option<NumberOrText> = None,
        /// A part of the phase's name.
        matches: Option<String> = None,
        /// Whether there is no session.
        no_active_session as "noActiveSession": Option<bool> = None,
        /// Whether directives wait to be read.
        non_empty as "nonEmpty": Option<bool> = None,
        /// For people.
        field: Option<String> = None,
    }
}

/// A number, or the name of one.
#[derive(Debug, Clone, PartialEq)]
pub enum NumberOrText {
    Number(f64),
    Text(String),
}

impl NumberOrText {
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(_) => None,
        }
    }

    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Number(_) => None,
        }
    }
}

impl ConfigType for NumberOrText {
    type Value = Self;
    const KIND: ValueKind = ValueKind::Either(&[Number::KIND, ValueKind::Text]);

    fn read(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Some(Self::Text(text.clone())),
            other => Number::read(other).map(Self::Number),
        }
    }

    fn show(value: &Self) -> Option<Value> {
        match value {
            Self::Number(number) => Number::show(number),
            Self::Text(text) => String::show(text),
        }
    }
}

pub const EXAMPLE: &str = r#"[[workflow.rule]]
id = "reading-first"
priority = 2
urgency = "block"
payload = "Read first, $skill."
whitelist = ["Read(~/.claude/*)", "Grep"]
toolFilter = { exclude = ["Glob"] }
trigger = { type = "phase", condition = { matches = "Plan" } }
"#;
