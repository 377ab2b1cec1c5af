//! Stop: an agent may be asked to go on, for something that cannot wait. Never
//! twice in a row for the same, and never more often than the client allows.

use super::{ReplyDraft, SessionMark};
use crate::context::{ContextSettings, runtime, warning};
use crate::event_context::EventContext;
use crate::leases::Holding;
use model::event::{Body, Family};
use model::reply::{ByFamily, Feedback, Reply};
use model::session::{Once, Session};

/// In a row, without a person speaking. The client itself gives up at eight.
const MOST_STOPS: u8 = 3;

pub fn say(event: &EventContext<'_>, holding: &Holding) -> ReplyDraft {
    let asked = asked(event, holding).unwrap_or_default();
    let block = asked.first().map(|(text, _)| text.clone());
    let mut marks: Vec<SessionMark> = asked.into_iter().map(|(_, mark)| mark).collect();
    if block.is_some() {
        marks.push(SessionMark::StopRefused);
    }
    let answer = ByFamily::Feedback(Feedback { block, ..Feedback::default() });
    ReplyDraft { reply: Reply { answer, ..Reply::nothing(Family::Feedback) }, marks, ..ReplyDraft::default() }
}

/// What is asked of the agent before it stops, and what is remembered of it.
fn asked(event: &EventContext<'_>, holding: &Holding) -> Option<Vec<(String, SessionMark)>> {
    let Body::Stop { hook_active: false, background, .. } = event.envelope.body else { return None };
    let session = event.session().filter(|session| !event.placed.opened && session.memo.stops < MOST_STOPS)?;
    if event.envelope.sub_agent.is_some() || holding.halted {
        return None;
    }
    let settings = ContextSettings::of(event.policy);
    if let Some(due) = warning::due(session, &settings).filter(|due| due.level >= warning::WORTH_A_TURN) {
        return Some(vec![(due.text, SessionMark::Warned(due.level))]);
    }
    let report = wants_report(session, &settings) && background == 0;
    report.then(|| vec![(runtime::report(&settings), SessionMark::Once(Once::ReportAsked))])
}

fn wants_report(session: &Session, settings: &ContextSettings) -> bool {
    let told = [Once::ReportAsked, Once::Wrote, Once::Reported].into_iter().any(|once| session.memo.has(once));
    settings.report && session.mode.as_deref() == Some("background") && !told
}
