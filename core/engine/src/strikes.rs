//! One strike: a rule of that kind denies the first time and explains; the same
//! intent on the same target passes afterwards, but only for calls that come
//! after the denial was delivered, and not for ever.

use crate::event_context::EventContext;
use model::agent::{CallReader, TranscriptOwner};
use model::effect::{Allowance, AllowedOnce, Strike, Write};
use model::event::{Envelope, EventKind};
use model::fact::{Probe, TranscriptTail};
use model::{Finding, Findings, Level, Loaded, Ms, RuleKind};

/// Calls of one answer of a model come together; between a denial and the call that follows from it the model has to
/// answer. Where an agent does not tell when an answer's calls have come back, this time is the sign.
const SAME_ANSWER_MS: i64 = 1_000;

/// So much is read of a transcript that may tell that a denial has been read.
const LOOKED_AT: u64 = 256 << 10;

/// How long a delivered strike stays open, and what a person lets through once.
pub const OPEN_FOR_MS: i64 = 30 * 60 * 1000;

pub struct StrikeResult {
    /// What still stands against the call.
    pub findings: Findings,
    /// Strikes that were already taken and let the call pass.
    pub spent: Vec<Finding>,
    /// What a person let pass once.
    pub allowed: Vec<(Finding, Allowance)>,
    pub writes: Vec<Write>,
}

/// Whom a call's strikes are kept under.
pub struct Striker<'a> {
    pub root_session: &'a str,
    /// A sub-agent's id, or empty for the session itself.
    pub denied_to: &'a str,
    pub now: Ms,
    /// The agent says when a denial has been read.
    pub tells_batches: bool,
    /// What tells the call from every other.
    pub digest: Option<&'a str>,
    /// The end of its transcript, where that was asked for.
    pub transcript: Option<StrikerTranscript<'a>>,
}

/// What tells of the requests to the model where no hook tells that a batch has come back.
#[derive(Clone, Copy)]
pub struct StrikerTranscript<'a> {
    reader: CallReader,
    speaker: TranscriptOwner,
    tail: &'a TranscriptTail,
}

impl<'a> Striker<'a> {
    pub fn of(event: &EventContext<'a>) -> Self {
        let EventContext { envelope, who, now, digest, .. } = *event;
        let root_session = who.host_session.as_deref().unwrap_or(&who.logical_id);
        let denied_to = envelope.sub_agent.as_ref().map_or("", |sub| &sub.id);
        let transcript = transcript(envelope).and_then(|(reader, speaker, path)| {
            Some(StrikerTranscript { reader, speaker, tail: event.facts.transcript(&path)? })
        });
        Self { root_session, denied_to, now, tells_batches: envelope.agent.tells_batches, digest, transcript }
    }

    /// Where no hook tells that a batch has come back the transcript does: the model was asked again since.
    fn has_read(&self, strike: &Strike) -> bool {
        let read = |told: StrikerTranscript<'_>| (told.reader.asked_since)(told.tail, told.speaker, strike.at);
        strike.denied_to == self.denied_to && self.transcript.is_some_and(read)
    }
}

/// Where the requests are written down of whom a call comes from.
fn transcript(envelope: &Envelope) -> Option<(CallReader, TranscriptOwner, String)> {
    let reader = envelope.agent.transcript.calls.filter(|_| envelope.kind == EventKind::PreToolUse)?;
    let path = envelope.transcript.as_deref()?;
    match &envelope.sub_agent {
        None => Some((reader, TranscriptOwner::Session, path.to_string())),
        Some(helper) => Some((reader, TranscriptOwner::Helper, (reader.of_helper)(path, &helper.id)?)),
    }
}

/// The transcript is looked at only for a call that a strike of its own would open for.
pub fn raised(event: &EventContext<'_>) -> Option<Probe> {
    let striker = Striker::of(event);
    if striker.transcript.is_some() {
        return None;
    }
    let waits = |finding: &Finding| {
        let intent = finding.intent.as_ref().filter(|_| finding.kind == RuleKind::Strike);
        let own = event.loaded.strikes.iter().filter(|strike| strike.denied_to == striker.denied_to);
        intent.is_some_and(|intent| own.clone().any(|strike| strike.intent == *intent && !strike.delivered))
    };
    let (_, _, path) = transcript(event.envelope).filter(|_| event.findings.0.iter().any(waits))?;
    Some(Probe::Transcript { path, last: LOOKED_AT })
}

