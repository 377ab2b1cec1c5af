//! Overflow: an agent whose context is nearly full saves what it knows before
//! it does anything else.

use super::{GateOpinion, GatedCall, finding, is_line};
use crate::event_context::EventContext;
use crate::memory::path::{normal, within};
use crate::memory::settings::{self, Overflow, Scale};
use grammar::{HAND_OVER_EXAMPLE, HAND_OVER_USAGE};
use model::RuleKind;
use model::session::{Once, Session};
use policy::Policy;
use policy::config::sections::{OverflowSection, SkillOverflow};

pub const RULE: &str = "overflow";

pub fn word(event: &EventContext<'_>, gated: &GatedCall<'_>) -> GateOpinion {
    let Some(overflow) = settings::overflow(event.policy, gated.skill.as_ref()) else { return GateOpinion::Open };
    let Some(percent) = percent(event, overflow) else { return GateOpinion::Open };
    if event.envelope.sub_agent.is_some() {
        return GateOpinion::Open;
    }
    if percent < overflow.at {
        return warning(event, gated, overflow, percent);
    }
    if saves_state(event, gated) {
        return GateOpinion::WayOut;
    }
    let way = if event.handed_over() {
        "Your hand-over note is stored. End your turn now: the next session of this agent continues from it."
            .to_string()
    } else {
        format!(
            "Save what you know now, with exactly this command (and nothing else in the line):\n{HAND_OVER_EXAMPLE}\n{HAND_OVER_USAGE} Then end your turn."
        )
    };
    let reason = format!(
        "the context is {percent:.0} % full, past the limit of {:.0} %. No other tool runs. {way}",
        overflow.at
    );
    GateOpinion::Deny(finding(RULE, RuleKind::Deny, gated, reason))
}

/// Said once in a session, before the gate closes.
fn warning(event: &EventContext<'_>, gated: &GatedCall<'_>, overflow: Overflow, percent: f64) -> GateOpinion {
    let told = event.session().is_some_and(|session| session.memo.has(Once::OverflowWarning));
    if percent < overflow.warn || told || saves_state(event, gated) {
        return GateOpinion::Open;
    }
    let reason = format!(
        "the context is {percent:.0} % full; from {:.0} % on no tool runs but what saves. Finish the step you are at, \
         then save what you know:\n{HAND_OVER_EXAMPLE}\n{HAND_OVER_USAGE}",
        overflow.at
    );
    GateOpinion::Warn(finding(RULE, RuleKind::Warn, gated, reason))
}

/// The context is nearly full, though nothing is closed yet.
pub fn warns(event: &EventContext<'_>, gated: &GatedCall<'_>) -> bool {
    settings::overflow(event.policy, gated.skill.as_ref())
        .and_then(|overflow| percent(event, overflow).map(|percent| percent >= overflow.warn))
        .unwrap_or_default()
}

/// Unknown is unknown, and closes nothing.
pub fn percent(event: &EventContext<'_>, overflow: Overflow) -> Option<f64> {
    let session = event.session()?;
    match overflow.scale {
        Scale::Limit => session.context_percent(),
        Scale::Raw => session.raw_context_percent(),
    }
}

/// Whether the gate may be closed, as far as the configuration tells: skills that say so in their own files aside.
pub fn may_be_past(policy: &Policy, session: &Session) -> bool {
    let sections = &policy.sections;
    let skills = sections.skills.values().filter_map(|skill| skill.overflow.as_ref());
    let own = skills.filter_map(|overflow| match overflow {
        SkillOverflow::At(percent) => Some(*percent),
        SkillOverflow::Table(table) => table.at,
        SkillOverflow::Switch(_) => None,
    });
    let default = OverflowSection::default().at;
    let section = sections.overflow.as_ref().map(|section| section.at);
    let lowest = own.chain(section).fold(default, f64::min);
    let configured = section.is_some() || sections.skills.values().any(|skill| skill.overflow.is_some());
    let percents = [session.context_percent(), session.raw_context_percent()];
    configured && percents.into_iter().flatten().any(|percent| percent >= lowest)
}

fn saves_state(event: &EventContext<'_>, gated: &GatedCall<'_>) -> bool {
    if is_line(event, &["session", "effort", "log", "remember", "status", "task"]) {
        return true;
    }
    if let Some(skill) = &gated.call.subject.skill {
        return matches!(skill.as_str(), "dehydrate" | "session");
    }
    let written = gated.call.written_file().map(|path| normal(path, event.cwd(), &event.places.home));
    written.zip(gated.effort).is_some_and(|(path, effort)| within(&path, &effort.folder))
}
