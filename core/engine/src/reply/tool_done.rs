//! PostToolUse: warnings that are due come beside the tool's result.

use super::{Moment, Said, SessionMark};
use crate::context::{ContextBudget, Rank, warning};
use crate::fleet::messages;
use model::reply::{ByFamily, Feedback, Reply};

pub fn say(moment: &Moment<'_>) -> Said {
    let mut said = Said::default();
    let mut budget = ContextBudget::default();
    moment.memory.tell(&mut budget);
    for waiting in &moment.loaded.waiting {
        budget.say(Rank::Message, waiting.text.as_str());
    }
    messages::add_to(&moment.loaded.messages, &mut budget);
    if let Some(session) = moment.session.filter(|_| !moment.opened && moment.envelope.sub_agent.is_none()) {
        if let Some(warning) = warning::due(session, &moment.settings()) {
            budget.say(Rank::Warning, warning.text);
            said.marks.push(SessionMark::Warned(warning.level));
        }
        let read = moment.envelope.tool().and_then(|call| call.read_file());
        said.marks
            .extend(read.filter(|_| !session.memo.unread.is_empty()).map(|path| SessionMark::Read(path.to_string())));
    }
    let context = moment.fit(budget, &mut said);
    said.reply = Reply { answer: ByFamily::Feedback(Feedback { context, ..Feedback::default() }), ..Reply::default() };
    said
}
