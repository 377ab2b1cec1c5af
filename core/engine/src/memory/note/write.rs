//! When a note is written, and where it is kept: before a context ends, or for a
//! session that ended without a word. Nothing where memory is off, and nothing of
//! a session in which nobody said anything.

use super::{LAST_WORDS, SUMMARY, compose, kept};
use crate::event_context::EventContext;
use crate::gates::overflow;
use crate::memory::execute::CommandResult;
use crate::memory::offer::is_stale_after;
use crate::memory::{Memory, hand_over, settings};
use crate::queue;
use grammar::AgentCommand;
use model::effect::After;
use model::effort::{Effort, EffortLineage, HandOver, MemoryWrite, StoredHandOver, UnfinishedKind, UnfinishedWork};
use model::event::{Body, EventKind};
use model::session::Session;
use model::session_work::{HistoryNeed, HistoryWhen, SessionHistory, SessionWork};
use model::who::Supervision;

/// Whether sessions leave notes here and are told of them.
pub fn is_on(event: &EventContext<'_>, current: Option<&Effort>) -> bool {
    match event.policy.sections.memory.enabled {
        Some(on) => on,
        None => current.is_some() || is_run(event),
    }
}

/// `taut run` goes on with what it ran before. The iterations of a loop are work of their own.
fn is_run(event: &EventContext<'_>) -> bool {
    event.who.standing == Supervision::Supervised
}

/// Whether a plain start goes on with what was before it.
pub fn follows(event: &EventContext<'_>) -> bool {
    event.session().is_some_and(|session| session.prev.is_some()) || !event.who.standing.is_loop()
}

/// The session whose events a note may be made of now.
pub fn history(event: &EventContext<'_>) -> Option<HistoryNeed> {
    let enabled = event.policy.sections.memory.enabled;
    let session = event.session().filter(|_| event.envelope.sub_agent.is_none() && enabled != Some(false))?;
    let of = |session: &str| HistoryNeed {
        session: session.to_string(),
        when: HistoryWhen::Always,
        only_with_effort: enabled.is_none() && !is_run(event),
    };
    match event.envelope.kind {
        EventKind::SessionStart => {
            let prev = session.prev.as_deref().filter(|_| event.placed.opened)?;
            Some(HistoryNeed { when: HistoryWhen::NewerThanNote, ..of(prev) })
        }
        // A task that is held, or a policy for full contexts, asks for one too (R2).
        EventKind::PreCompact => Some(HistoryNeed { only_with_effort: false, ..of(&session.id) }),
        EventKind::SessionEnd => Some(of(&session.id)),
        _ => {
            let saves = matches!(event.command(), Some(AgentCommand::Dehydrate(_) | AgentCommand::Restart { .. }));
            if saves {
                return Some(HistoryNeed { only_with_effort: false, ..of(&session.id) });
            }
            let full = event.envelope.kind == EventKind::PreToolUse && overflow::may_be_past(event.policy, session);
            full.then(|| HistoryNeed { when: HistoryWhen::WithoutNote, ..of(&session.id) })
        }
    }
}

/// PreCompact and SessionEnd.
/// `halted`: the agent is stopped now, and goes on only by a restart.
pub fn before_it_ends(event: &EventContext<'_>, current: Option<&Effort>, halted: bool, memory: &mut Memory) {
    let Some(session) = event.session().filter(|_| event.envelope.sub_agent.is_none()) else { return };
    let auto = matches!(&event.envelope.body, Body::Compact { trigger, .. } if trigger == "auto");
    let compaction = event.policy.sections.compaction.auto;
    if halted && auto && compaction == Some(settings::Compaction::Restart) && !event.handed_over() {
        memory.say_for_the_record(event, "restart_request", "the context is full".to_string());
    }
    let holds = || compaction.is_some() || !queue::held(&event.loaded.held, session).is_empty();
    let enabled = event.policy.sections.memory.enabled;
    if !is_on(event, current) && (enabled == Some(false) || !auto || !holds()) {
        return;
    }
    let note = composed(event, session);
    // Before a compaction something is better than nothing, but never than what is there.
    let note = note.or_else(|| (auto && event.account().is_none()).then(|| hand_over::mini(current, doing(session))));
    if let Some(note) = note {
        memory.take(stored(note, session, event));
    }
}

