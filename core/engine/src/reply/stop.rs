//! Stop: an agent may be asked to go on, for something that cannot wait. Never
//! twice in a row for the same, and never more often than the client allows.

use super::{ReplyDraft, SessionMark};
use crate::context::{ContextSettings, runtime, warning};
use crate::event_context::EventContext;
use crate::leases::Holding;
use crate::session::reports_to;
use model::event::{Body, Family};
use model::reply::{ByFamily, Feedback, Reply};
use model::session::{Once, Session};

/// In a row, without a person speaking. The client itself gives up at eight.
const MOST_STOPS: u8 = 3;

pub fn say(event: &EventContext<'_>, holding: &Holding) -> ReplyDraft {
    let (texts, mut marks): (Vec<String>, Vec<SessionMark>) = asked(event, holding).into_iter().unzip();
    // All that is asked for comes at once: the client's next stop is not refused again.
    let block = (!texts.is_empty()).then(|| texts.join("\n\n"));
    if block.is_some() {
        marks.push(SessionMark::StopRefused);
    }
    let answer = ByFamily::Feedback(Feedback { block, ..Feedback::default() });
    ReplyDraft { reply: Reply { answer, ..Reply::nothing(Family::Feedback) }, marks, ..ReplyDraft::default() }
}

/// What is asked of the agent before it stops, and what is remembered of it.
fn asked(event: &EventContext<'_>, holding: &Holding) -> Vec<(String, SessionMark)> {
    let Body::Stop { hook_active: false, background, .. } = event.envelope.body else { return Vec::new() };
    let session = event.session().filter(|session| !event.placed.opened && session.memo.stops < MOST_STOPS);
    let Some(session) = session.filter(|_| event.envelope.sub_agent.is_none() && !holding.halted) else {
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
