//! Messages between machines: what waits here is put on the server and then forgotten here; what waits there is kept here,
//! then taken there, and only what is taken is told. A death between any two of these steps repeats one, and tells nothing
//! twice.

use super::contact::Contact;
use super::rounds::note_once;
use super::text;
use engine::fleet::messages::{
    LONGEST, NOTE, PERSON_NOTE, TASK_DONE, TASK_FAILED, WORKER_DONE, WORKER_ENDED, WORKER_FAILED,
};
use engine::leaving::{self, SHORT};
use model::effort::{Addressee, Message};
use model::remote_card::{ANSWER, ANSWER_FATE};
use shared_store::WaitingMessage;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use store::{ArrivingMessage, Error, OutgoingMessage, SharedState, Store};

/// What one agent may tell another. All else is a note: nobody on another machine is this one's user, or Taut.
const BETWEEN_AGENTS: &[&str] = &[NOTE, WORKER_DONE, WORKER_FAILED, WORKER_ENDED, TASK_DONE, TASK_FAILED];

/// At once, and so often in a round.
const MOST: usize = 100;
const MOST_TURNS: usize = 10;
/// Of more that an agent or a conversation was not told yet the others are dropped: else one who is written to and never
/// reads would keep everybody's from coming.
const MOST_UNTOLD: i64 = 200;

/// Puts what waits here on the server. How many.
pub(crate) fn send(contact: &mut Contact, store: &mut Store, state: &mut SharedState) -> Result<usize, Error> {
    let (server, machine) = (contact.server_id.clone(), contact.machine.id.clone());
    let mut sent = 0;
    for _ in 0..MOST_TURNS {
        let waiting = store.outgoing_messages(&server, MOST)?;
        if waiting.is_empty() {
            break;
        }
        let (fit, unfit): (Vec<_>, Vec<_>) = waiting.iter().partition(|message| is_addressed(message));
        let fit: Vec<OutgoingMessage> = fit.into_iter().map(|message| leaving(message, &machine)).collect();
        if !fit.is_empty() {
            contact.fleet()?.messages_put(&machine, &fit)?;
        }
        if !unfit.is_empty() {
            let text = format!("{} messages were for nobody that a server could find, and were dropped", unfit.len());
            state.note(text, host::clock::now());
        }
        let ids: Vec<String> = waiting.iter().map(|message| message.id.clone()).collect();
        store.messages_sent(&ids)?;
        sent += fit.len();
        if waiting.len() < MOST {
            break;
        }
    }
    Ok(sent)
}

/// The server takes a message for an agent of a machine, or for a conversation.
fn is_addressed(message: &OutgoingMessage) -> bool {
    let to_agent = message.to_machine.as_deref().is_some_and(text::is_uuid) && message.to_agent.is_some();
    // Longer ones are told of nobody.
    let is_short = |name: &String| name.chars().count() <= 2 * SHORT;
    let names = [&message.to_agent, &message.to_conversation].into_iter().flatten();
    to_agent != message.to_conversation.is_some() && names.into_iter().all(is_short)
}

fn leaving(message: &OutgoingMessage, machine: &str) -> OutgoingMessage {
    let is_for_agent = message.to_conversation.is_none();
    OutgoingMessage {
        id: text::as_uuid(&message.id, machine),
        kind: message.kind.clone(),
        from_agent: message.from_agent.as_deref().map(|from| leaving::line(from, SHORT)),
        to_machine: message.to_machine.clone().filter(|_| is_for_agent),
        to_agent: message.to_agent.clone().filter(|_| is_for_agent),
        to_conversation: message.to_conversation.clone(),
        body: match is_answer(&message.kind) {
            // Signed as it is, when its words had been redacted.
            true => message.body.clone(),
            false => engine::redact::text_without_secrets(&message.body),
        },
    }
}

/// For no agent: a person's answer to a card of another machine, or word of one.
fn is_answer(kind: &str) -> bool {
    matches!(kind, ANSWER | ANSWER_FATE)
}

/// Answers that came are given to whoever holds their cards, or refused; both is said to their machines. How many came.
pub(crate) fn judge(contact: &Contact, store: &mut Store) -> Result<usize, Error> {
    let came = store.settled_answers(MOST)?;
    for one in &came {
        actions::remote_answer::take(store, one, &contact.machine.label)?;
    }
    Ok(came.len())
}

