//! The decision on one event: what is said, what is written, what follows.

use crate::checkpoints::{self, CheckpointWish};
use crate::event_context::EventContext;
use crate::fleet::text::line;
use crate::fleet::{notify, reports};
use crate::memory::{self, RpcReport};
use crate::queue::CONTEXT_LIMIT;
use crate::reply::SessionMark;
use crate::session::reports_to;
use crate::{
    asks, cards, context, identity, leases, own_folder, record, redact, reply, run_files, session_note, state, status,
    stops, strikes,
};
use model::agent_name::NameWish;
use model::effect::{After, Write};
use model::effort::MemoryWrite;
use model::event::{Body, EventKind};
use model::reply::Reply;
use model::row::{Agent, Event};
use model::session::{ResultsBy, Session, SessionState};
use model::session_facts::SessionNote;
use model::{Finding, Findings, Level, Loaded, Ms, Placed};

pub struct Outcome {
    pub reply: Reply,
    /// To be committed, together with `event`, before the reply.
    pub writes: Vec<Write>,
    /// The event as it will be stored; whoever runs the way adds the answer and the cost.
    pub event: Event,
    pub after: Vec<After>,
    /// To be made before the reply is given.
    pub checkpoint: Option<CheckpointWish>,
    /// What a caller of the hook as a method is told besides.
    pub report: RpcReport,
}

/// Every rule that had a word, before all the one that decided.
fn deciding_first(mut rules: Vec<String>, guard: &Findings, gates: &[Finding]) -> Vec<String> {
    if rules.len() > 1 {
        let decided = policy::deciding(&Findings(guard.0.iter().chain(gates).cloned().collect()));
        rules.sort_by_key(|rule| decided.as_ref() != Some(rule));
    }
    rules
}

pub fn decide(event: &EventContext<'_>) -> Outcome {
    let EventContext { envelope, now, .. } = *event;
    // What was found quotes the command, and is stored, answered and compared from here on.
    let findings = Findings(event.findings.0.iter().cloned().map(redact::finding).collect());
    let findings = run_files::weigh(own_folder::lift(findings, event), began(event));
    let striker = strikes::Striker::of(event);
    let mut writes = strikes::delivered(event, &striker);
    let mut judged = strikes::judge(findings, event.loaded, &striker);
    let placed = observed(event);
    let event = &EventContext { placed: &placed, findings: &judged.findings, ..*event };
    let holding = leases::step(event);
    if !holding.halted {
        // What a stopped agent is denied is not the strike: it has not been told of it.
        writes.append(&mut judged.writes);
    }
    writes.extend(shown(event).into_iter().chain(cards::steps(event)));
    let memory = memory::step(event, &holding);
    let mut said = reply::say(event, &holding, &memory);
    if !holding.warnings.is_empty() {
        said.reply.warning = Some(holding.warnings.join("\n"));
    }
    // Told as it is stored: from here on only what may be kept.
    said.reply = redact::reply(said.reply);
    let verdict = reply::level(&said.reply);
    writes.extend(said.writes);
    writes.extend(memory.writes());

    let checkpoint = checkpoints::wish(event, &judged, verdict).filter(|_| !holding.halted);
    let mut row = record::event(event);
    row.verdict = verdict;
    let let_pass = judged.spent.iter().chain(judged.allowed.iter().map(|(finding, _)| finding));
    let found = judged.findings.0.iter().chain(let_pass).chain(&memory.findings);
    row.rules = deciding_first(found.map(|finding| finding.rule.clone()).collect(), &judged.findings, &memory.findings);
    if verdict < Level::Ask {
        writes.extend(judged.spending());
        stops::record_let_pass(&mut row, &judged);
    } else if !holding.halted {
        stops::record(&mut row, event, &memory.findings);
    }
    row.rules.extend(said.rules);
    row.reason = reply::reason(&said.reply).or(said.reason);
    let mut after = Vec::new();
    if envelope.kind == EventKind::SessionStart && placed.opened {
        after.push(After::EnsureDaemon);
    }
    writes.extend(ended(&placed, now));
    if let Some(current) = placed.current.clone() {
        said.marks.extend(memory.once.map(SessionMark::Once));
        let mut session = remembered(moved(current, event, verdict), said.marks, event, verdict);
        session.status_text = memory.status.clone().or(session.status_text);
        if let Some((prev, conversation)) = memory.follows.clone() {
            (session.prev, session.conversation) = (Some(prev), conversation);
        }
        if holding.halted {
            session = state::end(session, CONTEXT_LIMIT, now);
        }
        writes.extend(reports_of(&session, event));
        writes.extend(session_note::of_event(&session, event));
        row.session = Some(session.id.clone());
        row.agent.clone_from(&session.agent);
        record::chart(&mut row, &mut session);
        writes.extend(failed_tool(&session, &row, event));
        let agents = [teammate_row(event), agent_row(&session, verdict, event)];
        for agent in agents.into_iter().flatten() {
            let output = TurnOutput { session: &mut session, row: &mut row, reply: &mut said.reply };
            after.extend(turn(&agent, event, output));
            let name = name_wish(&agent, event);
            writes.push(Write::Agent(agent));
            writes.extend(name);
        }
        writes.push(Write::Session(Box::new(session)));
    }
    writes.extend(holding.turns.into_iter().map(|turn| Write::Task(Box::new(turn))));
    after.extend(memory.after);
    after.extend(writes.iter().filter_map(sent));
    let writes = writes.into_iter().map(redact::write).collect();
    let after = after.into_iter().map(redact::after).collect();
    Outcome { reply: said.reply, writes, event: row, after, checkpoint, report: memory.report }
}

