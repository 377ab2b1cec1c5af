//! The findings of one line: each said once, and of many that are alike only the first.

use model::verdict::Intent;
use model::{Finding, Findings, RuleKind};
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// How many findings of one rule are told apart: nobody reads more, and the answer grows with each.
const MOST: usize = 64;

#[derive(Debug, Default)]
pub(crate) struct Gathered {
    findings: Vec<Finding>,
    known: HashSet<u64>,
    rules: HashMap<String, OfRule>,
}

/// What one rule has said.
#[derive(Debug, Default)]
struct OfRule {
    count: usize,
    /// Where among the findings stands what says that there are more.
    rest: Option<usize>,
    /// What was not told apart, as one number.
    digest: DefaultHasher,
    left: usize,
}

impl Gathered {
    pub(crate) fn add(&mut self, finding: Finding) {
        let intent = finding.intent.as_ref().map(|intent| (&intent.what, &intent.target));
        // What a file does and what the line does are two things: they may not count alike.
        let file = finding.file.as_ref().map(|file| &file.path);
        // One target that is allowed says nothing of another in the same command.
        let allowed = finding.kind == RuleKind::Allowed;
        // Nor does a file that may be written after all.
        let said = number(&(&finding.rule, &finding.subject, intent, file, allowed, &finding.writes_only));
        if !self.known.insert(said) {
            return;
        }
        let rule = self.rules.entry(finding.rule.clone()).or_default();
        rule.count += 1;
        if rule.count <= MOST {
            self.findings.push(finding);
            return;
        }
        said.hash(&mut rule.digest);
        rule.left += 1;
        let at = *rule.rest.get_or_insert(self.findings.len());
        let rest = more(finding, rule);
        match self.findings.get_mut(at) {
            Some(slot) => *slot = rest,
            None => self.findings.push(rest),
        }
    }

    pub(crate) fn all(self) -> Findings {
        Findings(self.findings)
    }
}

/// What stands for all findings of a rule that are not told apart. A strike is about exactly these: with others in
/// their place it is another one, and denied again.
fn more(finding: Finding, rule: &OfRule) -> Finding {
    let digest = rule.digest.finish();
    let intent = |intent: Intent| Intent { what: intent.what, target: format!("{} more ({digest:016x})", rule.left) };
    Finding {
        subject: format!("… {} more", rule.left),
        reason: "The same line has more of the same.".to_string(),
        intent: finding.intent.filter(|_| finding.kind == RuleKind::Strike).map(intent),
        writes_only: Vec::new(),
        ..finding
    }
}

fn number(what: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(rule: &str, subject: usize) -> Finding {
        Finding {
            rule: rule.to_string(),
            kind: RuleKind::Strike,
            reason: "why".to_string(),
            subject: subject.to_string(),
            instead: None,
            intent: Some(Intent { what: "remove".to_string(), target: subject.to_string() }),
            file: None,
            writes_only: Vec::new(),
        }
    }

    fn gathered(subjects: impl Iterator<Item = usize>) -> Vec<Finding> {
        let mut gathered = Gathered::default();
        subjects.for_each(|subject| gathered.add(finding("rm-project", subject)));
        gathered.add(finding("rm-root", 0));
        gathered.all().0
    }

    #[test]
    fn the_same_is_said_once_and_a_rule_of_many_findings_drowns_no_other() {
        assert_eq!(gathered([1, 1, 2, 1].into_iter()).len(), 3);
        let many = gathered(0..5_000);
        assert_eq!(many.len(), MOST + 2);
        assert_eq!(many.last().map(|finding| finding.rule.as_str()), Some("rm-root"));
        assert_eq!(many[MOST].subject, "… 4936 more");
    }

    #[test]
    fn what_is_not_told_apart_is_another_strike_when_it_is_something_else() {
        let target = |findings: Vec<Finding>| findings[MOST].intent.clone().map(|intent| intent.target);
        assert_eq!(target(gathered(0..100)), target(gathered(0..100)));
        assert_ne!(target(gathered(0..100)), target(gathered((0..99).chain([500]))));
    }
}
