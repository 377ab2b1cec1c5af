//! SessionStart: what a new session is given to know.

use super::{ReplyDraft, SessionMark};
use crate::context::{self, ContextBudget};
use crate::event_context::EventContext;
use crate::fleet::messages;
use crate::memory::Memory;
use model::reply::{ByFamily, Context, Reply};

pub fn say(event: &EventContext<'_>, memory: &Memory) -> ReplyDraft {
    let mut said = ReplyDraft::default();
    let mut budget = ContextBudget::default();
    memory.add_to(&mut budget);
    messages::add_to(&event.loaded.messages, &mut budget);
    context::add_to(event, &mut budget);
    let text = said.fit(budget, event);
    said.marks.extend(memory.offered.clone().map(SessionMark::Offered));
    let user_line = memory.user_line.clone();
    said.reply = Reply { answer: ByFamily::Context(Context { text }), user_line, ..Reply::default() };
    said
}
