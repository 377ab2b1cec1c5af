//! Overflow: an agent whose context is nearly full saves what it knows before
//! it does anything else.

use super::{GateOpinion, Snapshot, finding, is_line};
use crate::memory::command::ACCOUNT;
use crate::memory::path::{normal, within};
use crate::memory::settings::{self, Overflow, Scale};
use model::RuleKind;

pub const RULE: &str = "overflow";

pub fn word(snapshot: &Snapshot<'_>) -> GateOpinion {
    let Some(overflow) = settings::overflow(snapshot.policy, snapshot.skill) else { return GateOpinion::Open };
    let Some(percent) = percent(snapshot, overflow) else { return GateOpinion::Open };
    if percent < overflow.at || snapshot.by_sub_agent {
        return GateOpinion::Open;
    }
    if saves_state(snapshot) {
        return GateOpinion::WayOut;
    }
    let way = if snapshot.saved {
        "Your hand-over note is stored. End your turn now: the next session of this agent continues from it."
            .to_string()
    } else {
        format!(
            "Save what you know now, with exactly this command (and nothing else in the line):\n{ACCOUNT}\nThen end your turn."
        )
    };
    let reason = format!(
        "the context is {percent:.0} % full, past the limit of {:.0} %. No other tool runs. {way}",
        overflow.at
    );
    GateOpinion::Deny(finding(RULE, RuleKind::Deny, snapshot, reason))
}

/// The context is nearly full, though nothing is closed yet.
pub fn warns(snapshot: &Snapshot<'_>) -> bool {
    settings::overflow(snapshot.policy, snapshot.skill)
        .and_then(|overflow| percent(snapshot, overflow).map(|percent| percent >= overflow.warn.min(overflow.at)))
        .unwrap_or_default()
}

/// Unknown is unknown, and closes nothing.
pub fn percent(snapshot: &Snapshot<'_>, overflow: Overflow) -> Option<f64> {
    let session = snapshot.session?;
    match overflow.scale {
        Scale::Limit => session.context_percent(),
        Scale::Raw => session.raw_context_percent(),
    }
}

fn saves_state(snapshot: &Snapshot<'_>) -> bool {
    if is_line(snapshot, &["session", "effort", "log", "status", "task"]) {
        return true;
    }
    if let Some(skill) = &snapshot.call.subject.skill {
        return matches!(skill.as_str(), "dehydrate" | "session");
    }
    let written = snapshot.call.written_file().map(|path| normal(path, snapshot.cwd, snapshot.home));
    written.zip(snapshot.effort).is_some_and(|(path, effort)| within(&path, &effort.folder))
}
