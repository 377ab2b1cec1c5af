//! The words of a denial: every cause of the strictest level once, and the way out.

use crate::rules;
use model::{Finding, Findings, Level, RuleKind};
use std::fmt::Write;

/// So many causes are compared with one another, and so many commands named for one reason: nobody reads more.
const COMPARED: usize = 32;
const NAMED: usize = 3;

/// What is said of one cause.
struct Cause<'f> {
    finding: &'f Finding,
    /// What the same rule says the same of, and what else it says of the same.
    subjects: Vec<&'f str>,
    reasons: Vec<&'f str>,
    /// Other rules that the same command broke: named, not repeated.
    also: Vec<&'f str>,
}

/// All causes of the strictest level, each with its rule, the words it is about and the better way.
pub fn reason(findings: &Findings) -> String {
    let causes = causes(findings);
    let mut out = String::new();
    for cause in &causes {
        if !out.is_empty() {
            out.push_str("\n\n");
        }
        one(cause, &mut out);
    }
    // Where something else is denied for good, saying it again does not help.
    if !causes.is_empty() && causes.iter().all(|cause| cause.finding.kind == RuleKind::Strike) {
        out.push_str("\nThis is denied once. If you still mean it after reading this, run the same command again in a later call.");
    }
    out
}

/// The rule that decided: the one whose words come first.
pub fn deciding(findings: &Findings) -> Option<String> {
    causes(findings).first().map(|cause| cause.finding.rule.clone())
}

/// Whether something stands against it that nobody lets pass for an agent: the floor, and what guards the guard itself.
pub fn is_for_nobody(findings: &Findings) -> bool {
    findings.0.iter().any(|finding| finding.kind == RuleKind::Floor) || guards_taut(findings)
}

fn guards_taut(findings: &Findings) -> bool {
    let mut stops = findings.0.iter().filter(|finding| finding.kind.level() >= Level::Ask);
    stops.any(|finding| rules::find(&finding.rule).is_some_and(|rule| rule.guards_taut()))
}

/// How the user overrules the guard, for the line only they see. `None` for what nobody overrules.
pub fn way_out(findings: &Findings, code: Option<&str>) -> Option<String> {
    if is_for_nobody(findings) {
        return None;
    }
    let mut rules: Vec<&str> = Vec::new();
    for finding in findings.strictest() {
        if !rules.contains(&finding.rule.as_str()) {
            rules.push(&finding.rule);
        }
    }
    let (first, rest) = rules.split_first()?;
    let once = code.map(|code| format!("`taut allow {code}` (exactly this, once), ")).unwrap_or_default();
    let mut out =
        format!("To overrule the guard, in your own terminal: {once}`taut pause 10m` or `taut policy allow {first}`");
    for rule in rest {
        let _ = write!(out, " and `taut policy allow {rule}`");
    }
    out.push('.');
    Some(out)
}

/// The most severe first; one command that several rules stop is one cause, and so is one rule with one reason.
fn causes(findings: &Findings) -> Vec<Cause<'_>> {
    let mut found: Vec<&Finding> = findings.strictest().collect();
    found.sort_by_key(|finding| severity(finding.kind));
    let mut causes: Vec<Cause<'_>> = Vec::new();
    for finding in found {
        let known = causes.iter_mut().take(COMPARED);
        let same = |cause: &&mut Cause<'_>| {
            (cause.finding.rule == finding.rule && cause.finding.reason == finding.reason)
                || cause.subjects.iter().take(NAMED).any(|subject| is_same_command(subject, finding, cause.finding))
        };
        match known.into_iter().find(same) {
            Some(cause) => cause.add(finding),
            None => causes.push(Cause::of(finding)),
        }
    }
    causes
}

impl<'f> Cause<'f> {
    fn of(finding: &'f Finding) -> Self {
        Self { finding, subjects: vec![&finding.subject], reasons: vec![&finding.reason], also: Vec::new() }
    }

