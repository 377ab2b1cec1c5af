//! PreToolUse: the strictest verdict wins, all reasons of that level at once.
//! The model reads why and what to do instead; the user, how to overrule it.

use super::{ReplyDraft, pre_compact};
use crate::context::{ContextBudget, Rank};
use crate::event_context::EventContext;
use crate::fleet::messages;
use crate::memory::Memory;
use crate::{checkpoints, stops};
use model::reply::{ByFamily, Gate, GateStop, Reply};
use model::{Findings, Level, text};

/// What the guard and the gates say together, and what is told beside it.
pub fn say(event: &EventContext<'_>, memory: &Memory) -> ReplyDraft {
    let guard = event.findings;
    let gates = &memory.findings;
    let all = Findings(guard.0.iter().chain(gates).cloned().collect());
    let mut said = ReplyDraft::default();
    let code = stops::code(event).filter(|_| guard.level() == all.level());
    // It quotes the command, and a person reads it in a dialog.
    let beside = checkpoints::sentence(event).filter(|_| guard.level() == all.level() && gates.is_empty());
    let reason = || {
        let reason = text::lines(&policy::reason(&all), usize::MAX);
        beside.map_or(reason.clone(), |sentence| format!("{reason} {sentence}"))
    };
    let told = || match code {
        // Not the command that lets it pass: that is not for the model to type.
        Some(code) => format!("{}\n(code {code}: the user can let exactly this pass once.)", reason()),
        None => reason(),
    };
    let mut gate = match all.level() {
        Level::Pass => Gate::default(),
        Level::Warn => Gate { stop: None, context: Some(told()) },
        Level::Ask => Gate { stop: Some(GateStop::Ask { reason: told() }), context: None },
        Level::Deny => Gate { stop: Some(GateStop::Deny { reason: told(), halt: None }), context: None },
    };
    let mut budget = ContextBudget::default();
    memory.add_to(&mut budget);
    for waiting in &event.loaded.waiting {
        budget.say(Rank::Message, waiting.text.as_str());
    }
    messages::add_to(&event.loaded.messages, &mut budget);
    if let Some(text) = said.fit(budget, event) {
        gate.context = Some(gate.context.map_or(text.clone(), |context| format!("{context}\n\n{text}")));
    }
    let user_line = match all.level() {
        Level::Deny if guard.level() == Level::Deny => policy::way_out(guard, code),
        Level::Deny => Some("To lift this gate, in your own terminal: `taut pause 10m`.".to_string()),
        _ => None,
    };
    said.reply = Reply { answer: ByFamily::Gate(gate), user_line, ..Reply::default() };
    said
}

/// The call of an agent that was stopped at its context limit: it is denied,
/// and the client told to end, for it took no notice the first time.
pub fn halted() -> Reply {
    let stop = GateStop::Deny { reason: pre_compact::stop_text(), halt: Some(pre_compact::halt()) };
    let user_line = Some(pre_compact::USER_LINE.to_string());
    Reply { answer: ByFamily::Gate(Gate { stop: Some(stop), context: None }), user_line, ..Reply::default() }
}
