//! The decision on one event: what is said, what is written, what follows.

use crate::fleet::{notify, reports};
use crate::leases::{self, Sight};
use crate::memory::{self, Ground, RpcReport};
use crate::queue::CONTEXT_LIMIT;
use crate::reply::{Moment, SessionMark};
use crate::session::{Placed, Scene, place, reports_to};
use crate::{asks, context, record, redact, reply, session, state, status, strikes};
use model::effect::{After, Write};
use model::effort::MemoryWrite;
use model::event::{Envelope, EventKind};
use model::fact::{Facts, Probe};
use model::fleet::Taker;
use model::reply::Reply;
use model::row::{Agent, AgentStatus, Event};
use model::session::{Session, SessionState};
use model::who::Supervision;
use model::{Findings, Level, Loaded, Ms, Who};
use policy::Policy;

/// Everything a decision is made of. No clock, no ids, no I/O beyond this.
pub struct Input<'a> {
    pub envelope: &'a Envelope,
    pub who: &'a Who,
    pub loaded: &'a Loaded,
    pub facts: &'a Facts,
    pub policy: &'a Policy,
    /// What the stateless rules said.
    pub findings: Findings,
    pub ground: Ground<'a>,
    pub now: Ms,
    pub ids: Ids<'a>,
}

/// Ids for rows that may be made, drawn before deciding.
#[derive(Clone, Copy)]
pub struct Ids<'a> {
    pub event: &'a str,
    pub session: &'a str,
    /// The request this event came as.
    pub request: &'a str,
}

pub struct Outcome {
    pub reply: Reply,
    /// To be committed, together with `event`, before the reply.
    pub writes: Vec<Write>,
    /// The event as it will be stored; whoever runs the way adds the answer and the cost.
    pub event: Event,
    pub after: Vec<After>,
    /// What a caller of the hook as a method is told besides.
    pub report: RpcReport,
}

pub fn decide(mut input: Input<'_>) -> Outcome {
    // What was found quotes the command, and is stored, answered and compared from here on.
    let findings = Findings(std::mem::take(&mut input.findings).0.into_iter().map(redact::finding).collect());
    let Input { envelope, who, loaded, facts, policy, now, ids, .. } = input;
    let settings = context::ContextSettings::of(policy);
    let placed = place(&Scene { envelope, who, loaded, facts, now, fresh_id: ids.session });
    let striker = strikes::Striker::of(envelope, who, now);
    let mut writes = strikes::delivered(envelope, loaded, &striker);
    let judged = strikes::judge(findings, loaded, &striker);
    let observed = placed.current.clone().map(|session| context::observe(session, envelope, facts, &settings));
    let session = observed.as_ref();
    let holding = leases::step(Sight { envelope, who, loaded, policy, placed: &placed, now });
    if !holding.halted {
        // What a stopped agent is denied is not the strike: it has not been told of it.
        writes.extend(judged.writes);
    }
    let findings = &judged.findings;
    let opened = placed.opened;
    let denied = findings.level() == Level::Deny || holding.halted;
    let memory = memory::step(&memory::Sight { denied, ..sight(&input, session, opened) });
    let mut said = reply::say(&Moment {
        envelope,
        who,
        loaded,
        facts,
        policy,
        findings,
        session,
        opened,
        holding: &holding,
        memory: &memory,
        now,
        ids,
    });
    if !holding.warnings.is_empty() {
        said.reply.warning = Some(holding.warnings.join("\n"));
    }
    // Told as it is stored: from here on only what may be kept.
    said.reply = redact::reply(said.reply);
    let verdict = reply::level(&said.reply);
    writes.extend(said.writes);
    writes.extend(memory.writes());

    let mut event = record::event(envelope, who, now, ids);
    event.verdict = verdict;
    let found = judged.findings.0.iter().chain(&judged.spent).chain(&memory.findings);
    event.rules = found.map(|finding| finding.rule.clone()).collect();
    event.rules.extend(said.rules);
    event.reason = reply::reason(&said.reply);

    let mut after = Vec::new();
    if envelope.kind == EventKind::SessionStart && opened {
        after.push(After::EnsureDaemon);
    }
    writes.extend(ended(&placed, now));
    if let Some(current) = observed {
        said.marks.extend(memory.once.map(SessionMark::Once));
        let mut session = remembered(moved(current, &input, verdict), said.marks, &input, verdict);
        session.status_text = memory.status.clone().or(session.status_text);
        if holding.halted {
            session = state::end(session, CONTEXT_LIMIT, now);
        }
        writes.extend(told_of(&session, &input));
        event.session = Some(session.id.clone());
        event.agent.clone_from(&session.agent);
        record::chart(&mut event, &mut session);
        let rows = [teammate_row(&input), agent_row(&placed, &session, verdict, &input)];
        for row in rows.into_iter().flatten() {
            after.extend(turn(&row, &input, Told { session: &mut session, event: &mut event, reply: &mut said.reply }));
            writes.push(Write::Agent(row));
        }
        writes.push(Write::Session(Box::new(session)));
    }
    writes.extend(holding.turns.into_iter().map(|turn| Write::Task(Box::new(turn))));
    after.extend(memory.after);
    after.extend(writes.iter().filter_map(sent));
    let writes = writes.into_iter().map(redact::write).collect();
    let after = after.into_iter().map(redact::after).collect();
    Outcome { reply: said.reply, writes, event, after, report: memory.report }
}

