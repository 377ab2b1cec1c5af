//! Which rows a decision needs besides those that tell whom its event is about,
//! and what only stored rows can make it ask of the world.

use crate::cards::tells_of_cards;
use crate::event_context::EventContext;
use crate::memory::{ask, begin, note, offer, reading, settings};
use crate::{checkpoints, context, reply, session, status, strikes};
use grammar::{AgentCommand, AgentLine};
use model::event::{Body, Envelope, EventKind};
use model::fact::Probe;
use model::fleet::WORKER_NOTICES;
use model::{Level, Loaded, Needs};

/// Places the event, and says what else is to be loaded for it.
pub fn needs(event: &EventContext<'_>) -> Needs {
    let placed = if event.is_process() { event.placed.clone() } else { session::place(event) };
    let event = &EventContext { placed: &placed, ..*event };
    let mut needs = effort_rows(event);
    for_command(event, &mut needs);
    to_be_shown(event, &mut needs);
    needs.cards = event.own_session().filter(|_| tells_of_cards(event.envelope)).map(|session| session.id.clone());
    needs.agent_name = event.policy.sections.notify.rings();
    needs.allowances = event.findings.level() >= Level::Ask;
    Needs { placed, ..needs }
}

/// What must still be asked now that the stored rows are known, of an event that
/// is placed. Empty on the ordinary way; else the transaction is given up and
/// begun again with the answers.
pub fn raised(event: &EventContext<'_>) -> Vec<Probe> {
    let mut asks = session::rivals(event);
    asks.extend(context::inherited(event));
    asks.extend(ask::raised(event));
    asks.extend(offer::raised(event));
    asks.extend(checkpoints::raised(event));
    asks.extend(strikes::raised(event));
    asks
}

/// These events may release tasks or write a hand-over note, which must not be forgotten.
pub fn must_last(envelope: &Envelope, line: Option<&AgentLine>) -> bool {
    let ends = matches!(envelope.kind, EventKind::PreCompact | EventKind::SessionEnd);
    let calls = matches!(envelope.body, Body::Tool(_));
    ends || line.is_some_and(|line| calls && line.verb() == "session" && line.part() == "dehydrate")
}

fn effort_rows(event: &EventContext<'_>) -> Needs {
    let EventContext { envelope, who, policy, .. } = *event;
    let ours = event.own_session();
    let reports_to = ours.and_then(|session| session.memo.reports_to.clone());
    Needs {
        agents: agents(event),
        dialect: who.dialect.clone(),
        counted: ours.map(|session| (session.id.clone(), event.sub_agent().to_string())),
        counted_alone: !policy.sections.workflow.rule.is_empty(),
        hand_over: policy.sections.overflow.is_some()
            || matches!(
                envelope.kind,
                EventKind::SessionStart | EventKind::PreCompact | EventKind::PostCompact | EventKind::SessionEnd
            )
            || matches!(
                event.command(),
                Some(AgentCommand::Continue { .. } | AgentCommand::Dehydrate(_) | AgentCommand::Restart { .. })
            ),
        history: note::history(event),
        resumed: offer::resumed(event),
        sub_session: envelope.sub_agent.is_some(),
        all_directives: matches!(envelope.kind, EventKind::PostToolUse | EventKind::SubagentStart),
        project: event.project().to_string(),
        task: begin::begins(event).and_then(|start| begin::task(&start, event)),
        prompt_of: begin::begins(event).and_then(|_| event.own_session()).map(|session| session.id.clone()),
        started_by: who.started_by.clone().filter(|_| reports_to.is_none() && asks_for_starter(event)),
        reports_to,
        ..Needs::default()
    }
}

/// The agents whose efforts and notes the event may be about: its own, and at
/// its start the one of the session that it follows.
fn agents(event: &EventContext<'_>) -> Vec<String> {
    let Loaded { open, last_ended, .. } = event.loaded;
    let prev = event.session().filter(|_| event.placed.opened).and_then(|session| session.prev.as_ref());
    let prev = prev.and_then(|prev| open.iter().chain(last_ended).find(|session| session.id == *prev));
    let prev = prev.filter(|prev| prev.project == event.project());
    let own = event.agent();
    let others = prev.or(event.own_session()).map(|session| session.agent.clone()).filter(|agent| agent != own);
    [own.to_string()].into_iter().chain(others).collect()
}

fn for_command(event: &EventContext<'_>, needs: &mut Needs) {
    offer::needs(event, needs);
    match event.command() {
        Some(AgentCommand::Send { to, .. }) => needs.addressee = Some(to.clone()),
        Some(AgentCommand::Inbox) => needs.inbox = Some(session::taker(event)),
        _ => {}
    }
}

/// What waits for whom the event is about, where its answer can carry it.
fn to_be_shown(event: &EventContext<'_>, needs: &mut Needs) {
    let EventContext { envelope, who, loaded, .. } = *event;
    needs.teammate = status::teammate(envelope);
    if let Some(audience) = reply::shows_waiting(event) {
        needs.audience = audience;
        let carried = loaded.open.iter().filter(|session| who.carries(session));
        needs.injections = carried.map(|session| session.id.clone()).collect();
    }
    if reply::shows_messages(event) {
        needs.messages = Some(session::taker(event));
        let mode = event.session().and_then(|session| session.mode.as_deref());
        if !settings::hears_of_workers(event.policy, mode) {
            needs.unshown_kinds = &WORKER_NOTICES;
        }
    }
    if envelope.kind == EventKind::PostToolUse && reply::hears(envelope) {
        needs.listed = reading(event).map(|words| (who.project.clone(), words));
    }
}

/// Whom a worker reports to is looked for when it begins, and where it was not
/// known then, when it matters: also for a report within a longer line.
fn asks_for_starter(event: &EventContext<'_>) -> bool {
    let envelope = event.envelope;
    let line = envelope.tool().and_then(|call| call.command());
    let reports = line.is_some_and(|line| line.contains("worker"))
        || matches!(event.command(), Some(AgentCommand::Send { .. } | AgentCommand::Report { .. }));
    let told = matches!(envelope.kind, EventKind::SessionStart | EventKind::UserPromptSubmit | EventKind::SessionEnd);
    let asked = envelope.kind == EventKind::Stop && event.policy.sections.context.report;
    reports || told || asked
}
