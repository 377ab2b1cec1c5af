//! Stop: an agent may be asked to go on, for something that cannot wait. Never
//! twice in a row for the same, and never so often that it would not end: some
//! clients go on for as long as they are asked to.

use super::{ReplyDraft, SessionMark, sent_back};
use crate::context::{ContextSettings, runtime, warning};
use crate::event_context::EventContext;
use crate::leases::Holding;
use crate::session::reports_to;
use model::event::{Body, Family};
use model::reply::{ByFamily, Feedback, Reply};
use model::session::{Once, Session};

/// In a row, without a person speaking, whatever the client counts. Of those that count, the strictest gives up at three.
const MOST_STOPS: u8 = 3;

/// Stands with a stop that was let go although something was still to be asked.
const LIMIT_RULE: &str = "stop-limit";

pub fn say(event: &EventContext<'_>, holding: &Holding) -> ReplyDraft {
    let (texts, mut marks): (Vec<String>, Vec<SessionMark>) = asked(event, holding).into_iter().unzip();
    // All that is asked for comes at once: the client's next stop is not refused again.
    let block = (!texts.is_empty()).then(|| texts.join("\n\n"));
    if block.is_some() && event.session().is_some_and(|session| session.memo.stops >= MOST_STOPS) {
        return let_go();
    }
    if let Some(text) = &block {
        marks.push(SessionMark::StopRefused(sent_back::beginning(text)));
    }
    let answer = ByFamily::Feedback(Feedback { block, ..Feedback::default() });
    ReplyDraft { reply: Reply { answer, ..Reply::nothing(Family::Feedback) }, marks, ..ReplyDraft::default() }
}

fn let_go() -> ReplyDraft {
    ReplyDraft {
        reply: Reply::nothing(Family::Feedback),
        rules: vec![LIMIT_RULE.to_string()],
        reason: Some(format!("sent back {MOST_STOPS} times in a row, so this stop was let go")),
        ..ReplyDraft::default()
    }
}

/// What is asked of the agent before it stops, and what is remembered of it.
fn asked(event: &EventContext<'_>, holding: &Holding) -> Vec<(String, SessionMark)> {
    let Body::Stop { hook_active: false, background, .. } = event.envelope.body else { return Vec::new() };
    let session = event.session().filter(|_| !event.placed.opened && event.envelope.sub_agent.is_none());
    let Some(session) = session.filter(|_| !holding.halted) else {
        return Vec::new();
    };
    let settings = ContextSettings::of(event.policy);
    let warning = warning::due(session, &settings).filter(|due| due.level >= warning::WORTH_A_TURN);
    let warning = warning.map(|due| (due.text, SessionMark::Warned(due.level)));
    let report = (background == 0 && wants_report(session, &settings)).then(|| {
        let starter = session.memo.reports_to.clone().or_else(|| reports_to(session, event.loaded));
        let to = if starter.is_some() { runtime::ReportTo::Starter } else { runtime::ReportTo::Anybody };
        (runtime::report(&settings, to), SessionMark::Once(Once::ReportAsked))
    });
    warning.into_iter().chain(report).collect()
}

fn wants_report(session: &Session, settings: &ContextSettings) -> bool {
    let told = [Once::ReportAsked, Once::Wrote, Once::Reported].into_iter().any(|once| session.memo.has(once));
    settings.report && session.mode.as_deref() == Some("background") && !told
}
