//! PostToolUse: warnings that are due come beside the tool's result.

use super::{ReplyDraft, SessionMark};
use crate::context::{ContextBudget, ContextSettings, Rank, warning};
use crate::event_context::EventContext;
use crate::fleet::messages;
use crate::memory::Memory;
use model::reply::{ByFamily, Feedback, Reply};

pub fn say(event: &EventContext<'_>, memory: &Memory) -> ReplyDraft {
    let mut said = ReplyDraft::default();
    let mut budget = ContextBudget::default();
    memory.add_to(&mut budget);
    for waiting in &event.loaded.waiting {
        budget.say(Rank::Message, waiting.text.as_str());
    }
    messages::add_to(&event.loaded.messages, &mut budget);
    if let Some(session) = event.session().filter(|_| !event.placed.opened && event.envelope.sub_agent.is_none()) {
        if let Some(warning) = warning::due(session, &ContextSettings::of(event.policy)) {
            budget.say(Rank::Warning, warning.text);
            said.marks.push(SessionMark::Warned(warning.level));
        }
        let read = event.envelope.tool().and_then(|call| call.read_file());
        said.marks
            .extend(read.filter(|_| !session.memo.unread.is_empty()).map(|path| SessionMark::Read(path.to_string())));
    }
    let context = said.fit(budget, event);
    said.reply = Reply { answer: ByFamily::Feedback(Feedback { context, ..Feedback::default() }), ..Reply::default() };
    said
}
