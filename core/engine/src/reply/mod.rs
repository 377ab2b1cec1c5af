//! What each family of events is answered with. One file per family or event
//! that has something to say.

mod config_change;
mod express;
mod gate;
mod pre_compact;
mod prompt;
mod session_start;
mod stop;
mod stop_failure;
mod tool_done;

use crate::context::{ContextBudget, ContextSettings};
use crate::decide::Ids;
use crate::leases::Holding;
use crate::memory::Memory;
use model::effect::{Audience, Injection, Write};
use model::effort::MemoryWrite;
use model::event::{Envelope, EventKind, Family};
use model::fact::Facts;
use model::reply::{ByFamily, Context, GateStop, Reply};
use model::session::{ContextMemo, Once, Session};
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
    /// The session as it was before the event, its context measured anew.
    pub session: Option<&'a Session>,
    /// The event opened it: there was none before, or nothing stored can be seen.
    pub opened: bool,
    /// What becomes of the agent's tasks.
    pub holding: &'a Holding,
    /// What becomes of its effort, and what the gates say.
    pub memory: &'a Memory,
    pub now: Ms,
    pub ids: Ids<'a>,
}

/// An answer, and what is to be stored because of it.
#[derive(Default)]
pub struct Said {
    pub reply: Reply,
    pub writes: Vec<Write>,
    /// Rules besides the guard's that spoke.
    pub rules: Vec<String>,
    /// What the session remembers of it.
    pub marks: Vec<SessionMark>,
}

/// Something a session remembers of what it was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionMark {
    Warned(u8),
    Once(Once),
    /// A stop was refused.
    StopRefused,
    /// A person spoke: whatever was refused in a row is over.
    Fresh,
    /// Files that were named because there was no room for them.
    Unread(Vec<String>),
    /// A file that was read.
    Read(String),
}

/// More files than this are not waited for.
const MOST_UNREAD: usize = 32;

impl SessionMark {
    pub fn set(self, memo: &mut ContextMemo) {
        match self {
            Self::Warned(level) => memo.warned = memo.warned.max(level),
            Self::Once(once) if memo.has(once) => {}
            Self::Once(once) => memo.once.push(once),
            Self::StopRefused => memo.stops = memo.stops.saturating_add(1),
            Self::Fresh => {
                memo.stops = 0;
                if let Some(woken) = &mut memo.woken {
                    woken.row = 0;
                }
            }
            Self::Unread(paths) => {
                memo.unread.extend(paths);
                memo.unread.truncate(MOST_UNREAD);
            }
            Self::Read(path) => memo.unread.retain(|known| *known != path),
        }
    }
}

impl Moment<'_> {
    pub fn settings(&self) -> ContextSettings {
        ContextSettings::of(self.policy)
    }

    /// The text that fits, and what becomes of the rest: files wait to be read,
    /// texts for the next chance.
    pub fn fit(&self, budget: ContextBudget, said: &mut Said) -> Option<String> {
        let mut fitted = budget.fit();
        let carries = self.envelope.agent.expresses.context;
        if !carries.has(self.envelope.kind) {
            // An event that cannot carry it leaves it to one that can, if there is one.
            let later = [EventKind::UserPromptSubmit, EventKind::PostToolUse].into_iter().any(|kind| carries.has(kind));
            fitted.deferred.extend(fitted.text.take().filter(|_| later));
        }
        if let Some(session) = self.session {
            said.writes.extend(fitted.deferred.into_iter().map(|text| {
                Write::Injection(Injection { session: session.id.clone(), audience: Audience::Model, text })
            }));
        }
        let at = self.now;
        said.writes
            .extend(fitted.told.into_iter().map(|message| Write::Memory(MemoryWrite::Delivered { message, at })));
        if !fitted.unread.is_empty() {
            said.marks.push(SessionMark::Unread(fitted.unread));
        }
        fitted.text
    }
}

impl From<Reply> for Said {
    fn from(reply: Reply) -> Self {
        Self { reply, ..Self::default() }
    }
}

pub fn say(moment: &Moment<'_>) -> Said {
    let mut said = by_event(moment);
    said.reply = express::expressible(said.reply, moment.envelope);
    said
}

fn by_event(moment: &Moment<'_>) -> Said {
    match moment.envelope.kind {
        EventKind::ConfigChange => config_change::say(moment),
        EventKind::PreCompact => pre_compact::say(moment),
        EventKind::PreToolUse if moment.holding.halted => gate::halted().into(),
        EventKind::SessionStart => session_start::say(moment),
        EventKind::UserPromptSubmit => prompt::say(moment),
        EventKind::PostToolUse => tool_done::say(moment),
        EventKind::Stop => stop::say(moment),
        EventKind::StopFailure => stop_failure::say(moment),
        kind => match kind.family() {
            Family::Gate => gate::say(moment),
            Family::Context => context(moment),
            family => Reply::nothing(family).into(),
        },
    }
}

/// An effort that begins, and what a sub-agent is to know of it.
fn context(moment: &Moment<'_>) -> Said {
    let mut said = Said::default();
    let mut budget = ContextBudget::default();
    moment.memory.tell(&mut budget);
    let text = moment.fit(budget, &mut said);
    said.reply = Reply { answer: ByFamily::Context(Context { text }), ..Reply::default() };
    said
}

/// Whether an event can carry messages. A sub-agent's cannot: they are for its parent.
pub fn tells_messages(envelope: &Envelope) -> bool {
    let carries =
        matches!(envelope.kind, EventKind::SessionStart | EventKind::UserPromptSubmit | EventKind::PostToolUse);
    carries && hears(envelope)
}

/// Whether the event's own agent can be given context with its answer.
fn hears(envelope: &Envelope) -> bool {
    envelope.sub_agent.is_none() && envelope.agent.expresses.context.has(envelope.kind)
}

/// Whether an event can carry what was stored to be told.
pub fn tells(envelope: &Envelope) -> bool {
    envelope.kind == EventKind::UserPromptSubmit && hears(envelope)
}

/// Whether an event can carry what is for the model alone.
pub fn tells_model(envelope: &Envelope) -> bool {
    envelope.kind == EventKind::PostToolUse && hears(envelope)
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
        // Going on is asked of the model here, and nothing is denied to it.
        ByFamily::Feedback(feedback) if feedback.block.is_some() => Level::Warn,
        _ if reason(reply).is_some() => Level::Deny,
        _ => Level::Pass,
    }
}
