//! The side that holds the card: an answer that came over a server is given like one from here where its signature is of a
//! machine that is trusted, over exactly what this machine would show of that very card. Else it is refused, and that is
//! said back.

use super::seen;
use crate::answer::{AnswerOrigin, give};
use crate::open_cards::can_be_answered;
use crate::{ActionError, Person};
use engine::cards::{address, answer_text, fits, known, told};
use host::machine_key::is_signed;
use model::card::{ActionPlace, Card, CardAnswer};
use model::effect::Write;
use model::effort::{Addressee, MemoryWrite, Message, RemoteAddressee};
use model::remote_card::{ANSWER, ANSWER_FATE, AnswerFate, PresenceCard, RemoteAnswer, SignedAnswer};
use model::text::line;
use store::{Durability, SettledAnswer, Store, TrustedMachine};

/// A longer one was not sent by this product.
const LONGEST: usize = 16_000;
/// So much of what another machine says of an answer is kept.
const MOST_SAID: usize = 400;
/// More words to others are not written while so many wait: a server could ask for any number.
const MOST_WAITING: u64 = 1_000;
/// The agent's part of an address that is no agent.
const PEOPLE: &str = "people";

/// What other machines are told of the first card of an agent that can be answered from elsewhere. `label` is what this
/// machine is called.
#[must_use]
pub fn presence_card(cards: &[Card], (name, label): (&str, &str)) -> Option<PresenceCard> {
    cards.iter().find(|card| can_be_answered(card)).map(|card| told(card, &address(name, label)))
}

/// Judges one that came, gives it or refuses it, says so to its machine, and forgets it. Whether it was given.
///
/// # Errors
/// When the store cannot be read or written: then it is judged again later.
pub fn take(store: &mut Store, came: &SettledAnswer, label: &str) -> Result<bool, store::Error> {
    let fate = match came.kind.as_str() {
        ANSWER => judged(store, came, label)?,
        ANSWER_FATE => return heard(store, came),
        _ => None,
    };
    let taken = fate.as_ref().is_some_and(|(fate, _)| fate.taken);
    let has_room = store.outgoing_message_count()? < MOST_WAITING;
    let back = fate.filter(|_| has_room).map(|(fate, to)| message(&came.server, fate, to));
    store.transact(Durability::Full, |tx| {
        if let Some(back) = back {
            tx.apply(&[Write::Memory(MemoryWrite::Message(back))])?;
        }
        tx.forget_settled_answer(&came.id)
    })?;
    Ok(taken)
}

/// Word of an answer from here.
fn heard(store: &mut Store, came: &SettledAnswer) -> Result<bool, store::Error> {
    let read = Some(&came.body).filter(|body| body.len() <= LONGEST);
    let fate = read.and_then(|body| serde_json::from_str::<AnswerFate>(body).ok());
    let fate = fate.map(|fate| AnswerFate { said: line(&fate.said, MOST_SAID), ..fate });
    store.transact(Durability::Full, |tx| {
        if let Some(fate) = &fate {
            tx.note_answer_fate(fate)?;
        }
        tx.forget_settled_answer(&came.id)
    })?;
    Ok(false)
}

/// What became of it, and which machine is to hear that. `None` for what is not for this machine or no answer at all.
fn judged(store: &mut Store, came: &SettledAnswer, label: &str) -> Result<Option<(AnswerFate, String)>, store::Error> {
    let read = Some(&came.body).filter(|body| body.len() <= 4 * LONGEST);
    let Some(signed) = read.and_then(|body| serde_json::from_str::<SignedAnswer>(body).ok()) else { return Ok(None) };
    let own = store.known_machine()?;
    if own.as_ref() != Some(&signed.answer.to_machine) || signed.answer.server != came.server {
        return Ok(None);
    }
    let trusted = store.trusted_machines()?.into_iter().find(|one| one.machine == signed.answer.from_machine);
    let said = match checked(&signed, trusted.as_ref(), &line(label, 80)) {
        Err(why) => Err(why),
        Ok(trusted) => match given(store, &signed.answer, (trusted, label)) {
            Err(ActionError::Store(error)) => return Err(error),
            done => done.map_err(|why| why.to_string()),
        },
    };
    let taken = said.is_ok();
    let said = said.unwrap_or_else(|why| why);
    let SignedAnswer { answer: RemoteAnswer { nonce, card, from_machine, .. }, .. } = signed;
    Ok(Some((AnswerFate { nonce, card, taken, said }, from_machine)))
}