pub fn judge(findings: Findings, loaded: &Loaded, striker: &Striker<'_>) -> StrikeResult {
    let (spent, rest): (Vec<_>, Vec<_>) =
        findings.0.into_iter().partition(|finding| is_spent(finding, loaded, striker));
    let (mut allowed, mut standing) = (Vec::new(), Vec::new());
    for finding in rest {
        match allowance(&finding, loaded, striker) {
            Some(allowance) => allowed.push((finding, allowance.clone())),
            None => standing.push(finding),
        }
    }
    let strikes = standing.iter().filter(|finding| finding.kind == RuleKind::Strike);
    let writes = strikes.filter_map(|finding| given(finding, striker)).collect();
    StrikeResult { findings: Findings(standing), spent, allowed, writes }
}

impl StrikeResult {
    /// An allowance is used up only by a call that nothing else stops.
    pub fn spending(&self) -> impl Iterator<Item = Write> {
        self.allowed.iter().map(|(_, allowance)| Write::AllowanceSpent(allowance.what.clone()))
    }
}

/// What a person let pass once, at a terminal: exactly this call, else whatever its rule stops. The floor stays.
fn allowance<'l>(finding: &Finding, loaded: &'l Loaded, striker: &Striker<'_>) -> Option<&'l Allowance> {
    if finding.kind == RuleKind::Floor || finding.kind.level() < Level::Ask {
        return None;
    }
    let open = || loaded.allowances.iter().filter(|one| striker.now.since(one.at) <= OPEN_FOR_MS);
    let this = |one: &&Allowance| matches!(&one.what, AllowedOnce::Call(call) if Some(call.as_str()) == striker.digest);
    let rule = |one: &&Allowance| matches!(&one.what, AllowedOnce::Rule(rule) if *rule == finding.rule);
    open().find(this).or_else(|| open().find(rule))
}

