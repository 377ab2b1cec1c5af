//! The side that answers: which cards other machines have told of, and an answer that is signed and waits for the server.

use super::seen;
use crate::answer::{said, where_words, worded};
use crate::{ActionError, Person};
use engine::cards::{address, answer_text, fits, known};
use engine::fleet::messages::outbox_is_full;
use engine::redact;
use host::machine_key::MachineKey;
use model::Ms;
use model::card::{Card, CardAnswer};
use model::effect::Write;
use model::effort::{Addressee, MemoryWrite, Message, RemoteAddressee};
use model::remote_card::{ANSWER, PresenceCard, RemoteAnswer, SignedAnswer};
use model::row::Event;
use serde_json::json;
use std::path::Path;
use store::{Durability, RemoteAgent, SentAnswer, Store};

/// What an answer is stored as on the machine that it leaves.
pub const SENT_EVENT: &str = "AnswerSent";

/// So much of the digest of what is shown tells a text from every other that somebody could make.
const DIGITS_OF_SEEN: usize = 32;

/// A server takes no longer message.
const LONGEST: usize = 16_000;

/// A card of an agent of another machine, as its machine told of it.
#[derive(Debug, Clone, PartialEq)]
pub struct RemoteCard {
    /// As views and answers know cards; nobody on this machine holds it.
    pub card: Card,
    pub agent: RemoteAgent,
    /// What the agent is called here, told from those of other machines.
    pub shown: String,
    told: PresenceCard,
}

impl RemoteCard {
    fn of(agent: RemoteAgent, shown: String) -> Option<Self> {
        let (told, card) = (agent.told.card.clone()?, shown_card(&agent)?);
        Some(Self { card, agent, shown, told })
    }
}

/// What an agent of another machine asks, where its machine says that it is this agent who does: who is called what on a server
/// anybody there may write.
#[must_use]
pub fn shown_card(agent: &RemoteAgent) -> Option<Card> {
    let told = agent.told.card.as_ref()?;
    let card = known(told, &agent.agent, Ms(agent.told.since)).ok()?;
    let is_of_it = told.of == address(&agent.told.name, &agent.label);
    is_of_it.then(|| Card { id: shown_id(told, &agent.machine), ..card })
}

/// A card of another machine is known here by its id, its machine and all that is shown of it. Else a server could tell of a
/// card with the id of one of this machine, or put another text under what somebody is about to agree to.
fn shown_id(told: &PresenceCard, machine: &str) -> String {
    let seen: String = seen(told).chars().take(DIGITS_OF_SEEN).collect();
    format!("{}@{machine}.{seen}", told.id)
}

/// What waits on other machines, the oldest first.
///
/// # Errors
/// When the store cannot be read.
pub fn remote_cards(store: &Store) -> Result<Vec<RemoteCard>, store::Error> {
    let all = store.remote_agents()?;
    let asking = all.iter().filter(|agent| agent.told.card.is_some());
    let cards = asking.filter_map(|agent| RemoteCard::of(agent.clone(), agent.shown_among(&all)));
    let mut found: Vec<RemoteCard> = cards.collect();
    found.sort_by(|a, b| (a.card.at, &a.card.id).cmp(&(b.card.at, &b.card.id)));
    Ok(found)
}

/// The card with this id, where another machine has told of it.
///
/// # Errors
/// When the store cannot be read.
pub fn remote_card(store: &Store, id: &str) -> Result<Option<RemoteCard>, store::Error> {
    Ok(remote_cards(store)?.into_iter().find(|one| one.card.id == id))
}