/// The overflow gate has closed: what is known is kept, whatever the agent makes of it.
pub fn at_the_limit(event: &EventContext<'_>, memory: &mut Memory) {
    let Some(session) = event.session().filter(|_| event.envelope.sub_agent.is_none()) else { return };
    let noted = event.account().is_some_and(|account| account.session == session.id);
    if noted || event.policy.sections.memory.enabled == Some(false) {
        return;
    }
    if let Some(note) = composed(event, session) {
        memory.take(stored(note, session, event));
    }
}

/// A session that opens after one that left no note, or did more after it: it died without a word.
pub fn at_the_start(
    event: &EventContext<'_>,
    session: &Session,
    current: Option<&Effort>,
    memory: &mut Memory,
) -> Option<StoredHandOver> {
    let history = &event.rows().history;
    let prev = session.prev.as_ref().filter(|prev| **prev == history.session && is_on(event, current))?;
    let last = history.events.first()?;
    let noted = event.account().filter(|account| account.session == *prev);
    if noted.is_some_and(|account| account.at >= last.at) {
        return None;
    }
    let hand_over = composed(event, session)?;
    let before = earlier(event, session).map(|earlier| earlier.title.as_str());
    let title = hand_over::title(&history.first_prompts, before);
    memory.after.extend(document(&hand_over, event));
    let note = StoredHandOver { session: prev.clone(), at: last.at, title, ..filed(hand_over, session, event) };
    memory.keeps.push(MemoryWrite::HandOver(Box::new(note.clone())));
    Some(note)
}

/// For a session whose client died without a word, once somebody asks for its work.
pub fn of_the_lost(history: &SessionHistory, work: &UnfinishedWork, project: &str) -> Option<StoredHandOver> {
    let done = compose(history, project, None)?;
    let effort = (work.kind == UnfinishedKind::Effort).then(|| work.id.clone());
    Some(StoredHandOver {
        agent: work.agent.clone(),
        session: history.session.clone(),
        effort,
        line: EffortLineage::Agent,
        at: history.events.first()?.at,
        project: project.to_string(),
        conversation: work.conversation.clone().unwrap_or_default(),
        title: hand_over::title(&history.first_prompts, None),
        told: false,
        unfinished: true,
        hand_over: HandOver { work: done, ..hand_over::composed(None, None) },
    })
}

/// PostCompact: what the client has kept of the context belongs to the note that was written before.
pub fn compacted(event: &EventContext<'_>, memory: &mut Memory) {
    let Body::Compact { summary: Some(summary), .. } = &event.envelope.body else { return };
    let Some(session) = event.session().filter(|_| event.envelope.sub_agent.is_none()) else { return };
    let ours =
        |account: &&StoredHandOver| account.session == session.id || Some(&account.session) == session.prev.as_ref();
    let Some(account) = event.account().filter(ours) else { return };
    if event.policy.sections.memory.enabled == Some(false) {
        return;
    }
    let mut note = account.clone();
    note.hand_over.work.compact_summary = Some(kept(summary, SUMMARY));
    memory.after.extend(document(&note.hand_over, event));
    memory.keeps.push(MemoryWrite::HandOver(Box::new(note)));
}