/// The session after the event. A mode whose tools are not tracked stays as it was.
fn moved(current: Session, input: &Input<'_>, verdict: Level) -> Session {
    let before = current.state;
    let mut session = state::step(current, input.envelope, verdict, input.now);
    if session.state == SessionState::ToolActive
        && !memory::settings::tracks_tools(input.policy, session.mode.as_deref())
    {
        session.state = if before == SessionState::Created { SessionState::Active } else { before };
    }
    session
}

/// What the session remembers of the event.
fn remembered(mut session: Session, marks: Vec<SessionMark>, input: &Input<'_>, verdict: Level) -> Session {
    marks.into_iter().for_each(|mark| mark.set(&mut session.memo));
    asks::remember(&mut session.memo, input.envelope, verdict);
    session.memo.reports_to = session.memo.reports_to.take().or_else(|| reports_to(&session, input.loaded));
    session
}

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
fn told_of(session: &Session, input: &Input<'_>) -> Vec<Write> {
    let Input { envelope, who, policy, now, ids, .. } = *input;
    // A supervisor starts it again, to go on with the same work.
    let end = reports::unreported(session, now).filter(|_| who.standing != Supervision::Supervised);
    let helper = reports::helper(&reports::Scene { envelope, session, policy, id: ids.event, at: now });
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

/// What a new session takes over from the one before it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inherited {
    pub role: Option<String>,
    pub mode: Option<String>,
}

/// The role and mode of a new session that only the session before it tells;
/// `None` where the event itself tells them or there are none.
pub fn inherited(input: &Input<'_>) -> Option<Inherited> {
    let Input { envelope, who, loaded, facts, now, ids, .. } = *input;
    if envelope.kind != EventKind::SessionStart || (who.role.is_some() && who.mode.is_some()) {
        return None;
    }
    let session = place(&Scene { envelope, who, loaded, facts, now, fresh_id: ids.session }).current?;
    let taken = Inherited { role: session.role, mode: session.mode };
    (taken.role != who.role || taken.mode != who.mode).then_some(taken)
}

/// Who takes the messages that the event can tell.
pub fn taker(input: &Input<'_>) -> Taker {
    let Input { envelope, who, loaded, facts, now, ids, .. } = *input;
    session::taker(&Scene { envelope, who, loaded, facts, now, fresh_id: ids.session })
}

/// What must still be asked now that the stored rows are known, for what is to
/// be told. Empty unless there is an effort, an account or an invoked skill.
pub fn ask(input: &Input<'_>) -> Vec<Probe> {
    let Input { envelope, who, loaded, facts, now, ids, .. } = *input;
    if !memory::ask::may(envelope, &loaded.efforts) {
        return Vec::new();
    }
    let placed = place(&Scene { envelope, who, loaded, facts, now, fresh_id: ids.session });
    memory::ask::probes(&sight(input, placed.current.as_ref(), placed.opened))
}

/// What memory sees of a call that nothing stops.
fn sight<'s>(input: &Input<'s>, session: Option<&'s Session>, opened: bool) -> memory::Sight<'s> {
    let Input { envelope, who, loaded, facts, policy, ground, now, ids, .. } = *input;
    let id = ids.event;
    memory::Sight { envelope, who, loaded, facts, policy, ground, session, opened, denied: false, now, id }
}

/// The agent's row where the event changes it. A child's events leave it alone:
/// the name belongs to the client that had it first.
fn agent_row(placed: &Placed, session: &Session, verdict: Level, input: &Input<'_>) -> Option<Agent> {
    let Input { envelope, who, loaded, now, .. } = *input;
    if session.parent.is_some() {
        return None;
    }
    let known = loaded.agent.as_ref().filter(|agent| agent.id == session.agent);
    let scene = status::StatusInput { envelope, verdict, session, known: known.map(|agent| agent.status) };
    let status = status::next(&scene).or_else(|| placed.opened.then(|| status::first(envelope)))?;
    let row = Agent {
        id: session.agent.clone(),
        named: who.named,
        status,
        session: session.open().then(|| session.id.clone()),
        project: session.project.clone(),
        since: known.filter(|agent| agent.status == status).map_or(now, |agent| agent.since),
    };
    (known != Some(&row)).then_some(row)
}

/// The row of a teammate that waits for work, where it is an agent of this project.
fn teammate_row(input: &Input<'_>) -> Option<Agent> {
    let known = input.loaded.teammate.as_ref().filter(|known| known.project == input.who.project)?;
    let waits = input.envelope.kind == EventKind::TeammateIdle && known.status != AgentStatus::Done;
    waits.then(|| Agent { status: AgentStatus::Done, since: input.now, ..known.clone() })
}

/// What a turn of the event's own agent leaves its mark on.
struct Told<'a> {
    session: &'a mut Session,
    event: &'a mut Event,
    reply: &'a mut Reply,
}

/// What follows where a row's status is another from now on.
fn turn(row: &Agent, input: &Input<'_>, told: Told<'_>) -> Vec<After> {
    let Some(change) = status_change(row, input.loaded) else { return Vec::new() };
    let mut after = Vec::new();
    if row.id == told.session.agent {
        record::turn(told.event, &change);
        let (notify, screen) = (&input.policy.notify, input.facts.screen);
        let turn = notify::StatusTurn { agent: row, event: told.event, notify, screen };
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
