//! One strike: a rule of that kind denies the first time and explains; the same
//! intent on the same target passes afterwards, but only for calls that come
//! after the denial was delivered, and not for ever.

use model::effect::{Strike, Write};
use model::event::{Envelope, EventKind};
use model::{Finding, Findings, Level, Loaded, Ms, RuleKind, Who};

/// How long a delivered strike stays open.
pub const OPEN_FOR_MS: i64 = 30 * 60 * 1000;

pub struct StrikeResult {
    /// What still stands against the call.
    pub findings: Findings,
    /// Strikes that were already taken and let the call pass.
    pub spent: Vec<Finding>,
    pub writes: Vec<Write>,
}

/// Whom a call's strikes are kept under.
pub struct Striker<'a> {
    pub root_session: &'a str,
    /// A sub-agent's id, or empty for the session itself.
    pub denied_to: &'a str,
    pub now: Ms,
}

impl<'a> Striker<'a> {
    pub fn of(envelope: &'a Envelope, who: &'a Who, now: Ms) -> Self {
        let root_session = who.host_session.as_deref().unwrap_or(&who.logical_id);
        let denied_to = envelope.sub_agent.as_ref().map_or("", |sub| &sub.id);
        Self { root_session, denied_to, now }
    }
}

pub fn judge(findings: Findings, loaded: &Loaded, striker: &Striker<'_>) -> StrikeResult {
    let (allowed, rest): (Vec<_>, Vec<_>) =
        findings.0.into_iter().partition(|finding| is_allowed_once(finding, loaded));
    let (mut spent, standing): (Vec<_>, Vec<_>) =
        rest.into_iter().partition(|finding| is_spent(finding, loaded, striker.now));
    let strikes = standing.iter().filter(|finding| finding.kind == RuleKind::Strike);
    let mut writes: Vec<Write> = strikes.filter_map(|finding| given(finding, striker)).collect();
    // An allowance is used up only by a call that nothing else stops.
    if standing.iter().all(|finding| finding.kind.level() < Level::Ask) {
        writes.extend(allowed.iter().map(|finding| Write::AllowanceSpent { rule: finding.rule.clone() }));
    }
    spent.extend(allowed);
    StrikeResult { findings: Findings(standing), spent, writes }
}

/// The user let this rule pass once, at a terminal. The floor stays.
fn is_allowed_once(finding: &Finding, loaded: &Loaded) -> bool {
    let above_floor = finding.kind != RuleKind::Floor && finding.kind.level() >= Level::Ask;
    above_floor && loaded.strikes.iter().any(|strike| strike.is_allowance() && strike.rule == finding.rule)
}

fn is_spent(finding: &Finding, loaded: &Loaded, now: Ms) -> bool {
    let Some(intent) = finding.intent.as_ref().filter(|_| finding.kind == RuleKind::Strike) else { return false };
    loaded
        .strikes
        .iter()
        .filter(|strike| !strike.is_allowance())
        .any(|strike| strike.intent == *intent && strike.delivered && now.since(strike.at) <= OPEN_FOR_MS)
}

fn given(finding: &Finding, striker: &Striker<'_>) -> Option<Write> {
    Some(Write::Strike(Strike {
        session: striker.root_session.to_string(),
        rule: finding.rule.clone(),
        intent: finding.intent.clone()?,
        at: striker.now,
        denied_to: striker.denied_to.to_string(),
        delivered: false,
    }))
}

/// A batch that came back, a prompt or the end of a turn: the denials given
/// until now have been read.
pub fn delivered(envelope: &Envelope, loaded: &Loaded, striker: &Striker<'_>) -> Vec<Write> {
    let a_turn_went_by = matches!(
        envelope.kind,
        EventKind::PostToolBatch
            | EventKind::UserPromptSubmit
            | EventKind::Stop
            | EventKind::SubagentStop
            | EventKind::StopFailure
    );
    let waiting = loaded.strikes.iter().any(|strike| !strike.delivered && strike.denied_to == striker.denied_to);
    if !a_turn_went_by || !waiting {
        return Vec::new();
    }
    vec![Write::StrikesDelivered {
        session: striker.root_session.to_string(),
        denied_to: striker.denied_to.to_string(),
    }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::verdict::Intent;

    const STRIKER: Striker<'static> = Striker { root_session: "s", denied_to: "", now: Ms(10_000_000) };

    fn finding(rule: &str, kind: RuleKind) -> Finding {
        let intent = Intent { what: "rewrite-remote".into(), target: "origin/main".into() };
        Finding {
            rule: rule.into(),
            kind,
            reason: String::new(),
            subject: String::new(),
            instead: None,
            intent: (kind == RuleKind::Strike).then_some(intent),
            file: None,
        }
    }

    fn struck(at: Ms, delivered: bool) -> Loaded {
        let Some(Write::Strike(strike)) = given(&finding("git-force-push", RuleKind::Strike), &STRIKER) else {
            unreachable!("a strike finding gives a strike")
        };
        Loaded { strikes: vec![Strike { at, delivered, ..strike }], ..Loaded::default() }
    }

    fn judged(findings: Vec<Finding>, loaded: &Loaded) -> StrikeResult {
        judge(Findings(findings), loaded, &STRIKER)
    }

    #[test]
    fn g2_the_first_time_denies_and_leaves_a_strike() {
        let judged = judged(vec![finding("git-force-push", RuleKind::Strike)], &Loaded::default());
        assert_eq!(judged.findings.level(), Level::Deny);
        assert!(matches!(judged.writes.as_slice(), [Write::Strike(strike)] if !strike.delivered));
    }

    #[test]
    fn g2_a_strike_opens_only_once_its_denial_was_delivered_and_for_half_an_hour() {
        let strike = || vec![finding("another-spelling", RuleKind::Strike)];
        let at = Ms(STRIKER.now.0 - 1_000);
        assert_eq!(judged(strike(), &struck(at, false)).findings.level(), Level::Deny);
        assert_eq!(judged(strike(), &struck(at, true)).findings.level(), Level::Pass);
        let old = Ms(STRIKER.now.0 - OPEN_FOR_MS - 1);
        assert_eq!(judged(strike(), &struck(old, true)).findings.level(), Level::Deny);
    }

    #[test]
    fn g2_a_second_rule_in_the_same_line_is_still_judged() {
        let both = vec![finding("git-force-push", RuleKind::Strike), finding("rm-root", RuleKind::Floor)];
        let judged = judged(both, &struck(Ms(STRIKER.now.0 - 1), true));
        let left: Vec<&str> = judged.findings.0.iter().map(|finding| finding.rule.as_str()).collect();
        assert_eq!(left, ["rm-root"]);
    }

    #[test]
    fn what_the_user_lets_through_once_is_used_up_by_the_call_that_passes() {
        let loaded = Loaded { strikes: vec![Strike::allowance("rm-system", STRIKER.now)], ..Loaded::default() };
        let passed = judged(vec![finding("rm-system", RuleKind::Deny)], &loaded);
        assert_eq!(passed.findings.level(), Level::Pass);
        assert_eq!(passed.writes, [Write::AllowanceSpent { rule: "rm-system".into() }]);
        let stopped = judged(vec![finding("rm-system", RuleKind::Deny), finding("sudo", RuleKind::Ask)], &loaded);
        assert_eq!((stopped.findings.level(), stopped.writes.len()), (Level::Ask, 0));
        let floor = judged(vec![finding("rm-system", RuleKind::Floor)], &loaded);
        assert_eq!(floor.findings.level(), Level::Deny);
    }
}
