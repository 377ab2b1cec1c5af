//! What a person does from `taut top`, carried out by `actions` as it is from a command or the page.

use super::super::PATIENCE;
use crate::person;
use actions::remote_answer::{AnswerWay, answer_anywhere, fate};
use actions::{ActionError, FleetPlace, Interrupted, Person, RuleAllowance, Said};
use dash::tui::{TopAct, TopActions};
use host::paths::PathVariables;
use model::card::{ActionPlace, Card, CardAnswer, CardState};
use std::time::{Duration, Instant};
use store::{Focus, SentAnswer, Store};

/// So long is looked for what became of an answer.
const LOOK_FOR: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Whoever sits at the terminal that `taut top` is drawn on.
pub struct TopPerson {
    person: Person,
    places: PathVariables,
}

impl TopPerson {
    pub fn here() -> Self {
        let person = Person { user: person::name(), place: ActionPlace::Top };
        Self { person, places: PathVariables::from_process() }
    }

    fn store(&self) -> Result<Store, String> {
        // Asked each time: whoever started it may be gone, and an agent may type into its terminal.
        person::required("top").map_err(|refused| refused.what().to_string())?;
        Store::open_and_migrate(&self.places.state(), PATIENCE).map_err(|error| error.to_string())
    }

    fn place(&self) -> FleetPlace {
        FleetPlace { state: self.places.state(), home: self.places.home() }
    }

    fn perform(&self, store: &mut Store, act: TopAct) -> Result<String, ActionError> {
        let (person, place) = (&self.person, self.place());
        let agent = act.agent().map(str::to_owned).unwrap_or_default();
        let name = store.agent_name(&agent)?;
        Ok(match act {
            TopAct::Answer { card, answer } => return self.answer(store, &card, answer),
            TopAct::Say { text, .. } => match actions::say(store, &place, person, &agent, &text)? {
                Said::Typed => format!("typed at the prompt of {name}, as your own words"),
                Said::Message { why, .. } => format!("sent to {name} as a note of yours; not typed: {why}"),
                Said::Elsewhere { to } => format!("sent to {to}; it is shown there once the server has been reached"),
            },
            TopAct::Seen { .. } => match actions::mark_seen(store, &agent)? {
                Focus::Checked => format!("{name} is checked"),
                Focus::Untouched(status) => format!("{name} is {}: there was nothing to look at", status.name()),
            },
            TopAct::Interrupt { .. } => match actions::interrupt(store, &place, person, &agent)? {
                Interrupted::Stopped => format!("{name} has stopped"),
                Interrupted::Pressed => format!("Esc was pressed for {name}; it has not said yet that it stopped"),
            },
            TopAct::Restart { .. } => {
                actions::restart(store, &place, person, &agent)?;
                format!("{name} is started again")
            }
            TopAct::TakeUp { .. } => actions::take_up(store, &agent)?,
            TopAct::AllowRule { rule, .. } => {
                let allowance = self.allowance(store, &agent, &rule)?;
                allowance.write(store, person)?;
                format!("{rule} is allowed {}", allowance.scope)
            }
        })
    }

    fn allowance(&self, store: &Store, agent: &str, rule: &str) -> Result<RuleAllowance, ActionError> {
        actions::allow_rule_here(store, &self.places.user_config(), agent, rule)
    }

    /// Answers, and waits a moment for what became of it.
    fn answer(&self, store: &mut Store, card: &str, answer: CardAnswer) -> Result<String, ActionError> {
        let agent = match answer_anywhere(store, (&self.place(), &self.person), (card, answer))? {
            AnswerWay::Here(card) => store.agent_name(&card.agent)?,
            AnswerWay::Sent(sent) => {
                service::tell_daemon(&self.places);
                return Ok(sent_words(store, &sent)?);
            }
        };
        service::tell_daemon(&self.places);
        let until = Instant::now() + LOOK_FOR;
        loop {
            let found = store.card(card)?;
            match found.as_ref().map(|card: &Card| card.state) {
                Some(CardState::Used) => return Ok(format!("{agent}: your answer was used")),
                Some(CardState::AtTerminal) => return Ok(format!("{agent}: it was answered at the terminal")),
                Some(CardState::LetGo) | None => {
                    let why = found.as_ref().map_or("nobody waits for it any more", actions::let_go_words);
                    return Ok(format!("{agent}: {why}"));
                }
                Some(CardState::Given) if Instant::now() >= until => {
                    return Ok(format!("{agent}: your answer was given; its client has not confirmed it yet"));
                }
                Some(_) if Instant::now() >= until => {
                    return Ok(format!("{agent}: your answer waits to be given"));
                }
                Some(_) => std::thread::sleep(LOOK_EVERY),
            }
        }
    }
}

