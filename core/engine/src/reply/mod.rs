//! What each family of events is answered with. One file per family or event
//! that has something to say.

mod config_change;
mod express;
mod gate;
mod notice;
mod pre_compact;
mod prompt;
mod sent_back;
mod session_start;
mod stop;
mod stop_failure;
mod tool_done;

use crate::context::ContextBudget;
use crate::event_context::EventContext;
use crate::leases::Holding;
use crate::memory::Memory;
use model::Level;
use model::effect::{Audience, Injection, Write};
use model::effort::MemoryWrite;
use model::event::{Envelope, EventKind, Family};
use model::reply::{ByFamily, Context, GateStop, Reply};
use model::session::{ContextMemo, Offered, Once, ResultsBy};

/// An answer, and what is to be stored because of it.
#[derive(Default)]
pub struct ReplyDraft {
    pub reply: Reply,
    pub writes: Vec<Write>,
    /// Rules besides the guard's that spoke.
    pub rules: Vec<String>,
    /// For the record, where nothing is answered.
    pub reason: Option<String>,
    /// What the session remembers of it.
    pub marks: Vec<SessionMark>,
}

/// Something a session remembers of what it was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionMark {
    Warned(u8),
    Once(Once),
    /// A stop was refused with words that begin so.
    StopRefused(String),
    /// A person spoke: whatever was refused in a row is over, and what was offered is answered.
    Fresh,
    /// It was told of unfinished work.
    Offered(Offered),
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
            Self::StopRefused(words) => {
                memo.stops = memo.stops.saturating_add(1);
                memo.sent_back = Some(words);
            }
            Self::Fresh => {
                memo.stops = 0;
                memo.sent_back = None;
                if let Some(offered) = &mut memo.offered {
                    offered.fresh = false;
                }
                if let Some(woken) = &mut memo.woken {
                    woken.row = 0;
                }
            }
            Self::Offered(offered) => memo.offered = Some(offered),
            Self::Unread(paths) => {
                memo.unread.extend(paths);
                memo.unread.truncate(MOST_UNREAD);
            }
            Self::Read(path) => memo.unread.retain(|known| *known != path),
        }
    }
}

impl ReplyDraft {
    /// The text that fits, and what becomes of the rest: files wait to be read,
    /// texts for the next chance.
    fn fit(&mut self, budget: ContextBudget, event: &EventContext<'_>) -> Option<String> {
        let mut fitted = budget.fit();
        let carries = event.envelope.agent.expresses.context;
        if !carries.has(event.envelope.kind) || event.late.is_some() {
            // An event that cannot carry it leaves it to one that can, if there is one.
            let later = [EventKind::UserPromptSubmit, EventKind::PostToolUse].into_iter().any(|kind| carries.has(kind));
            fitted.deferred.extend(fitted.text.take().filter(|_| later));
        }
        if let Some(session) = event.session() {
            self.writes.extend(fitted.deferred.into_iter().map(|text| {
                Write::Injection(Injection { session: session.id.clone(), audience: Audience::Model, text })
            }));
        }
        let at = event.now;
        self.writes
            .extend(fitted.told.into_iter().map(|message| Write::Memory(MemoryWrite::Delivered { message, at })));
        if !fitted.unread.is_empty() {
            self.marks.push(SessionMark::Unread(fitted.unread));
        }
        fitted.text
    }
}

impl From<Reply> for ReplyDraft {
    fn from(reply: Reply) -> Self {
        Self { reply, ..Self::default() }
    }
}

pub fn say(event: &EventContext<'_>, holding: &Holding, memory: &Memory) -> ReplyDraft {
    let mut said = answer(event, holding, memory);
    notice::add(event, &mut said);
    said.reply = express::expressible(said.reply, event.envelope);
    said
}

fn answer(event: &EventContext<'_>, holding: &Holding, memory: &Memory) -> ReplyDraft {
    match event.envelope.kind {
        EventKind::ConfigChange => config_change::say(event),
        EventKind::PreCompact => pre_compact::say(holding),
        EventKind::PreToolUse if holding.halted => gate::halted().into(),
        EventKind::SessionStart => session_start::say(event, memory),
        EventKind::UserPromptSubmit => prompt::say(event, memory),
        EventKind::PostToolUse => tool_done::say(event, memory),
        EventKind::Stop => stop::say(event, holding),
        EventKind::StopFailure => stop_failure::say(event),
        kind => match kind.family() {
            Family::Gate => gate::say(event, memory),
            Family::Context => context(event, memory),
            family => Reply::nothing(family).into(),
        },
    }
}

/// An effort that begins, and what a sub-agent is to know of it.
fn context(event: &EventContext<'_>, memory: &Memory) -> ReplyDraft {
    let mut said = ReplyDraft::default();
    let mut budget = ContextBudget::default();
    memory.add_to(&mut budget);
    let text = said.fit(budget, event);
    said.reply = Reply { answer: ByFamily::Context(Context { text }), ..Reply::default() };
    said
}

/// Whether an event can carry messages. A sub-agent's cannot: they are for its parent.
pub fn shows_messages(event: &EventContext<'_>) -> bool {
    let carries = match event.envelope.kind {
        EventKind::SessionStart | EventKind::UserPromptSubmit => true,
        EventKind::PostToolUse => event.late.is_none(),
        EventKind::PreToolUse => is_told_before_calls(event),
        _ => false,
    };
    carries && hears(event.envelope)
}

/// In a session of whose results no hook tells, the next call is the first chance within a turn.
fn is_told_before_calls(event: &EventContext<'_>) -> bool {
    event.own_session().is_some_and(|session| session.memo.results == Some(ResultsBy::Transcript))
}

/// Whether the event's own agent can be given context with its answer.
pub fn hears(envelope: &Envelope) -> bool {
    envelope.sub_agent.is_none() && envelope.agent.expresses.context.has(envelope.kind)
}

/// Whose part of what was stored to be shown an event can carry: all of it beside
/// a prompt; a tool's result is not shown to the user.
pub fn shows_waiting(event: &EventContext<'_>) -> Option<Option<Audience>> {
    match event.envelope.kind {
        _ if !hears(event.envelope) => None,
        EventKind::UserPromptSubmit => Some(None),
        EventKind::PostToolUse if event.late.is_none() => Some(Some(Audience::Model)),
        EventKind::PreToolUse if is_told_before_calls(event) => Some(Some(Audience::Model)),
        _ => None,
    }
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
