//! What a person can do from the page, as data; and who does it. Everything goes through `actions`, which commands and
//! `taut top` use too: the page has no way of its own to an agent.

use super::connections::ConnectionEnds;
use actions::remote_answer::{AnswerWay, answer_anywhere, card_anywhere, fate};
use actions::{ActionError, FleetPlace, Interrupted, PaneWay, Person, Said};
use model::card::{Card, CardAnswer, ChosenAnswer};
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use store::{Focus, SentAnswer, Store, StoreHandle};

/// One act, as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageAct {
    Answer { card: String, answer: PageAnswer },
    Agent { agent: String, act: AgentAct },
}

/// An answer to the card that the page showed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageAnswer {
    /// Of the input that was shown.
    pub digest: String,
    pub answer: PageChoice,
}

/// Questions and labels by their numbers: what a person sees of them is cleaned, and the agent knows them as they are.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "say", rename_all = "snake_case", deny_unknown_fields)]
pub enum PageChoice {
    AllowOnce,
    Deny { words: String },
    Choose { chosen: Vec<NumberedChoice> },
    ApprovePlan,
    RejectPlan { words: String },
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NumberedChoice {
    pub labels: Vec<usize>,
    pub words: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentAct {
    Say {
        text: String,
    },
    Seen,
    Stop,
    Restart,
    Pane,
    /// What would be allowed is said first, and done when it is asked for with that very scope.
    AllowRule {
        rule: String,
        agreed: Option<String>,
    },
    TakeUp,
}

/// Who sits at the page, and what they act on.
#[derive(Debug, Clone)]
pub struct PagePerson {
    pub person: Person,
    pub place: FleetPlace,
    /// The user's own configuration.
    pub config: PathBuf,
    /// Whether whoever connects may act: an agent may have read the address and the code off the screen.
    pub visitor: CheckVisitor,
}

/// Why whoever is at the other end of a connection may not act, in words.
pub type CheckVisitor = fn(ConnectionEnds) -> Result<(), String>;

/// Does what is asked; tests put another in its place.
pub type Perform = dyn Fn(&PageAct) -> Result<Value, ActionError> + Send + Sync;

const PATIENCE: Duration = Duration::from_secs(2);

/// So long the page waits for word of an answer that went to another machine.
const FATE_WITHIN: Duration = Duration::from_secs(5);

/// When something comes to another machine.
const WHEN_REACHED: &str = "once the shared server has been reached";

/// The real one, with a connection of its own that is kept.
pub fn perform(by: PagePerson) -> Box<Perform> {
    let handle = Mutex::new(StoreHandle::default());
    Box::new(move |act| {
        let done = {
            let mut handle = handle.lock().unwrap_or_else(PoisonError::into_inner);
            let done = handle.get(|| Store::open(&by.place.state, PATIENCE)).map_err(ActionError::from);
            let done = done.and_then(|store| act.on(store, &by));
            // A connection that failed is not kept: the file may be damaged or gone.
            if matches!(done, Err(ActionError::Store(_))) {
                handle.close();
            }
            done
        };
        match done? {
            Done::Said(said) => Ok(said),
            Done::Sent(sent) => sent_away(&by.place, &sent),
        }
    })
}

/// What was done, as far as it is known at once.
#[derive(Debug)]
enum Done {
    Said(Value),
    /// It is on its way to another machine, which says later what became of it.
    Sent(SentAnswer),
}

/// Waits with a connection of its own: whoever does something else on the page is not held up by an answer whose machine is
/// slow or away.
fn sent_away(place: &FleetPlace, sent: &SentAnswer) -> Result<Value, ActionError> {
    let store = Store::open(&place.state, PATIENCE)?;
    Ok(match fate(&store, sent, FATE_WITHIN)? {
        Some((taken, said)) => json!({"sent": sent.agent, "taken": taken, "said": said}),
        None => json!({"sent": sent.agent}),
    })
}

impl PageAct {
    fn on(&self, store: &mut Store, by: &PagePerson) -> Result<Done, ActionError> {
        match self {
            Self::Answer { card, answer } => {
                let shown = card_anywhere(store, card)?.ok_or_else(|| ActionError::NoCard(card.clone()))?;
                let answer = answer.to(&shown).map_err(ActionError::Refused)?;
                Ok(match answer_anywhere(store, (&by.place, &by.person), (card, answer))? {
                    AnswerWay::Here(_) => Done::Said(json!({"state": "answered"})),
                    AnswerWay::Sent(sent) => Done::Sent(sent),
                })
            }
            Self::Agent { agent, act } => act.on(store, by, agent).map(Done::Said),
        }
    }
}

impl PageAnswer {
    /// The answer in the agent's own words, or why it is none to this card.
    fn to(&self, card: &Card) -> Result<CardAnswer, String> {
        if self.digest != card.digest {
            return Err("what it asks for has changed since this page showed it; look at it again".to_owned());
        }
        Ok(match &self.answer {
            PageChoice::AllowOnce => CardAnswer::AllowOnce,
            PageChoice::Deny { words } => CardAnswer::Deny { words: words.clone() },
            PageChoice::ApprovePlan => CardAnswer::ApprovePlan,
            PageChoice::RejectPlan { words } => CardAnswer::RejectPlan { words: words.clone() },
            PageChoice::Choose { chosen } => {
                let strange = || "this is no answer to what was asked; look at it again".to_owned();
                let asked = model::question::questions(&card.shown.input).ok_or_else(strange)?;
                if asked.len() != chosen.len() {
                    return Err(strange());
                }
                let named = asked.iter().zip(chosen).map(|(question, chosen)| {
                    let label = |at: &usize| question.options.get(*at).map(|option| option.label.to_owned());
                    let labels = chosen.labels.iter().map(label).collect::<Option<Vec<_>>>().ok_or_else(strange)?;
                    Ok((question.text.to_owned(), ChosenAnswer { labels, words: chosen.words.clone() }))
                });
                CardAnswer::Choose { chosen: named.collect::<Result<_, String>>()? }
            }
        })
    }
}

impl AgentAct {
    fn on(&self, store: &mut Store, by: &PagePerson, agent: &str) -> Result<Value, ActionError> {
        let PagePerson { person, place, config, .. } = by;
        Ok(match self {
            Self::Say { text } => match actions::say(store, place, person, agent, text)? {
                Said::Typed => json!({"done": "typed at its prompt, as your own words"}),
                Said::Message { wakes, why } => {
                    let when =
                        if wakes { "it is woken for it" } else { "it is shown it at its next prompt or tool call" };
                    json!({"done": format!("left as a note of yours; {when}"), "why": why})
                }
                Said::Elsewhere { to } => json!({"done": format!("{to} is shown it there, {WHEN_REACHED}")}),
            },
            Self::Seen => match actions::mark_seen(store, agent)? {
                Focus::Checked => json!({"done": "marked as seen"}),
                Focus::Untouched(status) => json!({"done": format!("it asks for nothing: it is {}", status.name())}),
            },
            Self::Stop => match actions::interrupt(store, place, person, agent)? {
                Interrupted::Stopped => json!({"done": "stopped, as by Esc at its terminal"}),
                Interrupted::Pressed => json!({"done": "Esc was pressed; it has not said yet that it stopped"}),
            },
            Self::Restart => {
                actions::restart(store, place, person, agent)?;
                json!({"done": "asked to start again; `taut run` does it"})
            }
            // A page is in no tmux: there is a way to go, never a going.
            Self::Pane => match actions::pane(store, agent, "")? {
                PaneWay::Command(command) => json!({"command": command}),
                PaneWay::Go(words) => json!({"command": format!("tmux {}", words.join(" "))}),
            },
            Self::AllowRule { rule, agreed } => {
                let allowance = actions::allow_rule_here(store, config, agent, rule)?;
                if agreed.as_ref() == Some(&allowance.scope) {
                    allowance.write(store, person)?;
                    json!({"done": format!("{rule} is allowed: {}", allowance.scope)})
                } else {
                    json!({"scope": allowance.scope, "diff": allowance.diff, "file": allowance.file})
                }
            }
            Self::TakeUp => json!({"command": actions::take_up(store, agent)?}),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Ms;
    use model::card::{ActionPlace, CardShown};
    use model::remote_card::{AnswerFate, PresenceCard};
    use std::path::Path;
    use store::{RemoteAgent, RemoteAgentRow};

    fn put(store: &mut Store, agents: &[(&str, &str)]) {
        let row = |(agent, command): &(&str, &str)| {
            let card = PresenceCard {
                id: "card-1".into(),
                kind: "permission".into(),
                tool: "Bash".into(),
                digest: "d".into(),
                of: "api@vm-3".into(),
                shown: CardShown { input: json!({"command": command}), ..CardShown::default() },
            };
            let (name, status) = ("api".into(), "attention".into());
            let told = RemoteAgentRow { name, status, card: Some(card), ..RemoteAgentRow::default() };
            let (machine, label, agent) = ("m3".into(), "vm-3".into(), (*agent).into());
            RemoteAgent { machine, label, agent, told, heard_at: Ms(1_000) }
        };
        store.put_remote_agents("srv", &agents.iter().map(row).collect::<Vec<_>>()).unwrap();
    }

    fn ada(home: &Path) -> PagePerson {
        PagePerson {
            person: Person { user: "ada".into(), place: ActionPlace::Page },
            place: FleetPlace { state: home.into(), home: home.into() },
            config: home.join("config.toml"),
            visitor: |_| Ok(()),
        }
    }

    #[test]
    fn f6_an_answer_that_waits_for_word_of_another_machine_holds_up_no_other_act() {
        let home = tempfile::tempdir().unwrap();
        let mut store = Store::open_and_migrate(home.path(), PATIENCE).unwrap();
        put(&mut store, &[("api", "make docs")]);
        let card = actions::remote_answer::remote_cards(&store).unwrap().remove(0).card.id;
        let perform = perform(ada(home.path()));
        let answer = PageAnswer { digest: "d".into(), answer: PageChoice::AllowOnce };
        let said = std::thread::scope(|scope| {
            let answered = scope.spawn(|| perform(&PageAct::Answer { card, answer }));
            let waiting = || store.outgoing_messages("srv", 9).unwrap().pop();
            let message = testkit::poll::until("the answer to be sent", Duration::from_secs(60), waiting).unwrap();
            let other = PageAct::Agent { agent: "nobody".into(), act: AgentAct::Seen };
            assert!(perform(&other).is_err(), "there is no such agent");
            // The other machine speaks after somebody did something else here.
            let body: Value = serde_json::from_str(&message.body).unwrap();
            let nonce = body["answer"]["nonce"].as_str().unwrap().to_owned();
            let fate = AnswerFate { nonce, card: "card-1".into(), taken: true, said: "it goes on".into() };
            store.transact(store::Durability::Full, |tx| tx.note_answer_fate(&fate)).unwrap();
            answered.join().unwrap()
        });
        assert_eq!(said.unwrap(), json!({"sent": "api@vm-3", "taken": true, "said": "it goes on"}));
    }

    #[test]
    fn f6_the_page_signs_what_it_showed_and_not_what_stands_in_its_place_at_the_press() {
        let home = tempfile::tempdir().unwrap();
        let mut store = Store::open_and_migrate(home.path(), PATIENCE).unwrap();
        put(&mut store, &[("api", "make docs")]);
        let fleet = store::Fleet { remote: store.remote_agents().unwrap(), ..store::Fleet::default() };
        let card = crate::view_model::rows(&fleet, Ms(1_000))[0].cards[0].id.clone();
        let shown = crate::web::cards::card(Some(&store), &card).unwrap().unwrap();
        assert_eq!(shown["agent_name"], "api@vm-3", "what the row shows is what the page asks for");
        let by = ada(home.path());
        let answer = PageAnswer { digest: "d".into(), answer: PageChoice::AllowOnce };
        let press = PageAct::Answer { card, answer };
        // Another text for the card, and a second row with its id.
        for rows in [&[("api", "rm -rf build")][..], &[("a", "rm -rf build"), ("api", "rm -rf src")]] {
            put(&mut store, rows);
            assert!(matches!(press.on(&mut store, &by), Err(ActionError::NoCard(_))), "{rows:?}");
        }
        assert!(store.outgoing_messages("srv", 9).unwrap().is_empty());
    }
}
