//! The transaction: load, decide, apply, and only then answer. Nothing that was
//! answered is lost, and the same call is answered once and the same.

use crate::pipeline::Response;
use crate::prepare::{Prepared, PreparedCall, PreparedEvent};
use crate::{degraded, memory, prepare};
use engine::{Inherited, Input};
use model::effect::Write;
use model::fact::Probe;
use model::{Body, EventKind, Loaded};
use store::{Durability, Error, Store, Tx};

/// How often the stored rows may raise a question before they are taken as they are.
const MOST_ROUNDS: usize = 4;

enum Step {
    Done(Box<Response>),
    /// The world must be asked first, outside the transaction.
    Ask(Vec<Probe>),
    /// The session before it tells what it is, and so which files it is given.
    Inherit(Inherited),
}

/// Serves the calls that are not served yet, all in one transaction.
pub fn commit(store: &mut Store, prepared: &mut [Prepared], served: &mut [Option<Response>]) -> Result<(), Error> {
    let durability = durability(prepared);
    for round in 0..MOST_ROUNDS {
        let last = round + 1 == MOST_ROUNDS;
        let steps = store.transact(durability, |tx| {
            let waiting = prepared.iter().zip(served.iter()).map(|(one, done)| match done {
                Some(_) => Ok(None),
                None => serve(tx, one, last).map(Some),
            });
            waiting.collect::<Result<Vec<_>, Error>>()
        })?;
        for ((one, done), step) in prepared.iter_mut().zip(served.iter_mut()).zip(steps) {
            match step {
                Some(Step::Done(answer)) => *done = Some(*answer),
                Some(Step::Ask(probes)) => one.ask(&probes),
                Some(Step::Inherit(taken)) => one.inherit(&taken),
                None => {}
            }
        }
        if served.iter().all(Option::is_some) {
            break;
        }
    }
    Ok(())
}

/// These events may release tasks or write an account, which must not be forgotten.
fn durability(prepared: &[Prepared]) -> Durability {
    let releases = |one: &Prepared| match &one.parsed_call {
        PreparedCall::Event(event) => {
            let ends = matches!(event.envelope.kind, EventKind::PreCompact | EventKind::SessionEnd);
            ends || engine::memory::is_dehydration(&event.envelope)
        }
        PreparedCall::Unreadable { .. } => false,
    };
    if prepared.iter().any(releases) { Durability::Full } else { Durability::Normal }
}

fn serve(tx: &Tx<'_>, prepared: &Prepared, last: bool) -> Result<Step, Error> {
    match &prepared.parsed_call {
        PreparedCall::Event(event) => serve_event(tx, prepared, event, last),
        PreparedCall::Unreadable { why, stop } => {
            let answer = degraded::answer(prepared);
            let mut row = prepare::unreadable_row(prepared, why, stop.as_ref());
            row.answer = answer.clone();
            tx.apply(&[Write::Event(Box::new(row.clone()))])?;
            let why = row.reason.as_deref().unwrap_or(why);
            let troubles = vec![format!("could not read the call: {why}")];
            Ok(Step::Done(Box::new(Response { answer, event: Some(row), troubles, ..Response::default() })))
        }
    }
}

fn serve_event(tx: &Tx<'_>, prepared: &Prepared, event: &PreparedEvent, last: bool) -> Result<Step, Error> {
    let PreparedEvent { envelope, who, facts, .. } = event;
    let key = engine::key(envelope, &prepared.call.request);
    if let Some(answer) = tx.answered(&key)? {
        tx.deliver(&key)?;
        return Ok(Step::Done(Box::new(Response { answer, ..Response::default() })));
    }
    let now = prepared.call.at;
    let mut loaded = tx.load(who, now)?;
    let probes = engine::missing(who, &loaded, facts);
    if !probes.is_empty() && !last {
        return Ok(Step::Ask(probes));
    }
    if !last
        && !event.inherited
        && let Some(taken) = engine::inherited(&input(prepared, event, &loaded))
    {
        return Ok(Step::Inherit(taken));
    }
    loaded.efforts = memory::load(tx, event, &loaded, now)?;
    if engine::memory::is_inbox(envelope) {
        loaded.efforts.inbox = tx.inbox(&engine::taker(&input(prepared, event, &loaded)))?;
    }
    if !last {
        let probes = engine::ask(&input(prepared, event, &loaded));
        if !probes.is_empty() {
            return Ok(Step::Ask(probes));
        }
    }
    if let Body::Teammate { name } = &envelope.body {
        loaded.teammate = tx.agent(name)?;
    }
    if engine::tells(envelope) {
        // Read last: what is read here is told, and gone.
        for session in engine::listening(who, &loaded) {
            loaded.waiting.extend(tx.take_injections(&session)?);
        }
    } else if engine::tells_model(envelope) {
        for session in engine::listening(who, &loaded) {
            loaded.waiting.extend(tx.take_model_injections(&session)?);
        }
    }
    if engine::tells_messages(envelope) {
        memory::settle_reading(tx, event, now)?;
        // Read in the transaction that marks what is told of them, so that each is told once.
        loaded.messages = tx.waiting_messages(&engine::taker(&input(prepared, event, &loaded)))?;
    }
    let outcome = engine::decide(input(prepared, event, &loaded));
    let answer = prepared.encode(envelope, &outcome.reply);
    let mut row = outcome.event;
    row.answer = answer.clone();
    row.micros = u64::try_from(prepared.begun.elapsed().as_micros()).unwrap_or(u64::MAX);
    let mut writes = outcome.writes;
    writes.push(Write::Event(Box::new(row.clone())));
    tx.apply(&writes)?;
    let (after, report) = (outcome.after, Some(Box::new(outcome.report)));
    Ok(Step::Done(Box::new(Response { answer, event: Some(row), after, troubles: Vec::new(), report })))
}

fn input<'a>(prepared: &'a Prepared, event: &'a PreparedEvent, loaded: &'a Loaded) -> Input<'a> {
    Input {
        envelope: &event.envelope,
        who: &event.who,
        loaded,
        facts: &event.facts,
        policy: &event.project_policy.policy,
        findings: event.findings.clone(),
        ground: event.places.ground(),
        now: prepared.call.at,
        ids: prepared.ids(),
    }
}
