//! Configuration: what a file may say, and how layers become one policy.

mod allow;
#[cfg(test)]
mod allow_tests;
mod check;
pub mod declare;
mod diagnostic;
mod layer;
pub mod page;
mod parse;
pub mod schema;
pub mod sections;
pub mod show;
pub mod types;
mod user_rule;
mod values;

pub(crate) use allow::Asked;
pub use allow::{Allow, AllowOrigin};
pub use check::UnreadLimit;
pub use diagnostic::{Diagnostic, Effect, nearest};
pub use parse::{check, parse};
pub use user_rule::UserRule;

use crate::policy::{MachineUse, PolicyMode};
use crate::rule::Pack;
use model::RuleKind;

declare::words! {
    /// What happens to a call that runs or writes something where no verdict could be had: it could not be read, or not
    /// judged in time. The stricter the greater.
    #[derive(Default, PartialOrd, Ord)]
    pub enum OnFailure("on_failure") {
        /// It passes: the user's own choice, and no project's.
        Open = "open",
        /// The user is asked; where nobody can answer it is denied.
        #[default]
        Ask = "ask",
        /// It is denied.
        Closed = "closed",
    }
}

/// Of a project whose configuration was edited after the user had agreed to it.
pub const CHANGED_SINCE_TRUSTED: &str = "changed since trusted; `taut trust` shows the change";

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
    /// It was trusted, and says something else since: as if it never had been.
    Changed,
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

/// What one file says. Absent is "as below".
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LayerConfig {
    /// The file cannot be read whole, so it is not known what else it says of the same things.
    pub torn: bool,
    pub mode: Option<PolicyMode>,
    pub on_failure: Option<OnFailure>,
    pub machine: Option<MachineUse>,
    /// Where keys stand that only the user may loosen: line and column.
    pub only_users: Vec<(&'static str, usize, usize)>,
    pub packs: Vec<(Pack, RuleSwitch)>,
    /// By rule id.
    pub rules: Vec<(String, RuleSetting)>,
    pub allows: Vec<Allow>,
    pub users: Vec<UserRule>,
    /// All sections but `guard`, without what cannot be used.
    pub sections: toml::Table,
    /// What stands in them as its default, because it cannot be read.
    pub limits: Vec<UnreadLimit>,
    /// What of `[notify]`, `[shared]` and `[telemetry]` only the user may say.
    pub beyond_project: Vec<Diagnostic>,
    /// What of `[shared]` only a project may say.
    pub beyond_user: Vec<Diagnostic>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleSwitch {
    On,
    Off,
}

/// What a file makes of one rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleSetting {
    Off,
    Kind(RuleKind),
}