    fn add(&mut self, finding: &'f Finding) {
        if self.finding.rule == finding.rule {
            for (known, more) in [(&mut self.subjects, &finding.subject), (&mut self.reasons, &finding.reason)] {
                if !known.contains(&more.as_str()) {
                    known.push(more);
                }
            }
            return;
        }
        let mut named = finding.rule.as_str();
        // Of two that are as severe, the one about the command itself says more than the one about its wrapper.
        if self.subjects.len() == 1
            && severity(finding.kind) == severity(self.finding.kind)
            && finding.subject.len() < self.finding.subject.len()
        {
            named = &self.finding.rule;
            *self = Self { also: std::mem::take(&mut self.also), ..Self::of(finding) };
        }
        if !self.also.contains(&named) {
            self.also.push(named);
        }
    }
}

fn severity(kind: RuleKind) -> u8 {
    match kind {
        RuleKind::Floor => 0,
        RuleKind::Deny => 1,
        RuleKind::Strike => 2,
        RuleKind::Ask | RuleKind::Warn | RuleKind::Noted | RuleKind::Allowed => 3,
    }
}

/// Whether two rules that name a better way speak of one command, or of one and its wrapper. A gate names a tool
/// and no better way: its word stands on its own.
fn is_same_command(subject: &str, finding: &Finding, other: &Finding) -> bool {
    let ends = |long: &str, short: &str| {
        long.strip_suffix(short).is_some_and(|before| !short.is_empty() && (before.is_empty() || before.ends_with(' ')))
    };
    let guards = finding.instead.is_some() && other.instead.is_some();
    guards && (ends(subject, &finding.subject) || ends(&finding.subject, subject))
}

fn more(count: usize) -> String {
    count.checked_sub(NAMED).filter(|more| *more > 0).map(|more| format!(" and {more} more")).unwrap_or_default()
}

