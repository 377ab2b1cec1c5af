//! The transaction: load, decide, apply, and only then answer. Nothing that was
//! answered is lost, and the same call is answered once and the same.

use crate::own_hooks::sha256;
use crate::pipeline::Response;
use crate::prepare::{CountedAt, Prepared, PreparedCall, PreparedEvent};
use crate::{degraded, prepare};
use model::effect::{After, Write};
use model::effort::MemoryWrite;
use model::event::{Body, Family};
use model::{Answer, Call, Envelope, EventKind, Level, Loaded, Ms, Placed};
use serde_json::json;
use store::{Durability, Error, SameCalls, Store, ToldOnce, Tx};

/// Whether the stored rows may still raise a question, or are taken as they are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Round {
    First,
    Last,
}

enum Step {
    Done(Box<Response>),
    /// These rows raise a question: the world must be asked first, outside the transaction.
    Ask(Box<Loaded>),
}

/// Serves the calls that are not served yet, all in one transaction; those whose
/// rows raise a question, in a second.
pub fn commit(store: &mut Store, prepared: &mut [Prepared], served: &mut [Option<Response>]) -> Result<(), Error> {
    let durability = durability(prepared);
    for round in [Round::First, Round::Last] {
        let steps = store.transact(durability, |tx| {
            let waiting = prepared.iter_mut().zip(served.iter()).map(|(one, done)| match done {
                Some(_) => Ok(None),
                None => one.find_helper(tx).and_then(|()| serve(tx, one, round)).map(Some),
            });
            waiting.collect::<Result<Vec<_>, Error>>()
        })?;
        for ((one, done), step) in prepared.iter_mut().zip(served.iter_mut()).zip(steps) {
            match step {
                Some(Step::Done(answer)) => *done = Some(*answer),
                Some(Step::Ask(loaded)) => one.answer_raised(&loaded),
                None => {}
            }
        }
        if served.iter().all(Option::is_some) {
            break;
        }
    }
    Ok(())
}

/// Some events write what no power cut may take back.
fn durability(prepared: &[Prepared]) -> Durability {
    let lasting = |one: &Prepared| match &one.parsed_call {
        PreparedCall::Event(event) => engine::must_last(&event.envelope, event.line.as_ref()),
        PreparedCall::Unreadable { .. } => false,
    };
    if prepared.iter().any(lasting) { Durability::Full } else { Durability::Normal }
}