/// Signs the answer and leaves it for the server. What becomes of it is said by the card's machine.
///
/// # Errors
/// In words for the person: it does not fit, is too long, or this machine has no key that it could be signed with.
pub fn send(
    store: &mut Store,
    state: &Path,
    person: &Person,
    (to, answer): (&RemoteCard, CardAnswer),
) -> Result<SentAnswer, ActionError> {
    let answer = without_secrets(worded(answer, &person.user)?);
    fits(&to.card, &answer).map_err(ActionError::Refused)?;
    if store.outbox_is_full()? {
        return Err(ActionError::Refused(outbox_is_full()));
    }
    let key = MachineKey::open_or_draw(state).map_err(refused)?;
    let now = host::clock::now();
    let unknown = || ActionError::NoCard(to.card.id.clone());
    let server = store.remote_server()?.ok_or_else(unknown)?;
    let remote = RemoteAnswer {
        server: server.clone(),
        from_machine: store.machine(&host::clock::uuid(now))?,
        to_machine: to.agent.machine.clone(),
        card: to.told.id.clone(),
        digest: to.told.digest.clone(),
        seen: seen(&to.told),
        answer,
        user: model::text::line(&person.user, 80),
        place: person.place.name().to_string(),
        nonce: nonce(),
    };
    let signature = key.sign(&answer_text(&remote)).map_err(refused)?;
    let body = serde_json::to_string(&SignedAnswer { answer: remote.clone(), signature }).unwrap_or_default();
    if body.chars().count() > LONGEST {
        return Err(ActionError::Refused(
            "these words are too long to be sent to another machine: say it shorter".into(),
        ));
    }
    let sent = SentAnswer {
        nonce: remote.nonce.clone(),
        card: remote.card.clone(),
        machine: remote.to_machine.clone(),
        agent: to.shown.clone(),
        at: now,
        fate: None,
    };
    let message = Message {
        id: host::clock::uuid(now),
        at: now,
        kind: ANSWER.to_string(),
        from_agent: None,
        to: Some(Addressee::Remote(Box::new(RemoteAddressee {
            server,
            machine: Some(remote.to_machine.clone()),
            name: to.agent.agent.clone(),
            shown: sent.agent.clone(),
        }))),
        session: None,
        body,
    };
    let event = redact::write(Write::Event(Box::new(event(to, &remote, (person, &sent)))));
    // What is signed is not redacted again: it holds no secret, and another spelling would not be what was signed.
    let writes = [Write::Memory(MemoryWrite::Message(message)), event];
    store.transact(Durability::Full, |tx| {
        tx.apply(&writes)?;
        tx.note_sent_answer(&sent)
    })?;
    Ok(sent)
}

fn refused(error: host::machine_key::MachineKeyError) -> ActionError {
    ActionError::Refused(format!("an answer to another machine has to be signed: {error}"))
}

/// Words leave this machine: what they hold of secrets does not.
fn without_secrets(answer: CardAnswer) -> CardAnswer {
    let clean = |words: String| redact::text_without_secrets(&words);
    match answer {
        CardAnswer::Deny { words } => CardAnswer::Deny { words: clean(words) },
        CardAnswer::RejectPlan { words } => CardAnswer::RejectPlan { words: clean(words) },
        CardAnswer::Choose { mut chosen } => {
            chosen.values_mut().for_each(|one| one.words = one.words.take().map(clean));
            CardAnswer::Choose { chosen }
        }
        plain @ (CardAnswer::AllowOnce | CardAnswer::ApprovePlan) => plain,
    }
}

fn nonce() -> String {
    host::clock::random().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Who answered what, where, and for which machine.
fn event(to: &RemoteCard, answer: &RemoteAnswer, (person, sent): (&Person, &SentAnswer)) -> Event {
    let (did, words) = said(&answer.answer);
    let what = json!({"card": answer.card, "kind": to.card.kind.name(), "say": did, "words": words, "by": person.user,
        "where": person.place.name(), "agent": sent.agent, "machine": sent.machine, "input": to.card.shown.input});
    let reason = format!("{} {did} {} {} for {}", person.user, to.card.tool, where_words(person.place), sent.agent);
    Event {
        key: format!("{SENT_EVENT}/{}", sent.nonce),
        tool: Some(to.card.tool.clone()),
        reason: Some(redact::text_without_secrets(&reason)),
        detail: engine::redact(&what),
        ..Event::noted(SENT_EVENT, &sent.agent, host::clock::uuid(sent.at), Ms(sent.at.0))
    }
}
