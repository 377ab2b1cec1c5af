//! The event of an act: who did what to which agent, and where.

use crate::Person;
use engine::redact::redact;
use model::Ms;
use model::effect::Write;
use model::row::{Agent, Event};
use serde_json::{Value, json};
use store::{Durability, Store};

/// What the event of an act is called; its tool is the act.
pub const PERSON_ACT: &str = "PersonAct";

/// An act as an event of the agent it was done to. What was said is in `what`, redacted here.
pub fn event(person: &Person, agent: &Agent, act: &str, what: Value, now: Ms) -> Event {
    let mut detail = redact(&what);
    if let Value::Object(fields) = &mut detail {
        fields.insert("by".to_string(), json!(person.user));
        fields.insert("at".to_string(), json!(person.place.name()));
    }
    let id = host::clock::uuid(now);
    Event {
        key: format!("taut/act/{id}"),
        session: agent.session.clone(),
        tool: Some(act.to_string()),
        detail,
        ..Event::noted(PERSON_ACT, &agent.id, id, now)
    }
}

/// Stored before anybody is told that it happened.
pub fn store(store: &mut Store, event: Event) -> Result<(), store::Error> {
    store.transact(Durability::Normal, |tx| tx.apply(&[Write::Event(Box::new(event))])).map(drop)
}
