//! What a person ought to know of the configuration, once in a session, and never shown to the model.

use super::{ReplyDraft, SessionMark};
use crate::event_context::EventContext;
use crate::fleet::text::line;
use model::event::EventKind;
use model::session::Once;
use policy::config::CHANGED_SINCE_TRUSTED;
use policy::{Policy, Trust};

/// Characters of one mistake.
const MOST: usize = 400;

/// Adds the line for the user, where there is something to say and it was not said before.
pub fn add(event: &EventContext<'_>, said: &mut ReplyDraft) {
    let Some(text) = text(event.policy).filter(|_| is_due(event)) else { return };
    let before = said.reply.user_line.take();
    said.reply.user_line = Some(before.into_iter().chain([text]).collect::<Vec<_>>().join("\n\n"));
    said.marks.push(SessionMark::Once(Once::ConfigurationNotice));
}

fn is_due(event: &EventContext<'_>) -> bool {
    let carries = match event.envelope.kind {
        EventKind::SessionStart | EventKind::UserPromptSubmit => true,
        // Where nothing stored can be looked at every call would say it again.
        EventKind::PreToolUse | EventKind::PostToolUse => !event.places.blind,
        _ => false,
    };
    let told = event.session().is_some_and(|session| session.memo.has(Once::ConfigurationNotice));
    carries && !told && event.envelope.sub_agent.is_none() && event.late.is_none()
}

fn text(policy: &Policy) -> Option<String> {
    let changed = policy.trust == Trust::Changed;
    let changed = changed.then(|| format!("taut: this project's configuration {CHANGED_SINCE_TRUSTED}"));
    let unread = policy.unread.first().map(|first| {
        let more = match policy.unread.len() {
            1 => String::new(),
            all => format!(" and {} more", all - 1),
        };
        let first = line(&first.to_string(), MOST);
        format!(
            "taut: {first}{more}: what cannot be read holds as strictly as by default; `taut policy check` lists it"
        )
    });
    let lines: Vec<String> = changed.into_iter().chain(unread).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}
