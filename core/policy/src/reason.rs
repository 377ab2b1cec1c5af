//! The words of a denial: every reason of the strictest level at once, and the way out.

use model::{Finding, Findings, RuleKind};
use std::fmt::Write;

/// All reasons of the strictest level, each with its rule, the words it is about and the better way.
pub fn reason(findings: &Findings) -> String {
    let mut out = String::new();
    for finding in findings.strictest() {
        if !out.is_empty() {
            out.push_str("\n\n");
        }
        one(finding, &mut out);
    }
    out
}

/// How the user overrules the guard, for the line only they see. `None` for what nobody overrules.
pub fn way_out(findings: &Findings) -> Option<String> {
    let above_floor = findings.strictest().filter(|finding| finding.kind != RuleKind::Floor);
    let mut rules: Vec<&str> = above_floor.map(|finding| finding.rule.as_str()).collect();
    rules.dedup();
    if rules.is_empty() {
        return None;
    }
    let mut out = "To overrule the guard, in your own terminal: `taut pause 10m`".to_string();
    for rule in rules {
        let _ = write!(out, " or `taut policy allow {rule}`");
    }
    out.push('.');
    Some(out)
}

fn one(finding: &Finding, out: &mut String) {
    let _ = write!(out, "[{}] ", finding.rule);
    if let Some(file) = &finding.file {
        let _ = write!(out, "{}:{} runs ", file.path, file.line);
    }
    let _ = write!(out, "`{}`: {}", finding.subject, finding.reason);
    if let Some(instead) = &finding.instead {
        let _ = write!(out, "\nInstead: {instead}");
    }
    if finding.kind == RuleKind::Strike {
        out.push_str("\nThis is denied once. If you still mean it after reading this, run the same command again in a later call.");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(rule: &str, kind: RuleKind) -> Finding {
        Finding {
            rule: rule.into(),
            kind,
            reason: "It is bad.".into(),
            subject: "x".into(),
            instead: Some("Do y.".into()),
            intent: None,
            file: None,
        }
    }

    #[test]
    fn all_reasons_of_the_strictest_level_are_given_with_rule_words_and_way_out() {
        let findings =
            Findings(vec![finding("a", RuleKind::Deny), finding("b", RuleKind::Ask), finding("c", RuleKind::Strike)]);
        let text = reason(&findings);
        assert!(text.contains("[a] `x`: It is bad.\nInstead: Do y."), "{text}");
        assert!(!text.contains("[b]") && text.contains("[c]") && text.contains("run the same command again"), "{text}");
        assert!(!text.contains("taut pause"));
    }

    #[test]
    fn g10_the_user_is_told_of_pause_and_allow_but_not_for_the_floor() {
        let text = way_out(&Findings(vec![finding("a", RuleKind::Deny)])).unwrap();
        assert!(text.contains("`taut pause 10m` or `taut policy allow a`"), "{text}");
        assert_eq!(way_out(&Findings(vec![finding("a", RuleKind::Floor)])), None);
    }
}
