//! Effects of an event that was answered while the database was out of reach:
//! the end of a session, a full context. They are carried out afterwards, once,
//! by the same engine and with the event's own time, unless the session went on.

use crate::pipeline::PipelineSetup;
use crate::policy_cache::PolicyCache;
use crate::prepare::{Prepared, PreparedCall, PreparedEvent};
use engine::Ids;
use model::effect::After;
use model::event::{Body, Envelope, EventKind};
use model::who::Supervision;
use model::{Call, ClientProcess, Environment, Loaded, Ms, Placed, Who, row};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use store::{Durability, Error, Ingested, PENDING, Pending, Store, Tx};

/// What came of taking in what was put by.
#[derive(Debug, Clone, Default)]
pub struct TakenIn {
    pub ingested: Ingested,
    /// Events whose effects were carried out now.
    pub carried_out: usize,
    pub after: Vec<After>,
    /// For the log: what was released, and what went wrong.
    pub words: Vec<String>,
}

/// Takes in what spool and reserve hold, and carries out the effects that are
/// still to be. For the daemon and commands.
pub fn take_in(store: &mut Store, setting: &PipelineSetup) -> Result<TakenIn, Error> {
    let mut taken = TakenIn { ingested: store.ingest_spool()?, ..TakenIn::default() };
    for pending in store.pending()? {
        // A defect of ours in one of them must not keep the others waiting.
        let one = catch_unwind(AssertUnwindSafe(|| replay_event(store, setting, &pending, &mut taken)));
        one.unwrap_or_else(|_| drop_it(store, &pending, "Taut failed while carrying it out", &mut taken))?;
    }
    Ok(taken)
}

/// Notes on the row of an event that cannot be stored now what its effects
/// take. Nothing of the payload but what is named here.
pub(crate) fn mark(row: &mut row::Event, prepared: &Prepared) {
    let PreparedCall::Event(event) = &prepared.parsed_call else { return };
    let PreparedEvent { envelope, who, .. } = &**event;
    let said = match &envelope.body {
        Body::SessionEnd { reason } => reason,
        Body::Compact { trigger, .. } if envelope.kind == EventKind::PreCompact && trigger == "auto" => trigger,
        _ => return,
    };
    if envelope.sub_agent.is_some() {
        return;
    }
    let call = &prepared.call;
    let places = envelope.agent.variables.places();
    let moved: BTreeMap<_, _> = places.filter_map(|name| Some((name, call.env.get(name)?))).collect();
    let told = json!({
        "event": envelope.kind.name(), "said": said, "id": row.id, "request": call.request, "cwd": call.cwd,
        "dialect": envelope.agent.id,
        "moved": moved,
        "folder": envelope.cwd, "transcript": envelope.transcript,
        "host_session": envelope.host_session, "who": who_value(who),
    });
    if let Some(detail) = row.detail.as_object_mut() {
        detail.insert(PENDING.into(), engine::redact(&told));
    }
}

fn replay_event(
    store: &mut Store,
    setting: &PipelineSetup,
    pending: &Pending,
    taken: &mut TakenIn,
) -> Result<(), Error> {
    let Some(told) = SpooledCall::read(pending) else {
        return drop_it(store, pending, "what was noted of it cannot be read", taken);
    };
    let mut policies = PolicyCache::new(setting.user_config.clone(), setting.state.clone());
    let mut event =
        PreparedEvent::answered_before(told.envelope.clone(), told.who.clone(), &told.call, setting, &mut policies);
    for last in [false, true] {
        match store.transact(Durability::Full, |tx| step(tx, &event, &told, last))? {
            Step::Ask(loaded) => event.answer_raised(&told.call, told.ids(), &loaded),
            Step::Void => return Ok(()),
            Step::Done(after, warning) => {
                taken.carried_out += 1;
                taken.words.extend(warning);
                taken.words.extend(host::artifacts::write(&after, &event.roots()));
                taken.after.extend(after);
                return Ok(());
            }
        }
    }
    Ok(())
}

enum Step {
    /// These rows raise a question about the world.
    Ask(Box<Loaded>),
    /// Somebody has done it, or the session went on.
    Void,
    Done(Vec<After>, Option<String>),
}

fn step(tx: &Tx<'_>, event: &PreparedEvent, told: &SpooledCall, last: bool) -> Result<Step, Error> {
    let at = told.call.at;
    let mut loaded = tx.identify(&event.who, at)?;
    // What was claimed or renewed since is held by somebody who lives.
    loaded.held.retain(|task| task.hold.as_ref().is_some_and(|hold| hold.renewed_at <= at));
    if went_on(tx, event, &loaded, at)? {
        return tx.settle_pending(&told.key).map(|_| Step::Void);
    }
    let needs = engine::needs(&event.context(&told.call, told.ids(), &loaded, &Placed::default()));
    tx.load(&needs, at, &mut loaded)?;
    let context = event.context(&told.call, told.ids(), &loaded, &needs.placed);
    if !last && !engine::raised(&context).is_empty() {
        return Ok(Step::Ask(Box::new(loaded)));
    }
    if !tx.settle_pending(&told.key)? {
        return Ok(Step::Void);
    }
    let outcome = engine::decide(&context);
    // The event is stored, with the answer it had: only its effects are new.
    tx.apply(&outcome.writes)?;
    if let Some(session) = &outcome.event.session {
        tx.place_event(&told.key, session)?;
    }
    Ok(Step::Done(outcome.after, outcome.reply.warning))
}