fn one(cause: &Cause<'_>, out: &mut String) {
    let finding = cause.finding;
    let named = cause.subjects.iter().filter(|subject| !subject.is_empty());
    let subjects: Vec<String> = named.take(NAMED).map(|subject| format!("`{subject}`")).collect();
    let reasons: Vec<&str> = cause.reasons.iter().take(NAMED).copied().collect();
    let runs = finding.file.as_ref().map(|file| format!("{}:{} runs ", file.path, file.line)).unwrap_or_default();
    let about = format!("{runs}{}{}", subjects.join(", "), more(cause.subjects.len()));
    let _ =
        if about.is_empty() { write!(out, "[{}] ", finding.rule) } else { write!(out, "[{}] {about}: ", finding.rule) };
    let _ = write!(out, "{}{}", reasons.join(" "), more(cause.reasons.len()));
    if !cause.also.is_empty() {
        let _ = write!(out, " (Also against it: {}.)", cause.also.join(", "));
    }
    if let Some(instead) = &finding.instead {
        let _ = write!(out, "\nInstead: {instead}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(rule: &str, kind: RuleKind, subject: &str) -> Finding {
        Finding {
            rule: rule.into(),
            kind,
            reason: format!("{rule} is bad."),
            subject: subject.into(),
            instead: Some("Do y.".into()),
            intent: None,
            file: None,
            writes_only: Vec::new(),
        }
    }

    #[test]
    fn all_causes_of_the_strictest_level_are_given_with_rule_words_and_way_out() {
        let (deny, ask) = (finding("a", RuleKind::Deny, "x"), finding("b", RuleKind::Ask, "y"));
        let text = reason(&Findings(vec![finding("c", RuleKind::Strike, "z"), ask, deny]));
        assert_eq!(text, "[a] `x`: a is bad.\nInstead: Do y.\n\n[c] `z`: c is bad.\nInstead: Do y.");
        let text = reason(&Findings(vec![finding("c", RuleKind::Strike, "z")]));
        assert!(text.ends_with("run the same command again in a later call."), "{text}");
    }

    #[test]
    fn g10_one_command_that_several_rules_stop_is_said_once_by_the_most_severe() {
        let strike = |rule| finding(rule, RuleKind::Strike, "git reset --hard");
        let text = reason(&Findings(vec![strike("git-reset-hard"), strike("mine")]));
        assert!(
            text.starts_with("[git-reset-hard] `git reset --hard`: git-reset-hard is bad. (Also against it: mine.)")
        );
        assert_eq!((text.matches("Instead").count(), text.matches("denied once").count()), (1, 1), "{text}");
        let wrapped = finding("sudo", RuleKind::Deny, "sudo rm -rf /etc");
        let text = reason(&Findings(vec![wrapped, finding("rm-system", RuleKind::Deny, "rm -rf /etc")]));
        assert!(text.starts_with("[rm-system] `rm -rf /etc`: rm-system is bad. (Also against it: sudo.)"), "{text}");
        let strike = finding("rm-project", RuleKind::Strike, "rm -rf a b");
        let text = reason(&Findings(vec![strike, finding("rm-system", RuleKind::Deny, "rm -rf a b")]));
        assert!(text.starts_with("[rm-system]") && !text.contains("denied once"), "{text}");
    }

    #[test]
    fn g10_a_rule_with_one_reason_for_many_commands_gives_it_once() {
        let killed = |subject| Finding { reason: "Ends others.".into(), ..finding("kill", RuleKind::Deny, subject) };
        let text = reason(&Findings(["a", "b", "c", "d", "e"].map(killed).to_vec()));
        assert_eq!(text, "[kill] `a`, `b`, `c` and 2 more: Ends others.\nInstead: Do y.");
    }

    #[test]
    fn g10_what_a_rule_says_of_each_thing_in_one_command_is_kept() {
        let removed = |reason: &str| Finding { reason: reason.into(), ..finding("rm", RuleKind::Strike, "rm -rf a b") };
        let text = reason(&Findings(vec![removed("`a` is tracked."), removed("`b` is tracked.")]));
        assert!(text.starts_with("[rm] `rm -rf a b`: `a` is tracked. `b` is tracked.\nInstead: Do y.\n"), "{text}");
    }

    #[test]
    fn gates_of_one_tool_are_all_said() {
        let gate = |rule| Finding { instead: None, ..finding(rule, RuleKind::Deny, "Bash") };
        let text = reason(&Findings(vec![gate("heartbeat"), gate("overflow")]));
        assert!(text.contains("[heartbeat]") && text.contains("[overflow]"), "{text}");
    }

    #[test]
    fn g10_the_user_is_told_of_the_code_pause_and_allow_but_not_for_the_floor() {
        let deny = || finding("a", RuleKind::Deny, "x");
        let text = way_out(&Findings(vec![deny(), finding("b", RuleKind::Strike, "x"), deny()]), Some("7kf2")).unwrap();
        let expected = "To overrule the guard, in your own terminal: `taut allow 7kf2` (exactly this, once), `taut pause 10m` \
                        or `taut policy allow a` and `taut policy allow b`.";
        assert_eq!(text, expected);
        assert_eq!(way_out(&Findings(vec![finding("a", RuleKind::Floor, "x"), deny()]), None), None);
    }

    #[test]
    fn g10_the_user_is_told_no_way_around_what_guards_the_guard_itself() {
        for rule in ["taut-command", "taut-files", "taut-identity", "taut-remove", "agent-settings"] {
            let stop = Findings(vec![finding("a", RuleKind::Deny, "x"), finding(rule, RuleKind::Deny, "x")]);
            assert_eq!(way_out(&stop, Some("7kf2")), None, "{rule}");
            let allowed = Findings(vec![finding("a", RuleKind::Deny, "x"), finding(rule, RuleKind::Allowed, "x")]);
            assert!(way_out(&allowed, None).is_some(), "{rule}");
        }
        for rule in ["unguarded-agent", "agent-part-remove", "kill-by-name"] {
            assert!(way_out(&Findings(vec![finding(rule, RuleKind::Ask, "x")]), Some("7kf2")).is_some(), "{rule}");
        }
    }

    #[test]
    fn g10_what_has_no_words_is_said_without_empty_quotes() {
        let text = reason(&Findings(vec![finding("a", RuleKind::Ask, "")]));
        assert_eq!(text, "[a] a is bad.\nInstead: Do y.");
    }
}