/// Takes what is for this machine and for the conversations that it carries. How many are new.
pub(crate) fn receive(
    contact: &mut Contact,
    store: &mut Store,
    conversations: &[String],
    state: &mut SharedState,
) -> Result<usize, Error> {
    let (server, machine) = (contact.server_id.clone(), contact.machine.id.clone());
    for _ in 0..MOST_TURNS {
        let due = contact.fleet()?.messages_due(&machine, conversations, MOST)?;
        let ours = |one: &&WaitingMessage| one.to_conversation.as_ref().is_none_or(|name| conversations.contains(name));
        let came = Incoming::sorted(due.iter().take(MOST).filter(ours), store)?;
        if !came.fit.is_empty() {
            store.put_arriving(&server, &came.fit)?;
        }
        came.say(state);
        if !came.dropped.is_empty() {
            // Else they would come again and again, and stand in the way of others.
            contact.fleet()?.messages_fetched(&machine, &came.dropped)?;
        }
        // All that is dropped makes room for what stands behind it; what is kept is settled first.
        if due.len() < MOST || came.dropped.len() < MOST {
            break;
        }
    }
    // Also those that were kept before a death, of which it is not known whose they are.
    let asked = store.arriving(&server, MOST)?;
    if asked.is_empty() {
        return Ok(0);
    }
    let ours = contact.fleet()?.messages_fetched(&machine, &asked)?;
    store.settle_arriving(&server, &asked, &ours, host::clock::now())
}

/// What waited on the server, by what is done with it.
#[derive(Default)]
struct Incoming {
    fit: Vec<ArrivingMessage>,
    /// Taken from the server and told to nobody: no messages, for nobody who is known here, or too many for one.
    dropped: Vec<String>,
    /// For whom there were too many.
    flooded: Vec<String>,
}

impl Incoming {
    fn sorted<'m>(due: impl Iterator<Item = &'m WaitingMessage>, store: &Store) -> Result<Self, Error> {
        let (mut sorted, mut untold) = (Self::default(), BTreeMap::new());
        for waiting in due {
            let Some(message) = arriving(waiting) else {
                sorted.dropped.extend(Some(waiting.id.clone()).filter(|id| text::is_uuid(id)));
                continue;
            };
            // A person's answer is for no agent: its card says whose it is, and the word of it is for people.
            if is_answer(&message.kind) {
                sorted.fit.push(message);
                continue;
            }
            if let Some(agent) = &message.to_agent
                && store.agent(agent)?.is_none()
            {
                sorted.dropped.push(message.id);
                continue;
            }
            let wait = match untold.entry((message.to_agent.clone(), message.to_conversation.clone())) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => new.insert(waits(store, &message)?),
            };
            if *wait >= MOST_UNTOLD {
                sorted.flooded.extend(message.to_agent.or(message.to_conversation));
                sorted.dropped.push(message.id);
            } else {
                *wait += 1;
                sorted.fit.push(message);
            }
        }
        sorted.flooded.sort();
        sorted.flooded.dedup();
        Ok(sorted)
    }

    /// Once for each to whom too much is written.
    fn say(&self, state: &mut SharedState) {
        if !self.dropped.is_empty() {
            tracing::info!("{} messages from other machines were taken for nobody here", self.dropped.len());
        }
        for to in &self.flooded {
            let words = format!(
                "{to} has not read {MOST_UNTOLD} messages from other machines; those that come beyond them are dropped"
            );
            note_once(state, words, host::clock::now());
        }
    }
}

/// How many others whom it is for was not told yet.
fn waits(store: &Store, message: &ArrivingMessage) -> Result<i64, Error> {
    let agent = message.to_agent.clone().map(Addressee::Agent);
    let to = agent.or_else(|| message.to_conversation.clone().map(Addressee::Conversation));
    to.map_or(Ok(0), |to| store.waiting_from_afar(&to))
}