/// What its machine says of an answer, within a moment.
fn sent_words(store: &Store, sent: &SentAnswer) -> Result<String, store::Error> {
    let said = fate(store, sent, LOOK_FOR)?;
    let agent = &sent.agent;
    Ok(match said {
        Some((true, said)) => format!("{agent}: {said}"),
        Some((false, said)) => format!("{agent} was not answered: {said}"),
        None => format!("{agent}: your answer is on its way; `taut events` tells of it"),
    })
}

impl TopActions for TopPerson {
    fn act(&self, act: TopAct) -> String {
        let mut store = match self.store() {
            Ok(store) => store,
            Err(why) => return why,
        };
        let done = self.perform(&mut store, act).unwrap_or_else(|error| error.to_string());
        service::tell_daemon(&self.places);
        let _ = store.settle();
        done
    }

    fn prepare(&self, act: &TopAct) -> Result<String, String> {
        let store = self.store()?;
        let TopAct::AllowRule { agent, rule } = act else { return Err("there is nothing to ask".to_string()) };
        let allowance = self.allowance(&store, agent, rule).map_err(|error| error.to_string())?;
        Ok(format!("allow {rule} {}?", allowance.scope))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::card::CardShown;
    use model::remote_card::PresenceCard;
    use store::{RemoteAgent, RemoteAgentRow};

    fn put(store: &mut Store, agents: &[(&str, &str)]) {
        let row = |(agent, command): &(&str, &str)| {
            let card = PresenceCard {
                id: "card-1".into(),
                kind: "permission".into(),
                tool: "Bash".into(),
                digest: "d".into(),
                of: "api@vm-3".into(),
                shown: CardShown { input: serde_json::json!({"command": command}), ..CardShown::default() },
            };
            let (name, status) = ("api".into(), "attention".into());
            let told = RemoteAgentRow { name, status, card: Some(card), ..RemoteAgentRow::default() };
            let (machine, label, agent) = ("m3".into(), "vm-3".into(), (*agent).into());
            RemoteAgent { machine, label, agent, told, heard_at: host::clock::now() }
        };
        store.put_remote_agents("srv", &agents.iter().map(row).collect::<Vec<_>>()).unwrap();
    }

    #[test]
    fn f6_top_signs_what_it_showed_and_not_what_stands_in_its_place_at_the_press() {
        let home = tempfile::tempdir().unwrap();
        let places = PathVariables { taut_home: Some(home.path().into()), ..PathVariables::default() };
        let top = TopPerson { person: Person { user: "ada".into(), place: ActionPlace::Top }, places };
        let mut store = Store::open_and_migrate(home.path(), PATIENCE).unwrap();
        put(&mut store, &[("api", "make docs")]);
        let fleet = store::Fleet { remote: store.remote_agents().unwrap(), ..store::Fleet::default() };
        let card = dash::view_model::rows(&fleet, host::clock::now())[0].cards[0].id.clone();
        // Another text for the card, and a second row with its id.
        for rows in [&[("api", "rm -rf build")][..], &[("a", "rm -rf build"), ("api", "rm -rf src")]] {
            put(&mut store, rows);
            let press = TopAct::Answer { card: card.clone(), answer: CardAnswer::AllowOnce };
            assert!(matches!(top.perform(&mut store, press), Err(ActionError::NoCard(_))), "{rows:?}");
        }
        assert!(store.outgoing_messages("srv", 9).unwrap().is_empty());
    }
}
