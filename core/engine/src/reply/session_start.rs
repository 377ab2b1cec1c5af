//! SessionStart: what a new session is given to know.

use super::{Moment, Said};
use crate::context::{self, ContextBudget};
use crate::fleet::messages;
use model::reply::{ByFamily, Context, Reply};

pub fn say(moment: &Moment<'_>) -> Said {
    let mut said = Said::default();
    let mut budget = ContextBudget::default();
    moment.memory.tell(&mut budget);
    messages::add_to(&moment.loaded.messages, &mut budget);
    context::tell(&moment.settings(), moment.facts, &mut budget);
    let text = moment.fit(budget, &mut said);
    said.reply = Reply { answer: ByFamily::Context(Context { text }), ..Reply::default() };
    said
}
