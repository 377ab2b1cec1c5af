//! What an event does to the tasks of its agent: any event renews and carries
//! them over, a full context window and the end of a session let them go.

use crate::event_context::{EventContext, carries};
use crate::queue::{self, CONTEXT_LIMIT, HeldTask, SESSION_ENDED};
use model::event::{Body, Envelope, EventKind};
use model::session::Session;
use model::task::TaskTransition;
use model::who::Supervision;
use model::{Loaded, Ms, Who};
use policy::config::sections::Compaction;

/// The client's word for why it was stopped, as older loops know it.
pub const STOP_REASON: &str = "Context Limit Reached";

#[derive(Debug, Default)]
pub struct Holding {
    pub turns: Vec<TaskTransition>,
    /// For the log, one for each task that was let go: names agent and task.
    pub warnings: Vec<String>,
    /// The agent is to stop now, or was told so and has not.
    pub halted: bool,
}

pub fn step(event: &EventContext<'_>) -> Holding {
    let EventContext { envelope, loaded, placed, now, .. } = *event;
    let mut holding = Holding::default();
    for gone in placed.ended.iter().filter(|session| is_lost(session)) {
        holding.let_go(&of_session(loaded, gone), SESSION_ENDED, now);
    }
    let Some(session) = &placed.current else {
        holding.halted = is_halted(event);
        if ends(envelope) && !holding.halted {
            holding.let_go(&left_behind(event), SESSION_ENDED, now);
        }
        return holding;
    };
    let held = queue::held(&loaded.held, session);
    if ends(envelope) {
        holding.let_go(&held, SESSION_ENDED, now);
    } else if fills_up(envelope)
        && stops(event)
        && (!held.is_empty() || works(event, session) || restarts(event, session))
    {
        holding.let_go(&held, CONTEXT_LIMIT, now);
        holding.halted = true;
    } else {
        holding.turns.extend(queue::inherit_and_renew(&held, session, now));
    }
    holding
}

/// A session that was stopped at its context limit and whose client goes on
/// all the same: it is told again, until a person speaks or a session starts.
pub fn was_halted(loaded: &Loaded, who: &Who) -> bool {
    loaded.last_ended.as_ref().is_some_and(|session| {
        let same_client = match (session.client, who.client) {
            (Some(theirs), Some(ours)) => theirs.pid == ours.pid,
            _ => true,
        };
        session.logical_id == who.logical_id && same_client && session.end_reason.as_deref() == Some(CONTEXT_LIMIT)
    })
}

impl Holding {
    fn let_go(&mut self, held: &[HeldTask<'_>], reason: &str, now: Ms) {
        let (turns, warnings) = queue::release_all(held, reason, now);
        self.turns.extend(turns);
        self.warnings.extend(warnings);
    }
}

fn is_halted(event: &EventContext<'_>) -> bool {
    event.envelope.kind != EventKind::SessionEnd && was_halted(event.loaded, event.who)
}

/// The end of a session, but not of its agent's work: a new session follows
/// `clear` and `resume`, and the tasks are its.
fn ends(envelope: &Envelope) -> bool {
    matches!(&envelope.body, Body::SessionEnd { reason } if !matches!(reason.as_str(), "clear" | "resume"))
}

fn fills_up(envelope: &Envelope) -> bool {
    let auto = matches!(&envelope.body, Body::Compact { trigger, .. } if trigger == "auto");
    auto && envelope.kind == EventKind::PreCompact && envelope.sub_agent.is_none()
}

/// `compaction.auto` says; else an agent that nobody watches stops, and one with a
/// person in front of it is compacted: blocked, it would end in "prompt is too long".
fn stops(event: &EventContext<'_>) -> bool {
    match event.policy.sections.compaction.auto {
        Some(Compaction::Stop | Compaction::Restart) => true,
        Some(Compaction::Allow) => false,
        None => event.who.standing != Supervision::Attended,
    }
}

/// It carries an effort, and is to be stopped by somebody's word: what it knows
/// is stored, and its next session goes on.
fn works(event: &EventContext<'_>, session: &Session) -> bool {
    let told = event.policy.sections.compaction.auto.is_some();
    told && event.loaded.efforts.efforts.iter().any(|effort| carries(session, effort))
}

/// Whoever started it starts it again, and tells it what it knew: `taut run` only where there is
/// something to tell, for a compaction keeps more than an empty note. A child of the supervised
/// client is nobody's to restart.
fn restarts(event: &EventContext<'_>, session: &Session) -> bool {
    let knows = match event.who.standing {
        Supervision::Iteration => true,
        Supervision::Supervised => {
            let told = event.policy.sections.compaction.auto == Some(Compaction::Restart);
            told || event.effort().is_some() || event.handed_over()
        }
        _ => false,
    };
    knows && session.parent.is_none()
}

/// Ended because its client died without a word.
fn is_lost(session: &Session) -> bool {
    matches!(session.end_reason.as_deref(), Some("client_gone" | "pane_reused"))
}

fn of_session<'t>(loaded: &'t Loaded, session: &Session) -> Vec<HeldTask<'t>> {
    let ours = |held: &HeldTask<'_>| held.hold.session.as_ref() == Some(&session.id);
    let holds = loaded.held.iter().filter_map(|task| task.hold.as_ref().map(|hold| HeldTask { task, hold }));
    holds.filter(ours).collect()
}

/// What an agent leaves whose session was never seen or has ended before. Not
/// where another client of its name has a session open: that one's are its own.
fn left_behind<'a>(event: &EventContext<'a>) -> Vec<HeldTask<'a>> {
    let Loaded { held, open, last_ended, .. } = event.loaded;
    let ended = last_ended.as_ref().filter(|session| session.logical_id == event.who.logical_id);
    let agent = ended.filter(|ended| event.who.carries(ended)).map_or(&event.who.agent, |ended| &ended.agent);
    if open.iter().any(|session| session.agent == *agent) {
        return Vec::new();
    }
    let holds = held.iter().filter_map(|task| task.hold.as_ref().map(|hold| HeldTask { task, hold }));
    let ours = |held: &HeldTask<'_>| match &held.hold.session {
        Some(id) => ended.is_some_and(|session| session.id == *id),
        None => held.hold.agent == *agent,
    };
    holds.filter(ours).collect()
}
