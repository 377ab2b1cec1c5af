//! What is next, said to an agent by its user: as the user's own words where its
//! terminal can be typed into, else as a message.

use crate::target::{self, TargetAgent};
use crate::typing::{self, NotTyped};
use crate::{ActionError, FleetPlace, Person, record};
use engine::fleet::messages::{self, LONGEST, PERSON_NOTE};
use model::Ms;
use model::effect::Write;
use model::effort::{Addressee, MemoryWrite, Message};
use serde_json::json;
use store::{Durability, Store};

/// How it reaches the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// It was typed at the agent's prompt, and Enter was pressed.
    Typed,
    /// It waits for the agent as a note of its user's.
    Message {
        /// The agent is woken for it; else it sees it at its next prompt or tool call.
        wakes: bool,
        /// Why it could not be typed.
        why: String,
    },
    /// It waits for the shared server, and then for the agent on its own machine, as words of a person on this one.
    Elsewhere {
        /// As people write it: `api@vm-3`.
        to: String,
    },
}

pub fn say(
    store: &mut Store,
    place: &FleetPlace,
    person: &Person,
    agent: &str,
    text: &str,
) -> Result<Said, ActionError> {
    let text = checked(text)?;
    let target = match target::find(store, agent) {
        Err(ActionError::NoAgent(_)) => return say_elsewhere(store, person, agent, &text),
        found => found?,
    };
    let said = match typing::type_in(place, &target, &text) {
        Ok(()) => Said::Typed,
        // Sent as a message too, it would be said twice.
        Err(NotTyped::LeftStanding) => {
            let what = json!({"text": text, "way": "left standing"});
            record::store(store, record::event(person, &target.agent, "say", what, host::clock::now()))?;
            return Err(ActionError::Refused(format!(
                "{}; look at its terminal: press Enter there, or clear the line and say it again",
                NotTyped::LeftStanding
            )));
        }
        Err(why) => Said::Message { wakes: typing::can_be_woken(place, &target), why: why.to_string() },
    };
    keep(store, person, &target, &text, &said)?;
    Ok(said)
}

/// To an agent of another machine: nothing is typed there, and nobody there takes it for words of their own user.
fn say_elsewhere(store: &mut Store, person: &Person, agent: &str, text: &str) -> Result<Said, ActionError> {
    match store.addressee(agent)? {
        Some(Addressee::Remote(to)) => {
            let shown = to.shown.clone();
            note(store, person, Addressee::Remote(to), text)?;
            Ok(Said::Elsewhere { to: shown })
        }
        Some(Addressee::Agent(_) | Addressee::Conversation(_)) | None => Err(ActionError::NoAgent(agent.to_string())),
    }
}

/// A note of a person's to whoever is meant: an agent or a conversation.
pub fn note(store: &mut Store, person: &Person, to: Addressee, text: &str) -> Result<(), ActionError> {
    let text = checked(text)?;
    if matches!(to, Addressee::Remote(_)) && store.outbox_is_full()? {
        return Err(ActionError::Refused(messages::outbox_is_full()));
    }
    let now = host::clock::now();
    let agent = match &to {
        Addressee::Agent(name) => store.agent(name)?,
        Addressee::Conversation(_) | Addressee::Remote(_) => None,
    };
    let what = json!({"text": text, "way": "message"});
    let event = agent.map(|agent| Write::Event(Box::new(record::event(person, &agent, "send", what, now))));
    let writes: Vec<Write> = event.into_iter().chain([message(to, &text, now)]).map(engine::redact::write).collect();
    store.transact(Durability::Full, |tx| tx.apply(&writes))?;
    Ok(())
}

fn message(to: Addressee, text: &str, now: Ms) -> Write {
    Write::Memory(MemoryWrite::Message(Message {
        id: host::clock::uuid(now),
        at: now,
        kind: PERSON_NOTE.to_string(),
        from_agent: None,
        to: Some(to),
        session: None,
        body: text.to_string(),
    }))
}

/// What nobody could read as words is not said.
fn checked(text: &str) -> Result<String, ActionError> {
    let text = typing::clean(text);
    if text.trim().is_empty() {
        return Err(ActionError::Refused("there is nothing to say: the text is empty".to_string()));
    }
    let length = text.chars().count();
    if length > LONGEST {
        return Err(ActionError::Refused(format!(
            "the text has {length} characters and at most {LONGEST} are passed on; write it into a file and name that"
        )));
    }
    Ok(text)
}

/// The message where it is one, and the event of what was done, in one transaction.
fn keep(store: &mut Store, person: &Person, target: &TargetAgent, text: &str, said: &Said) -> Result<(), ActionError> {
    let now = host::clock::now();
    let way = match said {
        Said::Typed => "typed",
        Said::Message { .. } | Said::Elsewhere { .. } => "message",
    };
    let event = record::event(person, &target.agent, "say", json!({"text": text, "way": way}), now);
    let mut writes = vec![Write::Event(Box::new(event))];
    if matches!(said, Said::Message { .. }) {
        writes.push(message(Addressee::Agent(target.agent.id.clone()), text, now));
    }
    let writes: Vec<Write> = writes.into_iter().map(engine::redact::write).collect();
    store.transact(Durability::Full, |tx| tx.apply(&writes))?;
    Ok(())
}
