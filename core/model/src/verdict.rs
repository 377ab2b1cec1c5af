//! Verdicts: ordered levels, findings with their reasons, and how many become one.

use crate::time::Ms;
use serde::{Deserialize, Serialize};

/// How strict a verdict is. The strictest wins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    #[default]
    Pass,
    Warn,
    Ask,
    Deny,
}

/// What a rule does when it applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleKind {
    /// Denies, and no configuration lifts it.
    Floor,
    Deny,
    /// Denies the first time, lets the same intent on the same target pass after.
    Strike,
    /// Asks the user; denies where nobody can answer.
    Ask,
    Warn,
    /// Judged and recorded, nothing said: observe mode, a pause.
    Noted,
    /// It would have stopped the call; an entry of the configuration lets it pass, and its reason says which.
    Allowed,
}

impl RuleKind {
    pub fn level(self) -> Level {
        match self {
            Self::Floor | Self::Deny | Self::Strike => Level::Deny,
            Self::Ask => Level::Ask,
            Self::Warn => Level::Warn,
            Self::Noted | Self::Allowed => Level::Pass,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Floor => "floor",
            Self::Deny => "deny",
            Self::Strike => "strike",
            Self::Ask => "ask",
            Self::Warn => "warn",
            Self::Noted => "noted",
            Self::Allowed => "allowed",
        }
    }
}

/// One rule's word on one thing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The rule's id as users type it.
    pub rule: String,
    pub kind: RuleKind,
    /// What happened and why it is stopped.
    pub reason: String,
    /// The words of the command or the file the finding is about.
    pub subject: String,
    /// What to do instead; itself passes the guard.
    pub instead: Option<String>,
    /// For strikes: what was meant and on what, whatever the spelling.
    pub intent: Option<Intent>,
    /// The file that the command stands in, where it stands in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<FoundInFile>,
    /// The files that it is about, with links resolved, where writing them is all that it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writes_only: Vec<String>,
}

/// Where in a file something was found, and whose file it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundInFile {
    pub path: String,
    pub line: usize,
    /// When the file was last changed.
    pub changed: Ms,
    /// Git tracks it, and it is as git has it.
    pub as_committed: bool,
    /// It lies where a package manager puts what it installs.
    pub installed: bool,
    /// What was found is that only the run would tell.
    pub unknown: bool,
    /// It is there only because of words that the line gave the file: they are the line's own.
    #[serde(default)]
    pub given_by_line: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Intent {
    /// `remove`, `discard-changes`, `rewrite-remote`, …
    pub what: String,
    /// The root of what is touched: a path, a branch, a remote.
    pub target: String,
}

/// Everything the rules said of one event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings(pub Vec<Finding>);

impl Level {
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Warn => "warn",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "pass" => Some(Self::Pass),
            "warn" => Some(Self::Warn),
            "ask" => Some(Self::Ask),
            "deny" => Some(Self::Deny),
            _ => None,
        }
    }
}

impl Findings {
    pub fn level(&self) -> Level {
        self.0.iter().map(|finding| finding.kind.level()).max().unwrap_or_default()
    }

    /// The findings of the strictest level, in the order they were found.
    pub fn strictest(&self) -> impl Iterator<Item = &Finding> {
        let level = self.level();
        self.0.iter().filter(move |finding| finding.kind.level() == level)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(rule: &str, kind: RuleKind) -> Finding {
        let (reason, subject) = Default::default();
        Finding {
            rule: rule.into(),
            kind,
            reason,
            subject,
            instead: None,
            intent: None,
            file: None,
            writes_only: Vec::new(),
        }
    }

    #[test]
    fn levels_are_ordered_pass_warn_ask_deny() {
        assert!(Level::Pass < Level::Warn && Level::Warn < Level::Ask && Level::Ask < Level::Deny);
    }

    #[test]
    fn the_strictest_level_wins_and_keeps_all_its_reasons() {
        let all = Findings(vec![
            finding("a", RuleKind::Ask),
            finding("b", RuleKind::Strike),
            finding("c", RuleKind::Warn),
            finding("d", RuleKind::Floor),
        ]);
        assert_eq!(all.level(), Level::Deny);
        let rules: Vec<_> = all.strictest().map(|f| f.rule.as_str()).collect();
        assert_eq!(rules, ["b", "d"]);
    }

    #[test]
    fn no_findings_pass() {
        assert_eq!(Findings::default().level(), Level::Pass);
    }
}
