//! The compiled policy: which rules speak, how strictly, and what is allowed besides.

use crate::config::declare::words;
use crate::config::sections::Sections;
use crate::config::{Allow, Asked, Diagnostic, OnFailure, Trust, UserRule};
use crate::rule::{HitWeight, Rule};
use crate::rules;
use model::RuleKind;

/// The policy as it holds for one event.
#[derive(Debug, Clone)]
pub struct Policy {
    pub mode: PolicyMode,
    pub on_failure: OnFailure,
    pub machine: MachineUse,
    /// One per rule of the table, in its order; `None` is off.
    pub(crate) kinds: Vec<Option<RuleKind>>,
    pub(crate) allows: Vec<Allow>,
    pub(crate) users: Vec<UserRule>,
    /// What the layered files say of everything but the guard.
    pub sections: Sections,
    /// What may be a limit or a word of the guard and could not be read: its default holds.
    pub unread: Vec<Diagnostic>,
    /// Whether the project's files may reach outside it.
    pub trust: Trust,
}

words! {
    /// Whether the guard stops anything.
    #[derive(Default)]
    pub enum PolicyMode("mode") {
        #[default]
        Enforce = "enforce",
        /// Judge and record; only the floor blocks.
        Observe = "observe",
    }
}

words! {
    /// What becomes of the machine the agent works on.
    #[derive(Default)]
    pub enum MachineUse("machine") {
        #[default]
        Kept = "kept",
        /// A container or virtual machine made to be thrown away: its system files are strikes, other users' rights are
        /// not asked about.
        Disposable = "disposable",
    }
}

impl Policy {
    /// What holds without any configuration.
    pub fn built_in() -> Self {
        Self {
            mode: PolicyMode::default(),
            on_failure: OnFailure::default(),
            machine: MachineUse::default(),
            kinds: rules::ALL.iter().map(|rule| Some(rule.kind)).collect(),
            allows: Vec::new(),
            users: Vec::new(),
            sections: Sections::default(),
            unread: Vec::new(),
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

    /// How strictly a rule speaks of one finding. Only what is as it was shipped is eased: a kind that somebody set holds.
    pub(crate) fn eased(&self, rule: &Rule, kind: RuleKind, weight: HitWeight) -> Option<RuleKind> {
        let lighter = match weight {
            HitWeight::Full => false,
            HitWeight::Lighter => true,
            HitWeight::Machine => self.machine == MachineUse::Disposable,
        };
        match kind {
            _ if !lighter || kind != rule.kind => Some(kind),
            RuleKind::Deny => Some(RuleKind::Strike),
            RuleKind::Ask => None,
            kind => Some(kind),
        }
    }

    pub(crate) fn user_rules(&self, program: Option<&str>) -> impl Iterator<Item = &UserRule> {
        self.users
            .iter()
            .filter(move |rule| program.is_some_and(|program| rule.program == program || rule.program == "*"))
    }

    /// What lets rules pass, in the order of the files.
    pub fn allows(&self) -> &[Allow] {
        &self.allows
    }

    pub(crate) fn allowing(&self, asked: &Asked<'_>) -> Option<&Allow> {
        self.allows.iter().find(|allow| allow.covers(asked))
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self::built_in()
    }
}
