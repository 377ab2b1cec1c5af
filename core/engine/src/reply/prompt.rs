//! UserPromptSubmit: what is due is told, each thing once, in one budget.

use super::{Moment, Said, SessionMark};
use crate::context::runtime::{self, EffortSummary};
use crate::context::{ContextBudget, ContextSettings, Rank, warning};
use crate::fleet::messages;
use crate::fleet::wake::{WakeUp, wake_up};
use model::effect::Audience;
use model::event::{Body, Envelope};
use model::reply::{ByFamily, Context, Reply};
use model::session::{Once, Session};

pub fn say(moment: &Moment<'_>) -> Said {
    let woken = woken(moment.envelope);
    // Our own line alone is not a person's word: what was refused in a row goes on counting.
    let marks = Vec::from_iter((woken != Some(WakeUp::Alone)).then_some(SessionMark::Fresh));
    let mut said = Said { marks, ..Said::default() };
    let mut budget = ContextBudget::default();
    moment.memory.tell(&mut budget);
    for text in waiting(moment, Audience::Model) {
        budget.say(Rank::Message, text);
    }
    if let Some(woken) = woken {
        budget.say(Rank::Message, messages::woken(woken, &moment.loaded.messages));
    }
    messages::add_to(&moment.loaded.messages, &mut budget);
    if let Some(session) = moment.session.filter(|_| !moment.opened && moment.envelope.sub_agent.is_none()) {
        remind(moment, session, &mut budget, &mut said);
    }
    let text = moment.fit(budget, &mut said);
    let lines = waiting(moment, Audience::User);
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

fn waiting<'a>(moment: &Moment<'a>, audience: Audience) -> Vec<&'a str> {
    let waiting = &moment.loaded.waiting;
    waiting.iter().filter(|one| one.audience == audience).map(|one| one.text.as_str()).collect()
}

fn remind(moment: &Moment<'_>, session: &Session, budget: &mut ContextBudget, said: &mut Said) {
    let settings = moment.settings();
    if settings.runtime {
        budget.say(Rank::Effort, runtime::line(session, work(moment), moment.now));
    }
    if let Some(warning) = warning::due(session, &settings) {
        budget.say(Rank::Warning, warning.text);
        said.marks.push(SessionMark::Warned(warning.level));
    }
    if needs_activation(moment, &settings) {
        budget.say(Rank::Effort, runtime::activation(&settings));
    }
    if let Some(reminder) = runtime::status_reminder(session, &settings, moment.now) {
        budget.say(Rank::Note, reminder);
        said.marks.push(SessionMark::Once(Once::StatusReminder));
    }
}

fn needs_activation(moment: &Moment<'_>, settings: &ContextSettings) -> bool {
    settings.session_required && work(moment).skill.is_none()
}

/// What the session works on.
fn work<'a>(moment: &Moment<'a>) -> EffortSummary<'a> {
    let report = &moment.memory.report;
    let effort = report.effort.as_ref();
    let beats = report.skill.as_ref().is_some_and(|skill| skill.log);
    EffortSummary {
        skill: effort.map(|effort| effort.skill.as_str()),
        phase: effort.and_then(|effort| effort.phase.as_deref()),
        heartbeat: beats.then_some((report.heartbeat, report.block_after)),
    }
}