fn is_spent(finding: &Finding, loaded: &Loaded, striker: &Striker<'_>) -> bool {
    let Some(intent) = finding.intent.as_ref().filter(|_| finding.kind == RuleKind::Strike) else { return false };
    let age = |strike: &Strike| striker.now.since(strike.at);
    let read = |strike: &Strike| {
        let own = strike.denied_to == striker.denied_to;
        strike.delivered || !striker.tells_batches && own && age(strike) >= SAME_ANSWER_MS || striker.has_read(strike)
    };
    loaded.strikes.iter().any(|strike| strike.intent == *intent && read(strike) && age(strike) <= OPEN_FOR_MS)
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
/// until now have been read. What is told late comes while calls of the same answer may be out.
pub fn delivered(event: &EventContext<'_>, striker: &Striker<'_>) -> Vec<Write> {
    let EventContext { envelope, loaded, .. } = *event;
    let told = |until: Option<Ms>| Write::StrikesDelivered {
        session: striker.root_session.to_string(),
        denied_to: striker.denied_to.to_string(),
        until,
    };
    // What the transcript told once is not asked of it again; a denial of this very answer stays closed.
    let read = loaded.strikes.iter().filter(|strike| !strike.delivered && striker.has_read(strike));
    if let Some(last) = read.map(|strike| strike.at).max() {
        return vec![told(Some(last))];
    }
    let a_turn_went_by = matches!(
        envelope.kind,
        EventKind::PostToolBatch
            | EventKind::UserPromptSubmit
            | EventKind::Stop
            | EventKind::SubagentStop
            | EventKind::StopFailure
    );
    let waiting = loaded.strikes.iter().any(|strike| !strike.delivered && strike.denied_to == striker.denied_to);
    if !a_turn_went_by || !waiting || event.late.is_some() {
        return Vec::new();
    }
    vec![told(None)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::verdict::Intent;

    const STRIKER: Striker<'static> = Striker {
        root_session: "s",
        denied_to: "",
        now: Ms(10_000_000),
        tells_batches: true,
        digest: Some("call"),
        transcript: None,
    };

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
            writes_only: Vec::new(),
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
    fn g2_an_agent_that_tells_no_batches_may_ask_again_once_its_model_can_have_read_the_denial() {
        let quiet = Striker { tells_batches: false, ..STRIKER };
        let level = |ago: i64, striker: &Striker<'_>| {
            let strike = Findings(vec![finding("git-force-push", RuleKind::Strike)]);
            judge(strike, &struck(Ms(STRIKER.now.0 - ago), false), striker).findings.level()
        };
        assert_eq!(level(SAME_ANSWER_MS - 1, &quiet), Level::Deny, "another call of the same answer");
        assert_eq!(level(SAME_ANSWER_MS, &quiet), Level::Pass);
        assert_eq!(level(SAME_ANSWER_MS, &Striker { denied_to: "helper", ..quiet }), Level::Deny, "another read it");
        assert_eq!(level(SAME_ANSWER_MS, &STRIKER), Level::Deny, "where it will be told");
        assert_eq!(level(OPEN_FOR_MS + 1, &quiet), Level::Deny);
    }

    #[test]
    fn g2_a_second_rule_in_the_same_line_is_still_judged() {
        let both = vec![finding("git-force-push", RuleKind::Strike), finding("rm-root", RuleKind::Floor)];
        let judged = judged(both, &struck(Ms(STRIKER.now.0 - 1), true));
        let left: Vec<&str> = judged.findings.0.iter().map(|finding| finding.rule.as_str()).collect();
        assert_eq!(left, ["rm-root"]);
    }

    fn once(what: AllowedOnce, at: Ms) -> Loaded {
        Loaded { allowances: vec![Allowance { what, by: "ann".into(), at }], ..Loaded::default() }
    }

    fn by_rule(rule: &str) -> AllowedOnce {
        AllowedOnce::Rule(rule.to_string())
    }

    #[test]
    fn what_the_user_lets_through_once_is_used_up_by_the_call_that_passes() {
        let loaded = once(by_rule("rm-system"), STRIKER.now);
        let passed = judged(vec![finding("rm-system", RuleKind::Deny)], &loaded);
        assert_eq!(passed.findings.level(), Level::Pass);
        assert_eq!(passed.spending().collect::<Vec<_>>(), [Write::AllowanceSpent(by_rule("rm-system"))]);
        let stopped = judged(vec![finding("rm-system", RuleKind::Deny), finding("sudo", RuleKind::Ask)], &loaded);
        assert_eq!(stopped.findings.level(), Level::Ask);
        let floor = judged(vec![finding("rm-system", RuleKind::Floor)], &loaded);
        assert_eq!((floor.findings.level(), floor.spending().count()), (Level::Deny, 0));
    }

    #[test]
    fn g13_a_call_that_was_let_through_passes_whatever_its_rules_but_not_the_floor_nor_another_nor_late() {
        let call = |digest: &str| AllowedOnce::Call(digest.to_string());
        let all = || {
            vec![finding("rm-system", RuleKind::Deny), finding("sudo", RuleKind::Ask), finding("x", RuleKind::Strike)]
        };
        let passed = judged(all(), &once(call("call"), STRIKER.now));
        assert_eq!((passed.findings.level(), passed.allowed.len(), passed.writes.len()), (Level::Pass, 3, 0));
        assert!(passed.spending().all(|spent| spent == Write::AllowanceSpent(call("call"))));
        assert_eq!(judged(all(), &once(call("another"), STRIKER.now)).findings.0.len(), 3);
        let late = Ms(STRIKER.now.0 - OPEN_FOR_MS - 1);
        assert_eq!(judged(all(), &once(call("call"), late)).findings.0.len(), 3);
        let floor = judged(vec![finding("rm-root", RuleKind::Floor)], &once(call("call"), STRIKER.now));
        assert_eq!((floor.findings.level(), floor.allowed.len()), (Level::Deny, 0));
    }

    #[test]
    fn an_open_strike_is_taken_before_what_a_person_allowed() {
        let mut loaded = struck(Ms(STRIKER.now.0 - 1), true);
        loaded.allowances = once(by_rule("git-force-push"), STRIKER.now).allowances;
        let passed = judged(vec![finding("git-force-push", RuleKind::Strike)], &loaded);
        assert_eq!((passed.findings.level(), passed.spent.len(), passed.allowed.len()), (Level::Pass, 1, 0));
    }
}