/// What the events of the session say, added to what its agent wrote itself.
fn composed(event: &EventContext<'_>, session: &Session) -> Option<HandOver> {
    let rows = event.rows();
    let earlier = earlier(event, session);
    let mut work = compose(&rows.history, &session.project, earlier.map(|earlier| &earlier.hand_over.work))?;
    if event.envelope.kind == EventKind::PreCompact {
        // In the middle of a turn nobody has told its last words yet.
        let tail = event.envelope.transcript.as_deref().and_then(|path| event.facts.transcript(path));
        let said = tail.and_then(event.envelope.agent.transcript.last_words);
        work.last_words =
            said.map(|said| kept(&crate::redact::text_without_secrets(&said), LAST_WORDS)).or(work.last_words);
    }
    let own = event.account().filter(|account| account.session == rows.history.session && !account.hand_over.mini);
    if let Some(own) = own {
        return Some(HandOver { work: SessionWork { carried_since: None, ..work }, ..own.hand_over.clone() });
    }
    Some(match earlier.filter(|earlier| !earlier.hand_over.mini || earlier.hand_over.work.carried_since.is_some()) {
        Some(earlier) => {
            work.carried_since = work.carried_since.or(Some(earlier.at));
            HandOver { mini: true, work, ..earlier.hand_over.clone() }
        }
        None => HandOver { work, ..hand_over::composed(event.effort(), doing(session)) },
    })
}

/// What it said of itself, unless memory was off when it may have.
fn doing(session: &Session) -> Option<&str> {
    session.status_text.as_deref().filter(|_| !session.memo.memory_off)
}

/// The note before, where the session goes on with that work.
fn earlier<'a>(event: &EventContext<'a>, session: &Session) -> Option<&'a StoredHandOver> {
    let hours = event.policy.sections.memory.stale_hours;
    let follows = session.prev.is_some() || !event.who.standing.is_loop();
    let earlier = event.rows().earlier_account.as_ref();
    earlier.filter(|earlier| follows && !is_stale_after(hours, event.now, earlier.at))
}

/// The account where the next session finds it, and beside the effort's artifacts.
fn stored(hand_over: HandOver, session: &Session, event: &EventContext<'_>) -> CommandResult {
    let after = document(&hand_over, event).into_iter().collect();
    let keep = MemoryWrite::HandOver(Box::new(filed(hand_over, session, event)));
    CommandResult { keeps: vec![keep], after, ..CommandResult::default() }
}

fn document(hand_over: &HandOver, event: &EventContext<'_>) -> Option<After> {
    let effort = event.effort()?;
    let text = hand_over::document(hand_over, Some(effort), event.now);
    Some(After::Replace { path: format!("{}/{}", effort.folder, hand_over::FILE), text })
}

fn filed(hand_over: HandOver, session: &Session, event: &EventContext<'_>) -> StoredHandOver {
    let rows = event.rows();
    let before = earlier(event, session).map(|earlier| earlier.title.as_str());
    StoredHandOver {
        agent: session.agent.clone(),
        session: session.id.clone(),
        effort: event.effort().map(|effort| effort.id.clone()),
        line: if session.parent.is_some() { EffortLineage::Child } else { EffortLineage::Agent },
        at: event.now,
        project: session.project.clone(),
        conversation: session.conversation.clone(),
        title: hand_over::title(&rows.history.first_prompts, before),
        told: false,
        unfinished: hand_over.is_unfinished(),
        hand_over,
    }
}

/// `taut session dehydrate`: the agent's own words, with what its events say beside them.
pub fn dehydrated(own: HandOver, session: &Session, event: &EventContext<'_>) -> CommandResult {
    let project = &session.project;
    let before = earlier(event, session).map(|earlier| &earlier.hand_over.work);
    let work = compose(&event.rows().history, project, before).unwrap_or_default();
    stored(HandOver { work: SessionWork { carried_since: None, ..work }, ..own }, session, event)
}

/// `taut session restart`: something only where there is something to go on with.
pub fn restarted(session: &Session, event: &EventContext<'_>) -> CommandResult {
    if event.memory_off() {
        return CommandResult::default();
    }
    let note = composed(event, session);
    let effort = event.effort().filter(|_| !event.handed_over());
    let note = note.or_else(|| effort.map(|effort| hand_over::mini(Some(effort), doing(session))));
    note.map_or_else(CommandResult::default, |note| stored(note, session, event))
}
