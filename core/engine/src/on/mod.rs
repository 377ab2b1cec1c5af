//! What each family of events is answered with. One file per family or event
//! that has something to say.

mod config_change;
mod gate;
mod pre_compact;
mod prompt;

use crate::holding::Holding;
use model::effect::Write;
use model::event::{Envelope, Family, Kind};
use model::fact::Facts;
use model::reply::{ByFamily, GateStop, Reply};
use model::session::Session;
use model::{Findings, Level, Loaded, Ms, Who};
use policy::Policy;

/// All that an answer may depend on. One snapshot for every gate.
#[derive(Clone, Copy)]
pub struct Moment<'a> {
    pub envelope: &'a Envelope,
    pub who: &'a Who,
    pub loaded: &'a Loaded,
    pub facts: &'a Facts,
    pub policy: &'a Policy,
    /// What still stands against a tool call.
    pub findings: &'a Findings,
    /// The session as it was before the event.
    pub session: Option<&'a Session>,
    /// What becomes of the agent's tasks.
    pub holding: &'a Holding,
    pub now: Ms,
}

/// An answer, and what is to be stored because of it.
#[derive(Default)]
pub struct Said {
    pub reply: Reply,
    pub writes: Vec<Write>,
    /// Rules besides the guard's that spoke.
    pub rules: Vec<String>,
}

impl From<Reply> for Said {
    fn from(reply: Reply) -> Self {
        Self { reply, ..Self::default() }
    }
}

pub fn say(moment: &Moment<'_>) -> Said {
    match moment.envelope.kind {
        Kind::ConfigChange => config_change::say(moment),
        Kind::PreCompact => pre_compact::say(moment),
        Kind::PreToolUse if moment.holding.halted => gate::halted().into(),
        Kind::UserPromptSubmit => prompt::say(moment),
        kind => match kind.family() {
            Family::Gate => gate::reply(moment.findings).into(),
            family => Reply::nothing(family).into(),
        },
    }
}

/// Whether an event can carry what was stored to be told.
pub fn tells(envelope: &Envelope) -> bool {
    envelope.kind == Kind::UserPromptSubmit && envelope.sub_agent.is_none()
}

/// The reason a reply gives for stopping something, if it stops anything.
pub fn reason(reply: &Reply) -> Option<String> {
    match &reply.answer {
        ByFamily::Gate(gate) => gate.stop.as_ref().map(|stop| match stop {
            GateStop::Ask { reason } | GateStop::Deny { reason, .. } => reason.clone(),
        }),
        ByFamily::Permission(permission) => permission.deny.clone(),
        ByFamily::Feedback(feedback) => feedback.block.clone(),
        ByFamily::Veto(veto) => veto.block.clone(),
        ByFamily::Context(_) | ByFamily::Silent => None,
    }
}

/// How strict a reply is, whoever made it.
pub fn level(reply: &Reply) -> Level {
    match &reply.answer {
        ByFamily::Gate(gate) => match &gate.stop {
            Some(GateStop::Deny { .. }) => Level::Deny,
            Some(GateStop::Ask { .. }) => Level::Ask,
            None if gate.context.is_some() => Level::Warn,
            None => Level::Pass,
        },
        _ if reason(reply).is_some() => Level::Deny,
        _ => Level::Pass,
    }
}