/// The machine whose key has signed it, where that is one that is trusted here.
fn checked<'t>(
    signed: &SignedAnswer,
    trusted: Option<&'t TrustedMachine>,
    label: &str,
) -> Result<&'t TrustedMachine, String> {
    let from = line(&signed.answer.from_machine, 64);
    let trusted = trusted.ok_or_else(|| {
        format!("{label} does not trust the machine it was given on: a person says `taut shared trust {from}` on {label}, once")
    })?;
    if !is_signed(&trusted.key, &answer_text(&signed.answer), &signed.signature) {
        return Err(format!(
            "it is not signed with the key that {label} trusts of that machine: a person says `taut shared trust {from}` on \
             {label} again, and compares its fingerprint with `taut shared key`"
        ));
    }
    Ok(trusted)
}

/// As by `taut answer` here, once it is sure that the person saw this card as it is.
fn given(
    store: &mut Store,
    answer: &RemoteAnswer,
    (from, label): (&TrustedMachine, &str),
) -> Result<String, ActionError> {
    let gone = || ActionError::NoCard(answer.card.clone());
    let card = store.card(&answer.card)?.ok_or_else(gone)?;
    let user = format!("{}@{}", line(&answer.user, 80), line(&from.label, 64));
    if is_repeated(&card, &user, &answer.answer) {
        return Ok("it was answered with this".to_string());
    }
    let shown = told(&card, &address(&store.agent_name(&card.agent)?, label));
    if answer.digest != card.digest || answer.seen != seen(&shown) {
        let why = "what you were shown is not what this card says on its machine: nothing was answered; look at it again, or \
                   answer at the agent's own terminal";
        return Err(ActionError::Refused(why.to_string()));
    }
    // Of what was shown there: more is known here, which whoever answered did not see.
    let there = known(&shown, &card.agent, card.at).map_err(|why| ActionError::Refused(why.to_string()))?;
    fits(&there, &answer.answer).map_err(ActionError::Refused)?;
    let person = Person { user, place: ActionPlace::OtherMachine };
    let there = ActionPlace::parse(&answer.place).map_or("unknown", ActionPlace::name);
    let origin = AnswerOrigin::Machine { id: &from.machine, label: &from.label, place: there, server: &answer.server };
    give(store, &person, (&answer.card, answer.answer.clone()), origin)?;
    Ok("it was given to the agent's client".to_string())
}

/// A death after the answer and before the word of it repeats both.
fn is_repeated(card: &Card, user: &str, answer: &CardAnswer) -> bool {
    let same = |by: &model::card::AnsweredBy| by.user == user && by.place == ActionPlace::OtherMachine;
    card.answered.as_ref().is_some_and(same) && card.answer.as_ref() == Some(answer)
}

fn message(server: &str, fate: AnswerFate, to: String) -> Message {
    let now = host::clock::now();
    Message {
        id: host::clock::uuid(now),
        at: now,
        kind: ANSWER_FATE.to_string(),
        from_agent: None,
        to: Some(Addressee::Remote(Box::new(RemoteAddressee {
            server: server.to_string(),
            machine: Some(to),
            name: PEOPLE.to_string(),
            shown: PEOPLE.to_string(),
        }))),
        session: None,
        body: serde_json::to_string(&fate).unwrap_or_default(),
    }
}