/// When the work began that the event is part of: a sub-agent, or a client started from within, works for another.
fn began(event: &EventContext<'_>) -> Option<Ms> {
    // Where nothing stored can be looked at the session seems to begin with this very event.
    let own = event.session().filter(|_| !event.places.blind)?;
    let open = &event.loaded.open;
    let host = own.parent.as_ref().and_then(|parent| open.iter().find(|session| session.id == *parent));
    Some(host.map_or(own.started_at, |host| host.started_at.min(own.started_at)))
}

/// The sessions of the event, its own with what the event says of its context.
fn observed(event: &EventContext<'_>) -> Placed {
    let settings = context::ContextSettings::of(event.policy);
    let observe = |session: Session| context::observe(session, event.envelope, event.facts, &settings);
    let Placed { current, opened, ended } = event.placed.clone();
    Placed { current: current.map(observe), opened, ended }
}

/// What waited and is shown now, or was by the `taut inbox` that came back.
fn shown(event: &EventContext<'_>) -> Vec<Write> {
    let audience = reply::shows_waiting(event).flatten();
    let mut sessions: Vec<&String> = event.loaded.waiting.iter().map(|one| &one.session).collect();
    sessions.dedup();
    let shown = sessions.into_iter().map(|session| Write::InjectionsShown { session: session.clone(), audience });
    let at = event.now;
    let read = event.loaded.listed.iter().cloned();
    shown.chain(read.map(|message| Write::Memory(MemoryWrite::Delivered { message, at }))).collect()
}

/// The session after the event. A mode whose tools are not tracked stays as it was.
fn moved(current: Session, event: &EventContext<'_>, verdict: Level) -> Session {
    let before = current.state;
    let mut session = state::step(current, event.envelope, verdict, event.now);
    if session.state == SessionState::ToolActive
        && !memory::settings::tracks_tools(event.policy, session.mode.as_deref())
    {
        session.state = if before == SessionState::Created { SessionState::Active } else { before };
    }
    session
}

/// What the session remembers of the event.
fn remembered(mut session: Session, marks: Vec<SessionMark>, event: &EventContext<'_>, verdict: Level) -> Session {
    marks.into_iter().for_each(|mark| mark.set(&mut session.memo));
    session.memo.memory_off |= event.memory_off();
    asks::remember(&mut session.memo, event.envelope, verdict, event.now);
    if matches!(event.envelope.kind, EventKind::PostToolUse | EventKind::PostToolUseFailure) {
        let by = if event.late.is_some() { ResultsBy::Transcript } else { ResultsBy::Hooks };
        session.memo.results = Some(by);
    }
    session.memo.reports_to = session.memo.reports_to.take().or_else(|| reports_to(&session, event.loaded));
    session
}

/// The mark of a failed tool where the event changes it: with another failure, and with what takes the last one away.
fn failed_tool(session: &Session, row: &Event, event: &EventContext<'_>) -> Option<Write> {
    let stood = event.session().is_some_and(|before| before.memo.failed_tool);
    let fails = matches!(event.envelope.body, Body::ToolFailed { interrupted: false, .. });
    let failed = fails.then(|| notify::why(row, MOST_FAILED)).map(|why| line(&why, MOST_FAILED));
    let changes = failed.is_some() || stood && !session.memo.failed_tool;
    let note = SessionNote::FailedTool(failed);
    changes.then(|| Write::Fact { session: session.id.clone(), note, at: event.now })
}

/// So much is kept of what failed.
const MOST_FAILED: usize = 160;

/// Sessions that the event ends besides its own, their agents at rest, and whom they worked for told.
fn ended(placed: &Placed, now: Ms) -> Vec<Write> {
    let one = |ended: &Session| {
        let rest = Write::Rest { agent: ended.agent.clone(), session: ended.id.clone(), at: now };
        let report = reports::unreported(ended, now).map(|message| Write::Memory(MemoryWrite::Message(message)));
        [Some(rest), Some(Write::Session(Box::new(ended.clone()))), report].into_iter().flatten()
    };
    placed.ended.iter().flat_map(one).collect()
}

