//! UserPromptSubmit: what is due is told, each thing once, in one budget.

use super::{ReplyDraft, SessionMark, pre_compact, sent_back};
use crate::context::runtime::{self, EffortSummary};
use crate::context::{ContextBudget, ContextSettings, Rank, warning};
use crate::event_context::EventContext;
use crate::fleet::messages;
use crate::fleet::wake::{WakeUp, wake_up};
use crate::leases;
use crate::memory::Memory;
use model::effect::Audience;
use model::event::{Body, Envelope};
use model::reply::{ByFamily, Context, Reply};
use model::session::{Once, Session};

pub fn say(event: &EventContext<'_>, memory: &Memory) -> ReplyDraft {
    let woken = woken(event.envelope);
    // Our own words alone are not a person's: what was refused in a row goes on counting.
    let ours = woken == Some(WakeUp::Alone) || is_sent_back(event);
    let marks = Vec::from_iter((!ours).then_some(SessionMark::Fresh));
    let mut said = ReplyDraft { marks, ..ReplyDraft::default() };
    let mut budget = ContextBudget::default();
    memory.add_to(&mut budget);
    for text in waiting(event, Audience::Model) {
        budget.say(Rank::Message, text);
    }
    if let Some(woken) = woken {
        budget.say(Rank::Message, messages::woken(woken, &event.loaded.messages));
    }
    messages::add_to(&event.loaded.messages, &mut budget);
    if let Some(session) = event.session().filter(|_| !event.placed.opened && event.envelope.sub_agent.is_none()) {
        remind(event, memory, session, &mut budget, &mut said);
    }
    let text = said.fit(budget, event);
    let mut lines = waiting(event, Audience::User);
    if event.placed.opened && leases::was_halted(event.loaded, event.who) {
        lines.push(pre_compact::USER_LINE);
    }
    lines.extend(memory.user_line.as_deref());
    let user_line = (!lines.is_empty()).then(|| lines.join("\n\n"));
    said.reply = Reply { answer: ByFamily::Context(Context { text }), user_line, ..Reply::default() };
    said
}

fn woken(envelope: &Envelope) -> Option<WakeUp> {
    match &envelope.body {
        Body::Prompt { text } => wake_up(text),
        _ => None,
    }
}

fn is_sent_back(event: &EventContext<'_>) -> bool {
    let remembered = event.session().and_then(|session| session.memo.sent_back.as_deref());
    match (&event.envelope.body, remembered) {
        (Body::Prompt { text }, Some(remembered)) => sent_back::is_ours(text, remembered),
        _ => false,
    }
}

fn waiting<'a>(event: &EventContext<'a>, audience: Audience) -> Vec<&'a str> {
    let waiting = &event.loaded.waiting;
    waiting.iter().filter(|one| one.audience == audience).map(|one| one.text.as_str()).collect()
}

fn remind(
    event: &EventContext<'_>,
    memory: &Memory,
    session: &Session,
    budget: &mut ContextBudget,
    said: &mut ReplyDraft,
) {
    let settings = ContextSettings::of(event.policy);
    if settings.runtime {
        budget.say(Rank::Effort, runtime::line(session, work(memory), event.now));
    }
    if let Some(warning) = warning::due(session, &settings) {
        budget.say(Rank::Warning, warning.text);
        said.marks.push(SessionMark::Warned(warning.level));
    }
    if settings.session_required && work(memory).skill.is_none() {
        budget.say(Rank::Effort, runtime::activation(event.envelope.agent, &settings));
    }
    if let Some(reminder) = runtime::status_reminder(session, &settings, event.now) {
        budget.say(Rank::Note, reminder);
        said.marks.push(SessionMark::Once(Once::StatusReminder));
    }
}

/// What the session works on.
fn work(memory: &Memory) -> EffortSummary<'_> {
    EffortSummary::of(&memory.report)
}
