//! Configuration: what a file may say, and how layers become one policy.

use crate::rule::{Hit, Sight};
use bash::Command;
use model::{Ms, RuleKind};

/// What happens to input that cannot be read at all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnFailure {
    #[default]
    Open,
    Closed,
}

/// Where a configuration file stands in the layering.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LayerKind {
    User,
    Project,
    Local,
}

/// Whether the user trusts this project's files, as their content is now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Trust {
    #[default]
    Untrusted,
    Trusted,
}

/// One configuration file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    pub kind: LayerKind,
    /// For messages.
    pub file: String,
    pub text: String,
}

/// What one file says.
#[derive(Debug, Clone, Default)]
pub struct LayerConfig {
    pub mode: Option<crate::Mode>,
    pub on_failure: Option<OnFailure>,
    pub allows: Vec<Allow>,
    pub users: Vec<UserRule>,
}

/// Something wrong in a configuration file, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    pub file: String,
    pub line: usize,
    pub column: usize,
    pub message: String,
    pub hint: Option<String>,
}

/// An allowance: a rule that does not speak of something.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Allow {
    pub rule: String,
    pub path: Option<String>,
    pub command: Option<String>,
    pub agent: Option<String>,
    pub reason: String,
    pub expires: Option<Ms>,
}

/// A rule of the user's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserRule {
    pub id: String,
    pub kind: RuleKind,
    pub program: String,
    pub args: Vec<String>,
    pub reason: String,
    pub instead: String,
}

impl Allow {
    pub(crate) fn covers(&self, rule: &str, hit: &Hit, command: &Command, agent: Option<&str>, now: Ms) -> bool {
        let _ = (hit, command);
        self.rule == rule
            && self.expires.is_none_or(|at| now < at)
            && self.agent.as_deref().is_none_or(|name| agent == Some(name))
    }
}

impl UserRule {
    pub(crate) fn judge(&self, sight: &Sight<'_>) -> Option<Hit> {
        let _ = sight;
        None
    }
}

impl crate::Policy {
    /// The built-in law with the user's, the project's and the local file over it, in that order.
    pub fn layered(layers: &[Layer], trust: Trust) -> (Self, Vec<Diagnostic>) {
        let _ = (layers, trust);
        (Self::built_in(), Vec::new())
    }
}