/// What others are told of the session without its saying so.
fn reports_of(session: &Session, event: &EventContext<'_>) -> Vec<Write> {
    // A supervisor starts it again, to go on with the same work.
    let end = reports::unreported(session, event.now).filter(|_| !event.who.standing.is_supervised());
    let helper = reports::helper(event, session);
    end.into_iter().chain(helper).map(|message| Write::Memory(MemoryWrite::Message(message))).collect()
}

fn sent(write: &Write) -> Option<After> {
    match write {
        Write::Memory(MemoryWrite::Message(message)) => {
            message.to.as_ref().map(|to| After::Sent { to: to.name().to_string() })
        }
        _ => None,
    }
}

/// The agent's row where the event changes it. A child's events leave it alone:
/// the name belongs to the client that had it first.
fn agent_row(session: &Session, verdict: Level, event: &EventContext<'_>) -> Option<Agent> {
    let EventContext { envelope, who, loaded, placed, now, .. } = *event;
    if session.parent.is_some() {
        return None;
    }
    let known = loaded.agent.as_ref().filter(|agent| agent.id == session.agent);
    let asked_before = placed.current.as_ref().and_then(|before| before.memo.asked_at);
    let input = status::StatusInput {
        envelope,
        verdict,
        session,
        known: known.map(|agent| agent.status),
        asks_anew: session.memo.asked_at != asked_before,
    };
    let status = status::next(&input).or_else(|| placed.opened.then(|| status::first(envelope)))?;
    let row = Agent {
        id: session.agent.clone(),
        named: who.named || known.is_some_and(|agent| agent.named),
        status,
        dialect: Some(envelope.agent.id.to_string()),
        session: session.open().then(|| session.id.clone()),
        project: session.project.clone(),
        since: known.filter(|agent| agent.status == status).map_or(now, |agent| agent.since),
    };
    (known != Some(&row)).then_some(row)
}

/// What an agent is to be called that is here from now on and was not before: no other event costs a look.
fn name_wish(row: &Agent, event: &EventContext<'_>) -> Option<Write> {
    let was_here = event.loaded.agent.as_ref().is_some_and(|known| known.id == row.id && known.session.is_some());
    let is_due = identity::is_nameless(row, event.who.standing) && row.session.is_some() && !was_here;
    let wish = || NameWish { agent: row.id.clone(), project: row.project.clone(), at: event.now };
    is_due.then(|| Write::AgentName(wish()))
}

/// The row of a teammate: an agent of this project that has that name, or one that only its lead's client knows.
/// That one has no session of its own, and its row begins when it first waits.
fn teammate_row(event: &EventContext<'_>) -> Option<Agent> {
    let name = status::teammate(event.envelope)?;
    let status = status::of_teammate(event.envelope)?;
    let waits = event.envelope.kind == EventKind::TeammateIdle;
    let row = |known: &Agent| Agent { status, since: event.now, ..known.clone() };
    match &event.loaded.teammate {
        // One of that name in another project is somebody else.
        Some(known) if known.project != event.who.project || known.status == status => None,
        Some(known) => (waits || known.session.is_none()).then(|| row(known)),
        None if !waits || line(&name, MOST_NAME) != name => None,
        None => Some(row(&Agent {
            id: name,
            named: true,
            status,
            dialect: Some(event.envelope.agent.id.to_string()),
            session: None,
            project: event.who.project.clone(),
            since: event.now,
        })),
    }
}

/// A longer name of a teammate is none.
const MOST_NAME: usize = 80;

/// What a turn of the event's own agent leaves its mark on.
struct TurnOutput<'a> {
    session: &'a mut Session,
    row: &'a mut Event,
    reply: &'a mut Reply,
}

/// What follows where a row's status is another from now on.
fn turn(agent: &Agent, event: &EventContext<'_>, told: TurnOutput<'_>) -> Vec<After> {
    let Some(change) = status_change(agent, event.loaded) else { return Vec::new() };
    let mut after = Vec::new();
    if agent.id == told.session.agent {
        record::turn(told.row, &change);
        let (notify, screen) = (&event.policy.sections.notify, event.facts.screen);
        let name = event.loaded.agent_name.as_deref().unwrap_or(&agent.id);
        let turn = notify::StatusTurn { agent, name, event: told.row, notify, screen };
        told.reply.ring = notify::ring(&turn, &mut told.session.memo);
        after.extend(notify::reaches_out(&turn).then_some(After::Tell));
    }
    after.push(change);
    after
}

/// Told whenever the stored status is another from now on, whatever was answered.
fn status_change(row: &Agent, loaded: &Loaded) -> Option<After> {
    let mut stored = loaded.agent.iter().chain(&loaded.teammate);
    let from = stored.find(|known| known.id == row.id).map(|known| known.status);
    (from != Some(row.status)).then(|| After::StatusChanged { agent: row.id.clone(), from, to: row.status })
}