/// Whether the session has done anything since: then what it was to end goes on.
fn went_on(tx: &Tx<'_>, event: &PreparedEvent, loaded: &Loaded, at: Ms) -> Result<bool, Error> {
    let who = &event.who;
    let seen = |session: &model::session::Session| session.logical_id == who.logical_id && session.last_seen_at > at;
    if loaded.open.iter().any(seen) {
        return Ok(true);
    }
    event.envelope.host_session.as_deref().map_or(Ok(false), |session| tx.went_on(session, at))
}

/// What can never be carried out is not tried for ever.
fn drop_it(store: &mut Store, pending: &Pending, why: &str, taken: &mut TakenIn) -> Result<(), Error> {
    taken.words.push(format!("what the event {} was to do is left out: {why}", pending.key));
    store.transact(Durability::Normal, |tx| tx.settle_pending(&pending.key)).map(drop)
}

/// What was noted of an event, read back.
struct SpooledCall {
    key: String,
    id: String,
    envelope: Envelope,
    who: Who,
    call: Call,
    fresh_session: String,
}

impl SpooledCall {
    fn ids(&self) -> Ids<'_> {
        Ids { event: &self.id, session: &self.fresh_session, request: &self.call.request }
    }

    fn read(pending: &Pending) -> Option<Self> {
        let told = &pending.told;
        let text = |name: &str| told.get(name).and_then(Value::as_str).map(str::to_owned);
        let (kind, said) = (EventKind::parse(&text("event")?), text("said")?);
        let body = match kind {
            EventKind::SessionEnd => Body::SessionEnd { reason: said },
            EventKind::PreCompact => Body::Compact { trigger: said, summary: None },
            _ => return None,
        };
        let agent = text("dialect").and_then(|id| agents::ALL.find(&id)).unwrap_or(agents::DEFAULT).profile;
        let envelope = Envelope {
            agent,
            kind,
            name: kind.name().to_string(),
            host_session: text("host_session"),
            transcript: text("transcript"),
            cwd: text("folder"),
            prompt_id: None,
            permission_mode: None,
            sub_agent: None,
            body,
            notes: Vec::new(),
            cut: false,
        };
        let moved = |name: &str| told.get("moved")?.get(name)?.as_str().map(str::to_string);
        let env = agent.variables.places().filter_map(|name| Some((name.to_string(), moved(name)?)));
        let call = Call {
            request: text("request")?,
            agent: agent.id.to_string(),
            stdin: Vec::new(),
            cwd: text("cwd")?,
            env: Environment(env.collect()),
            parent: None,
            at: pending.at,
        };
        let [fresh_session] = host::clock::uuids(pending.at);
        let who = who_of(told.get("who")?)?;
        Some(Self { key: pending.key.clone(), id: text("id")?, envelope, who, call, fresh_session })
    }
}

fn who_value(who: &Who) -> Value {
    let standing = match who.standing {
        Supervision::Attended => "attended",
        Supervision::Unattended => "unattended",
        Supervision::Looped => "looped",
        Supervision::Supervised => "supervised",
        Supervision::Iteration => "iteration",
    };
    json!({
        "agent": who.agent, "named": who.named, "dialect": who.dialect, "logical_id": who.logical_id, "host_session": who.host_session,
        "project": who.project, "pane": who.pane, "client": who.client.map(|client| [u64::from(client.pid), client.started]),
        "conversation": who.conversation, "role": who.role, "mode": who.mode, "mission": who.mission,
        "started_by": who.started_by, "standing": standing,
    })
}

fn who_of(value: &Value) -> Option<Who> {
    let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    let number = |at: usize| value.get("client").and_then(|client| client.get(at)).and_then(Value::as_u64);
    let pid = number(0).and_then(|pid| u32::try_from(pid).ok());
    Some(Who {
        agent: text("agent")?,
        named: value.get("named")?.as_bool()?,
        // Written before it was noted: not known.
        dialect: text("dialect").unwrap_or_default(),
        logical_id: text("logical_id")?,
        host_session: text("host_session"),
        // Neither begins a session.
        previous: None,
        helper: None,
        project: text("project")?,
        pane: text("pane"),
        client: pid.zip(number(1)).map(|(pid, started)| ClientProcess { pid, started }),
        conversation: text("conversation"),
        role: text("role"),
        mode: text("mode"),
        mission: text("mission"),
        started_by: text("started_by"),
        standing: match text("standing")?.as_str() {
            "unattended" => Supervision::Unattended,
            "looped" => Supervision::Looped,
            "supervised" => Supervision::Supervised,
            "iteration" => Supervision::Iteration,
            _ => Supervision::Attended,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_an_event_was_about_is_written_and_read_back_as_it_was() {
        let some = |text: &str| Some(text.to_string());
        let who = Who {
            agent: "w1".into(),
            named: true,
            dialect: "d".into(),
            logical_id: "l".into(),
            host_session: some("h"),
            previous: None,
            helper: None,
            project: "/p".into(),
            pane: some("%1"),
            client: Some(ClientProcess { pid: 7, started: u64::MAX }),
            conversation: some("c"),
            role: some("r"),
            mode: some("m"),
            mission: some("x"),
            started_by: some("s"),
            standing: Supervision::Looped,
        };
        assert_eq!(who_of(&who_value(&who)), Some(who));
    }
}
