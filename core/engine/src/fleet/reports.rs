//! What is told of workers without their saying so: one that ends without a
//! word, a task of theirs that is settled, a helper that is done. A worker is a
//! session that another one started and named itself to.

use super::messages::{SUB_AGENT_DONE, TASK_DONE, TASK_FAILED, TEAMMATE_IDLE, WORKER_ENDED};
use super::text::line;
use crate::event_context::EventContext;
use crate::redact::text_without_secrets as clean;
use model::Ms;
use model::effort::{Addressee, Message};
use model::event::{Body, EventKind};
use model::session::{Once, Session};

/// After these the work goes on in another session.
const GOES_ON: &[&str] = &["clear", "resume", "compact", "fork", "restarted"];

/// So much of what others say is kept in a report.
const MOST: usize = 600;

/// The end of a worker that has not reported, told to whom it works for.
pub fn unreported(session: &Session, at: Ms) -> Option<Message> {
    let to = session.memo.reports_to.clone().filter(|_| !session.memo.has(Once::Reported))?;
    let reason = session.end_reason.as_deref().filter(|reason| !session.open() && !GOES_ON.contains(reason))?;
    let mut body = format!("worker {} ended without a report ({})", line(&session.agent, MOST), line(reason, MOST));
    if let Some(status) = &session.status_text {
        body.push_str(&format!("; it last said it was doing: {}", line(status, MOST)));
    }
    Some(message(WORKER_ENDED, session, to, body, at))
}

/// How a worker's task was settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkerResult<'a> {
    Done,
    Failed { reason: &'a str },
}

/// A worker's task that is done or failed, told to whom it works for.
pub fn task(session: &Session, slug: &str, settled: WorkerResult<'_>, at: Ms) -> Option<Message> {
    let to = session.memo.reports_to.clone()?;
    let (kind, body) = match settled {
        WorkerResult::Done => (TASK_DONE, format!("task {slug} is done")),
        WorkerResult::Failed { reason } => (TASK_FAILED, format!("task {slug} failed: {}", line(&clean(reason), MOST))),
    };
    let mut message = message(kind, session, to, body, at);
    message.id = format!("{}-{slug}-{}", message.id, at.0);
    Some(message)
}

/// What an event of the session's helpers tells the session itself. The host
/// gives a sub-agent's result to its parent already, so that is told only where
/// the configuration asks for it.
pub fn helper(event: &EventContext<'_>, session: &Session) -> Option<Message> {
    let EventContext { envelope, policy, ids, now, .. } = *event;
    let (kind, body) = match (envelope.kind, &envelope.body) {
        (EventKind::SubagentStop, Body::Stop { last_message, .. }) => {
            let sub = envelope.sub_agent.as_ref().filter(|sub| !sub.kind.is_empty())?;
            if !policy.sections.fleet.report_sub_agents {
                return None;
            }
            let said = last_message.as_deref().map(|said| format!(": {}", line(&clean(said), MOST)));
            let who = format!("{} ({})", line(&sub.kind, 80), line(&sub.id, 80));
            (SUB_AGENT_DONE, format!("sub-agent {who} is done{}", said.unwrap_or_default()))
        }
        // The session the event comes in is that of the teammate's lead.
        (EventKind::TeammateIdle, Body::Teammate { name }) if !name.is_empty() => {
            (TEAMMATE_IDLE, format!("teammate {} waits for work", line(name, 80)))
        }
        _ => return None,
    };
    let mut message = message(kind, session, session.conversation.clone(), body, now);
    message.id = format!("{}-{kind}", ids.event);
    Some(message)
}

fn message(kind: &str, session: &Session, to: String, body: String, at: Ms) -> Message {
    Message {
        id: format!("{}-{kind}", session.id),
        at,
        kind: kind.to_string(),
        from_agent: Some(session.agent.clone()),
        to: Some(Addressee::Conversation(to)),
        session: Some(session.id.clone()),
        body,
    }
}