fn serve(tx: &Tx<'_>, prepared: &Prepared, round: Round) -> Result<Step, Error> {
    match &prepared.parsed_call {
        PreparedCall::Event(event) => serve_event(tx, prepared, event, round),
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

fn serve_event(tx: &Tx<'_>, prepared: &Prepared, event: &PreparedEvent, round: Round) -> Result<Step, Error> {
    let (envelope, call) = (&event.envelope, &prepared.call);
    let key = engine::key(envelope, &call.request);
    let answered = tx.answered(&key)?;
    if prepared.counts == CountedAt::OwnHook
        && (answered.is_some() || !asks_before(envelope.kind) || was_just_told(tx, envelope, call.at)?)
    {
        // Its own hook was heard, or there is nothing that a guard could stop.
        return Ok(Step::Done(Box::default()));
    }
    if let Some(answer) = answered {
        tx.deliver(&key)?;
        return Ok(Step::Done(Box::new(Response { answer, ..Response::default() })));
    }
    let asked = (prepared.counts == CountedAt::OneOfTwoHooks).then(|| asked(event, call));
    let told = asked.as_ref().map_or(Ok(None), |asked| told_once(tx, envelope, call.at, asked))?;
    if let Some(told) = &told
        && let Some(answer) = told.stop.clone()
    {
        tx.told_again(told)?;
        return Ok(Step::Done(Box::new(Response { answer, ..Response::default() })));
    }
    let mut loaded = tx.identify(&event.who, call.at)?;
    let needs = engine::needs(&event.context(call, prepared.ids(), &loaded, &Placed::default()));
    tx.load(&needs, call.at, &mut loaded)?;
    if !loaded.cards.is_empty() {
        loaded.card_digests = engine::cards::digest_texts(envelope).iter().map(|text| sha256(text)).collect();
    }
    let context = event.context(call, prepared.ids(), &loaded, &needs.placed);
    if round == Round::First && !engine::raised(&context).is_empty() {
        return Ok(Step::Ask(Box::new(loaded)));
    }
    let outcome = engine::decide(&context);
    if engine::is_trial(envelope, &call.env) {
        let answer = Answer { stdout: engine::would_do(&outcome), ..Answer::default() };
        return Ok(Step::Done(Box::new(Response { answer, ..Response::default() })));
    }
    let answer = prepared.answer(event, outcome.reply);
    if prepared.counts == CountedAt::OwnHook {
        return Ok(Step::Done(Box::new(Response { answer, ..Response::default() })));
    }
    if let Some(told) = told.filter(|_| outcome.event.verdict < Level::Ask) {
        tx.told_again(&told)?;
        return Ok(Step::Done(Box::default()));
    }
    if prepared.hands_back && outcome.checkpoint.is_some() {
        return Ok(Step::Done(Box::new(Response { handed_back: true, ..Response::default() })));
    }
    let mut row = outcome.event;
    if let (Some(asked), Some(detail)) = (asked, row.detail.as_object_mut()) {
        detail.insert("asked".into(), asked.into());
    }
    row.answer = answer.clone();
    row.micros = u64::try_from(prepared.begun.elapsed().as_micros()).unwrap_or(u64::MAX);
    let mut writes = outcome.writes;
    writes.push(Write::Event(Box::new(row.clone())));
    tx.apply(&writes)?;
    let mut after = outcome.after;
    after.extend(may_owe(&writes).then(|| tx.owes_a_server()).transpose()?.filter(|owes| *owes).map(|_| After::Owed));
    Ok(Step::Done(Box::new(Response {
        answer,
        event: Some(row),
        after,
        checkpoint: outcome.checkpoint,
        report: Some(Box::new(outcome.report)),
        ..Response::default()
    })))
}

/// What of this may be for a server is a turn of a task, or a message: all else needs no look.
fn may_owe(writes: &[Write]) -> bool {
    writes.iter().any(|write| matches!(write, Write::Task(_) | Write::Memory(MemoryWrite::Message(_))))
}

/// An agent calls all its hooks for an event one right after the other.
const ONE_CALL_MS: i64 = 5_000;
/// So soon no model asks for the same again.
const OTHER_HOOK_MS: i64 = 1_000;

fn was_just_told(tx: &Tx<'_>, envelope: &Envelope, at: Ms) -> Result<bool, Error> {
    let Some(begins) = engine::key_without_id(envelope) else { return Ok(false) };
    tx.any_answered(SameCalls { begins: &begins, at, within: ONE_CALL_MS })
}

/// What the first of two hooks was told of this call. Each is found once: what is told a third time is another call.
fn told_once(tx: &Tx<'_>, envelope: &Envelope, at: Ms, asked: &str) -> Result<Option<ToldOnce>, Error> {
    let Some(begins) = engine::key_without_id(envelope) else { return Ok(None) };
    tx.told_once(SameCalls { begins: &begins, at, within: OTHER_HOOK_MS }, asked)
}

/// All that two hooks are told alike of one call. The id that was made of it is short: another call can be found that
/// has the same, and would stay out of the record.
fn asked(event: &PreparedEvent, call: &Call) -> String {
    let envelope = &event.envelope;
    let tool = envelope.tool().map(|tool| (&tool.name, &tool.input));
    let came_of_it = match &envelope.body {
        Body::ToolDone { response, .. } => format!("{:016x}", response.hash),
        Body::ToolFailed { error, .. } => error.clone(),
        _ => String::new(),
    };
    let helper = envelope.sub_agent.as_ref().map(|helper| &helper.id);
    sha256(&json!([engine::folder(envelope, &call.cwd), helper, tool, came_of_it]).to_string())
}

fn asks_before(kind: EventKind) -> bool {
    matches!(kind.family(), Family::Gate | Family::Permission)
}
