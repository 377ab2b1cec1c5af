//! `[guard]`: what its keys are. They are read in `parse`, because a rule's examples are run when it is loaded.

use crate::config::declare::{ConfigType, ValueKind, table, words};
use crate::config::{Allow, OnFailure, UserRule};
use crate::policy::{MachineUse, PolicyMode};
use std::collections::BTreeMap;
use toml::Value;

table! {
    /// Which rules speak, how strictly, and what is allowed besides.
    pub struct GuardSection {
        /// Whether rules stop calls, or only the floor does and the rest is recorded.
        mode: PolicyMode = PolicyMode::Enforce,
        /// What happens to a call that runs or writes where no verdict could be had. A project may only make it stricter.
        on_failure: OnFailure = OnFailure::Ask,
        /// Whether the machine is kept, or a container or virtual machine made to be thrown away: there system files are a
        /// strike and `sudo` passes. Only your own configuration may say so; the floor and your keys stay guarded.
        machine: MachineUse = MachineUse::Kept,
        /// Whole packs of rules, on or off, by name.
        packs: BTreeMap<String, bool> = BTreeMap::new(),
        /// Single rules, by id: a kind, `false` for off, or a table with `kind`.
        rules: BTreeMap<String, RuleKindEntry> = BTreeMap::new(),
        /// What a rule does not speak of, each as `[[guard.allow]]`.
        allow: Vec<AllowEntry> = Vec::new(),
        /// Rules of your own, each as `[[guard.rule]]`, with examples that are checked when it loads.
        rule: Vec<RuleEntry> = Vec::new(),
    }
}

/// What a rule is set to: a kind, on or off, or a table with the kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleKindEntry(pub String);

impl ConfigType for RuleKindEntry {
    type Value = Self;
    const KIND: ValueKind = ValueKind::Either(&[ValueKind::Truth, RuleKindSetting::KIND, RuleKindTable::KIND]);

    fn read(value: &Value) -> Option<Self> {
        value.as_str().map(|word| Self(word.to_string()))
    }

    fn show(value: &Self) -> Option<Value> {
        Some(Value::String(value.0.clone()))
    }
}

words! {
    /// What a rule of Taut's own can be set to.
    pub enum RuleKindSetting("kind") {
        Deny = "deny",
        Strike = "strike",
        Ask = "ask",
        Warn = "warn",
        Off = "off",
    }
}

words! {
    /// What a rule of the user's own can be.
    pub enum OwnRuleKind("kind") {
        Deny = "deny",
        Strike = "strike",
        Ask = "ask",
        Warn = "warn",
    }
}

table! {
    /// What a rule is set to.
    pub struct RuleKindTable {
        /// How strictly it speaks, or `off`.
        [needed] kind: Option<RuleKindSetting> = None,
    }
}

/// A day or a moment.
#[derive(Debug)]
pub enum Day {}

impl ConfigType for Day {
    type Value = String;
    const KIND: ValueKind = ValueKind::Moment;

    fn read(value: &Value) -> Option<String> {
        value.as_datetime().map(ToString::to_string).or_else(|| value.as_str().map(str::to_string))
    }

    fn show(value: &String) -> Option<Value> {
        Some(Value::String(value.clone()))
    }
}

table! {
    /// An allowance. Every scope that is given must fit.
    pub struct AllowEntry {
        /// The rule, by id.
        [needed] rule: Option<String> = None,
        /// What it is about, or else the folder it runs in, stands at or below this path; relative ones are the project's.
        path: Option<String> = None,
        /// The command's words; a last word `*` stands for any that follow.
        command: Option<String> = None,
        /// Only for this agent.
        agent: Option<String> = None,
        /// Why.
        [needed] reason: Option<String> = None,
        /// Until then: a day such as 2026-12-31, or a moment in UTC.
        expires: Option<Day> = None,
    }
}

table! {
    /// A rule of your own: a program, its words, and examples.
    pub struct RuleEntry {
        /// Its name.
        [needed] id: Option<String> = None,
        /// How strictly it speaks.
        [needed] kind: Option<OwnRuleKind> = None,
        /// The program; `*` is any.
        [needed] program: Option<String> = None,
        /// The first words that are no options.
        args: Vec<String> = Vec::new(),
        /// At least one of these stands among the words; short options also inside clusters.
        any: Vec<String> = Vec::new(),
        /// None of these does.
        unless: Vec<String> = Vec::new(),
        /// Why it stops a command.
        [needed] reason: Option<String> = None,
        /// What to do instead.
        instead: Option<String> = None,
        /// Lines that it must stop.
        denies: Vec<String> = Vec::new(),
        /// Lines that it must leave alone.
        passes: Vec<String> = Vec::new(),
    }
}

pub const EXAMPLE: &str = r#"[guard]
mode = "enforce"

[guard.packs]
publishing = false

[guard.rules]
git-clean = "deny"

[[guard.allow]]
rule = "rm-outside-project"
path = "~/scratch"
reason = "my scratch folder"

[[guard.rule]]
id = "no-prod-deploy"
kind = "ask"
program = "deploy"
any = ["--env=prod"]
reason = "This deploys to production."
instead = "Deploy to staging: `deploy --env=staging`."
denies = ["deploy --env=prod"]
passes = ["deploy --env=staging"]
"#;

impl From<&Allow> for AllowEntry {
    fn from(allow: &Allow) -> Self {
        Self {
            rule: Some(allow.rule.clone()),
            path: allow.path.clone(),
            command: allow.command.as_ref().map(|words| words.join(" ")),
            agent: allow.agent.clone(),
            reason: Some(allow.reason.clone()),
            expires: allow.expires.map(|at| at.rfc3339()),
        }
    }
}

impl From<&UserRule> for RuleEntry {
    fn from(rule: &UserRule) -> Self {
        Self {
            id: Some(rule.id.clone()),
            kind: OwnRuleKind::parse(rule.kind.name()),
            program: Some(rule.program.clone()),
            args: rule.args.clone(),
            any: rule.any.clone(),
            unless: rule.unless.clone(),
            reason: Some(rule.reason.clone()),
            instead: Some(rule.instead.clone()).filter(|instead| !instead.is_empty()),
            ..Self::default()
        }
    }
}
