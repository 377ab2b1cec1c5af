//! What a rule says of itself, for whoever shows it beside what it stopped.

use policy::rules;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleText {
    pub title: &'static str,
    pub pack: &'static str,
    /// What it does out of the box: `deny`, `strike`, `ask`.
    pub kind: &'static str,
    pub about: &'static str,
    pub instead: &'static str,
}

/// `None` for a rule of somebody's configuration.
pub fn rule_text(id: &str) -> Option<RuleText> {
    let rule = rules::find(id)?;
    Some(RuleText {
        title: rule.title,
        pack: rule.pack.name(),
        kind: rule.kind.name(),
        about: rule.doc,
        instead: rule.instead,
    })
}
