//! One strike: a rule of that kind denies the first time and explains; the same
//! intent on the same target passes afterwards, but only for calls that come
//! after the denial was delivered, and not for ever.

use model::effect::{Strike, Write};
use model::event::{Envelope, Kind};
use model::{Finding, Findings, Loaded, Ms, RuleKind};

/// How long a delivered strike stays open.
pub const OPEN_FOR_MS: i64 = 30 * 60 * 1000;

pub struct Judged {
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

pub fn judge(findings: Findings, loaded: &Loaded, striker: &Striker<'_>) -> Judged {
    let (spent, standing): (Vec<_>, Vec<_>) =
        findings.0.into_iter().partition(|finding| is_spent(finding, loaded, striker.now));
    let writes = standing
        .iter()
        .filter(|finding| finding.kind == RuleKind::Strike)
        .filter_map(|finding| given(finding, striker))
        .collect();
    Judged { findings: Findings(standing), spent, writes }
}

fn is_spent(finding: &Finding, loaded: &Loaded, now: Ms) -> bool {
    let Some(intent) = finding.intent.as_ref().filter(|_| finding.kind == RuleKind::Strike) else { return false };
    loaded
        .strikes
        .iter()
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
        Kind::PostToolBatch | Kind::UserPromptSubmit | Kind::Stop | Kind::SubagentStop | Kind::StopFailure
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