/// A message as it is kept here: cleaned, bounded, and with its machine. `None` for what is none.
fn arriving(waiting: &WaitingMessage) -> Option<ArrivingMessage> {
    let WaitingMessage { id, kind, from_agent, from_label, from_machine, to_agent, to_conversation, body, .. } =
        waiting;
    if !text::is_uuid(id) || to_agent.is_some() == to_conversation.is_some() {
        return None;
    }
    let label = from_label.as_deref().map(text::name).filter(|label| !label.is_empty());
    let label = label.unwrap_or_else(|| text::name(&from_machine.chars().take(8).collect::<String>()));
    let sender = from_agent.as_deref().map(text::name).filter(|name| !name.is_empty());
    // What is signed is judged as it came, and never shown.
    if is_answer(kind) {
        let is_fit = to_agent.is_some() && body.chars().count() <= LONGEST;
        let (id, kind, from) = (id.to_ascii_lowercase(), kind.clone(), format!("somebody@{label}"));
        let (to_agent, to_conversation, body) = (to_agent.clone(), None, body.clone());
        return is_fit.then_some(ArrivingMessage { id, kind, from, to_agent, to_conversation, body });
    }
    let body = model::text::lines(body, LONGEST);
    let body = if kind == PERSON_NOTE { format!("a person at {label} writes:\n{body}") } else { body };
    Some(ArrivingMessage {
        id: id.to_ascii_lowercase(),
        kind: BETWEEN_AGENTS.iter().find(|known| *known == kind).unwrap_or(&NOTE).to_string(),
        from: format!("{}@{label}", sender.as_deref().unwrap_or("somebody")),
        to_agent: to_agent.clone(),
        to_conversation: to_conversation.clone(),
        body,
    })
}

/// Reports to a conversation that another machine carries by now go there. `may` says whether what is of this session may
/// leave.
pub(crate) fn forward(
    store: &mut Store,
    server: &str,
    may: &mut dyn FnMut(&Store, &Message) -> bool,
) -> Result<usize, Error> {
    let remote = store.remote_agents()?;
    let mut conversations: Vec<String> = remote.into_iter().filter_map(|one| one.told.conversation).collect();
    conversations.sort();
    conversations.dedup();
    if conversations.is_empty() {
        return Ok(0);
    }
    let mut stranded = store.stranded_messages(&conversations)?;
    stranded.retain(|message| BETWEEN_AGENTS.contains(&message.kind.as_str()) && may(store, message));
    if stranded.is_empty() {
        return Ok(0);
    }
    store.forward_messages(server, &stranded, host::clock::now())
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::fleet::messages::SHARED_TASK;

    const ID: &str = "0197e5a1-0000-7000-8000-000000000001";

    fn waiting(kind: &str) -> WaitingMessage {
        WaitingMessage {
            id: ID.into(),
            kind: kind.into(),
            from_agent: Some("api".into()),
            from_label: Some("vm-3".into()),
            from_machine: ID.into(),
            to_agent: Some("web".into()),
            body: "rebase first".into(),
            ..WaitingMessage::default()
        }
    }

    #[test]
    fn f9_nothing_from_another_machine_is_told_as_the_users_word_or_as_tauts_own() {
        for kind in BETWEEN_AGENTS {
            assert_eq!(arriving(&waiting(kind)).unwrap().kind, *kind);
        }
        for kind in [PERSON_NOTE, SHARED_TASK, "sub_agent_done", "teammate_idle", "dialogue", "", "anything"] {
            let kept = arriving(&waiting(kind)).unwrap();
            assert_eq!((kept.kind.as_str(), kept.from.as_str()), (NOTE, "api@vm-3"), "{kind}");
        }
        let note = arriving(&WaitingMessage { from_agent: None, ..waiting(PERSON_NOTE) }).unwrap();
        assert_eq!(
            (note.from.as_str(), note.body.as_str()),
            ("somebody@vm-3", "a person at vm-3 writes:\nrebase first")
        );
    }

    #[test]
    fn f9_what_came_is_cleaned_and_bounded_and_what_is_no_message_is_left() {
        let odd = WaitingMessage {
            from_agent: Some("api@local\u{1b}[31m".into()),
            from_label: Some(" vm\n3 ".into()),
            body: format!("\u{1b}]0;x\u{7}{}", "x".repeat(50_000)),
            ..waiting(NOTE)
        };
        let kept = arriving(&odd).unwrap();
        assert!(kept.from.starts_with("api-local") && kept.from.ends_with("@vm-3"), "{}", kept.from);
        assert!(!kept.from.chars().chain(kept.body.chars()).any(|c| c.is_control()), "{}", kept.from);
        assert!(kept.body.chars().count() <= LONGEST + 1);
        for bad in [
            WaitingMessage { id: "no id".into(), ..waiting(NOTE) },
            WaitingMessage { to_agent: None, ..waiting(NOTE) },
            WaitingMessage { to_conversation: Some("c".into()), ..waiting(NOTE) },
            WaitingMessage::default(),
        ] {
            assert_eq!(arriving(&bad), None, "{bad:?}");
        }
    }
}
