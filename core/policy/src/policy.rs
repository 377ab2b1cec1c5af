//! The compiled policy: which rules speak, how strictly, and what is allowed besides.

use crate::config::{Allow, Asked, OnFailure, Trust, UserRule};
use crate::notify::Notify;
use crate::rule::Rule;
use crate::rules;
use model::RuleKind;

/// The policy as it holds for one event.
#[derive(Debug, Clone)]
pub struct Policy {
    pub mode: PolicyMode,
    pub on_failure: OnFailure,
    /// One per rule of the table, in its order; `None` is off.
    pub(crate) kinds: Vec<Option<RuleKind>>,
    pub(crate) allows: Vec<Allow>,
    pub(crate) users: Vec<UserRule>,
    /// Where this event happens; a project may only leave kinds out of it.
    pub notify: Notify,
    /// Sections of other features, layered, as they were written.
    pub sections: toml::Table,
    /// Whether the project's files may reach outside it.
    pub trust: Trust,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PolicyMode {
    #[default]
    Enforce,
    /// Judge and record; only the floor blocks.
    Observe,
}

impl Policy {
    /// What holds without any configuration.
    pub fn built_in() -> Self {
        Self {
            mode: PolicyMode::default(),
            on_failure: OnFailure::default(),
            kinds: rules::ALL.iter().map(|rule| Some(rule.kind)).collect(),
            allows: Vec::new(),
            users: Vec::new(),
            notify: Notify::default(),
            sections: toml::Table::new(),
            trust: Trust::default(),
        }
    }

    /// How strictly a rule speaks; `None` when it is off.
    pub fn kind(&self, rule: &Rule) -> Option<RuleKind> {
        if rule.kind == RuleKind::Floor {
            return Some(RuleKind::Floor);
        }
        self.kinds.get(rules::position(rule.id)?).copied().flatten()
    }

    pub(crate) fn user_rules(&self, program: Option<&str>) -> impl Iterator<Item = &UserRule> {
        self.users
            .iter()
            .filter(move |rule| program.is_some_and(|program| rule.program == program || rule.program == "*"))
    }

    pub(crate) fn allows(&self, asked: &Asked<'_>) -> bool {
        self.allows.iter().any(|allow| allow.covers(asked))
    }

    /// A section of another feature, layered.
    pub fn section(&self, name: &str) -> Option<&toml::Value> {
        self.sections.get(name)
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self::built_in()
    }
}
