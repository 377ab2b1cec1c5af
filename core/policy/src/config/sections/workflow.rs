//! `[[workflow.rule]]`.

use crate::config::declare::{ConfigType, ValueKind, table, words};
use crate::config::diagnostic::nearest;
use crate::config::types::Number;
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
        /// How the payload is meant: shown as it stands, files to be read, files whose contents are shown, a line to be run.
        mode: Option<PayloadMode> = None,
        /// What the model is shown; `$skill`, `$currentPhase`, `$logFile`, `$toolCallsSinceLastLog` are put in.
        payload: Option<PayloadValue> = None,
        /// Calls that pass though it blocks: `Tool` or `Tool(pattern)`.
        whitelist: Vec<String> = Vec::new(),
        /// The tools it is for.
        tool_filter as "toolFilter": Option<ToolFilter> = None,
        /// The same, spelled otherwise.
        tool_filter_too as "tool_filter": Option<ToolFilter> = None,
        /// When it holds.
        [needed] trigger: PossibleTrigger = Trigger::default(),
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
        /// A line that the model is to run.
        command: Option<String> = None,
    }
}

impl Payload {
    /// What is said in it, however it is spelled.
    pub fn words(&self) -> Option<&str> {
        self.text.as_deref().or(self.message.as_deref()).map(str::trim).filter(|text| !text.is_empty())
    }
}

/// A payload as it is written: a text, a list of files, or a table.
#[derive(Debug)]
pub enum PayloadValue {}

impl ConfigType for PayloadValue {
    type Value = Payload;
    const KIND: ValueKind = ValueKind::Either(&[ValueKind::Text, ValueKind::List(&ValueKind::Text), Payload::KIND]);

    fn read(value: &Value) -> Option<Payload> {
        match value {
            Value::String(text) => Some(Payload { text: Some(text.clone()), ..Payload::default() }),
            Value::Array(_) => Some(Payload { files: Vec::<String>::read(value)?, ..Payload::default() }),
            other => Payload::read(other),
        }
    }

    fn show(value: &Payload) -> Option<Value> {
        Payload::show(value)
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

/// A trigger that can hold: what it looks at is compared with something that can be met.
#[derive(Debug)]
pub enum PossibleTrigger {}

impl ConfigType for PossibleTrigger {
    type Value = Trigger;
    const KIND: ValueKind = ValueKind::Checked {
        of: &Trigger::KIND,
        what: "a table",
        hint: None,
        check: |value| Trigger::read(value).map_or(Ok(()), |trigger| trigger.can_hold()),
    };

    fn read(value: &Value) -> Option<Trigger> {
        Trigger::read(value)
    }

    fn show(value: &Trigger) -> Option<Value> {
        Trigger::show(value)
    }
}

/// What a lifecycle can be.
const STATES: &[&str] = &["idle", "loading", "active", "dehydrating"];

/// Names of the limit where the overflow gate closes.
const FULL: &[&str] = &["OVERFLOW_THRESHOLD", "overflow"];

/// Names of the limits of the heartbeat.
const LIMITS: &[&str] =
    &["warn", "block", "warnAfter", "blockAfter", "toolUseWithoutLogsWarnAfter", "toolUseWithoutLogsBlockAfter"];

impl Trigger {
    fn can_hold(&self) -> Result<(), String> {
        let Some(kind) = self.kind else { return Ok(()) };
        let TriggerCondition { gte, eq, matches, no_active_session, non_empty, .. } = &self.condition;
        let count = |value: &Option<NumberOrText>| matches!(value, Some(NumberOrText::Number(_)));
        let (whole, needs) = match kind {
            TriggerType::ContextThreshold => (known(gte, FULL)?, "`gte`"),
            TriggerType::Lifecycle => {
                let states = eq.as_ref().filter(|eq| eq.text().is_some()).cloned();
                (known(&states, STATES)? || no_active_session.is_some(), "`eq` or `noActiveSession`")
            }
            TriggerType::Phase => (matches.is_some(), "`matches`"),
            TriggerType::ToolCount => (known(gte, LIMITS)?, "`gte`"),
            TriggerType::Discovery => (non_empty.is_some(), "`nonEmpty`"),
            TriggerType::PerTranscriptToolCount => (count(gte) || count(eq), "`eq` or `gte`"),
        };
        if whole {
            Ok(())
        } else {
            Err(format!("of type {} never holds: its condition has no {needs} that can be met", kind.name()))
        }
    }
}

/// Whether a value is there; a name must be one of these.
fn known(value: &Option<NumberOrText>, names: &[&str]) -> Result<bool, String> {
    let Some(name) = value.as_ref().and_then(NumberOrText::text) else { return Ok(value.is_some()) };
    if names.contains(&name) {
        return Ok(true);
    }
    let hint = nearest(name, names)
        .map_or_else(|| format!("known: {}", names.join(", ")), |near| format!("did you mean `{near}`?"));
    Err(format!("never holds: unknown name `{name}` ({hint})"))
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
        /// At least so much; `OVERFLOW_THRESHOLD` stands for where the overflow gate closes, `warnAfter` and `blockAfter`
        /// for the limits of the heartbeat.
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
