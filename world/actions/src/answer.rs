//! A person's answer to what an agent waits for: checked, written once, and noted as an event of its own with who
//! answered, where and what.

use crate::open_cards::{can_be_answered, is_running};
use crate::{ActionError, Person};
use engine::cards::fits;
use engine::redact::{self, text_without_secrets};
use model::Ms;
use model::card::{ActionPlace, AnsweredBy, Card, CardAnswer, CardKind, CardState};
use model::effect::Write;
use model::row::Event;
use model::text::lines;
use serde_json::json;
use store::{Durability, Store};

/// What an answer is stored as.
pub const ANSWER_EVENT: &str = "Answer";

/// So many characters of words are told to the model.
const MOST_WORDS: usize = 4_000;

/// Answers a card, once. The process that holds it prints the answer to its client, and a later event of the client says
/// whether it was used: until then the card is answered, not used.
///
/// # Errors
/// In words for the person: it was answered or let go meanwhile, nobody holds it any more, the answer does not fit it or
/// may not be given from here, or the store cannot be written.
pub fn answer(store: &mut Store, person: &Person, card: &str, answer: CardAnswer) -> Result<Card, ActionError> {
    give(store, person, (card, answer), AnswerOrigin::Here)
}

/// Where an answer was given.
#[derive(Debug, Clone, Copy)]
pub(crate) enum AnswerOrigin<'a> {
    Here,
    /// On another machine, whose signature was looked at.
    Machine {
        id: &'a str,
        label: &'a str,
        /// Where the person sat there.
        place: &'a str,
        /// The server it came over.
        server: &'a str,
    },
}

/// As [`answer`], from here or from elsewhere.
pub(crate) fn give(
    store: &mut Store,
    person: &Person,
    (card, answer): (&str, CardAnswer),
    origin: AnswerOrigin<'_>,
) -> Result<Card, ActionError> {
    let found = store.card(card)?.ok_or_else(|| ActionError::NoCard(card.to_string()))?;
    let now = host::clock::now();
    refuse_if_over(&found, now)?;
    let answer = worded(answer, &person.user)?;
    fits(&found, &answer).map_err(ActionError::Refused)?;
    let by = AnsweredBy { user: person.user.clone(), place: person.place, at: now };
    let event = redact::write(Write::Event(Box::new(event(&found, &answer, (&by, origin)))));
    let taken = store.transact(Durability::Full, |tx| {
        let taken = tx.answer_card((&found.id, &found.digest), &answer, &by)?;
        if taken {
            tx.apply(std::slice::from_ref(&event))?;
        }
        Ok(taken)
    })?;
    let after = store.card(card)?.ok_or_else(|| ActionError::NoCard(card.to_string()))?;
    if !taken {
        refuse_if_over(&after, now)?;
        return Err(ActionError::NoCard(card.to_string()));
    }
    Ok(after)
}

/// What became of a card that was not to be answered any more, in words.
///
/// # Errors
/// These words, where it is over.
pub fn refuse_if_over(card: &Card, now: Ms) -> Result<(), ActionError> {
    let by = card.answered.as_ref().map(|by| {
        let seconds = now.since(by.at) / 1_000;
        format!("it was answered by {} {} {seconds} s ago", lines(&by.user, 80), where_words(by.place))
    });
    let why = match (card.state, by) {
        (CardState::Open, _) if can_be_answered(card) => return Ok(()),
        (CardState::Open, _) => {
            "nobody waits for its answer here any more: answer it at the agent's own terminal".into()
        }
        (CardState::AtTerminal, _) => "it was answered at the terminal".into(),
        (CardState::LetGo, _) => let_go_words(card).into(),
        (CardState::Answered | CardState::Given, Some(by)) if !is_running(card.client) => {
            format!("{by}; {}", let_go_words(card))
        }
        (CardState::Answered | CardState::Given | CardState::Used, Some(by)) => by,
        (CardState::Answered | CardState::Given | CardState::Used, None) => "it was answered".into(),
    };
    Err(ActionError::Refused(why))
}

/// What is left of a card that nobody holds any more: a dialog that may still stand, or a client that is no more.
pub fn let_go_words(card: &Card) -> &'static str {
    match (is_running(card.client), &card.answered) {
        (true, _) => "it was let go: answer it at the agent's own terminal, if it still stands there",
        (false, Some(_)) => "its client has ended and never said that it used the answer",
        (false, None) => "its client has ended: nobody asks it any more",
    }
}

/// Where somebody acted, as the end of a sentence.
pub fn where_words(place: ActionPlace) -> &'static str {
    match place {
        ActionPlace::Terminal => "at a terminal",
        ActionPlace::Page => "on the page",
        ActionPlace::Top => "in taut top",
        ActionPlace::OtherMachine => "on another machine, over the shared server",
    }
}

/// The words as the model is told them: without what a terminal would obey, not endless, and where a no has none, a
/// plain sentence that says whose no it is.
pub(crate) fn worded(answer: CardAnswer, user: &str) -> Result<CardAnswer, ActionError> {
    let clean = |words: String| match words.trim() {
        words if words.chars().count() > MOST_WORDS => {
            Err(ActionError::Refused(format!("these words are too long: at most {MOST_WORDS} characters are told")))
        }
        words => Ok(lines(words, MOST_WORDS * 12)),
    };
    let or_else = |words: String, otherwise: &str| match clean(words)? {
        words if words.is_empty() => Ok(format!("{} {otherwise}", lines(user, 80))),
        words => Ok::<_, ActionError>(words),
    };
    Ok(match answer {
        CardAnswer::Deny { words } => CardAnswer::Deny { words: or_else(words, "denied this.")? },
        CardAnswer::RejectPlan { words } => CardAnswer::RejectPlan { words: or_else(words, "rejected this plan.")? },
        CardAnswer::Choose { mut chosen } => {
            for one in chosen.values_mut() {
                one.words = one.words.take().map(clean).transpose()?.filter(|words| !words.is_empty());
            }
            CardAnswer::Choose { chosen }
        }
        plain @ (CardAnswer::AllowOnce | CardAnswer::ApprovePlan) => plain,
    })
}

/// What is kept of an answer: who, where and what.
fn event(card: &Card, answer: &CardAnswer, (by, origin): (&AnsweredBy, AnswerOrigin<'_>)) -> Event {
    let (said, words) = said(answer);
    let mut what = json!({"card": card.id, "kind": card.kind.name(), "say": said, "words": words, "by": by.user,
        "where": by.place.name(), "input": card.shown.input});
    if let AnswerOrigin::Machine { id, label, place, server } = origin {
        what["from"] = json!({"machine": id, "label": label, "where": place, "server": server});
    }
    let on = if card.kind == CardKind::Plan { "the plan" } else { &card.tool };
    let told = words.as_ref().map(|words| format!(": {words}")).unwrap_or_default();
    Event {
        key: format!("{ANSWER_EVENT}/{}", card.id),
        session: Some(card.session.clone()),
        tool: Some(card.tool.clone()),
        reason: Some(text_without_secrets(&format!("{} {said} {on} {}{told}", by.user, where_words(by.place)))),
        detail: engine::redact(&what),
        ..Event::noted(ANSWER_EVENT, &card.agent, host::clock::uuid(by.at), by.at)
    }
}

/// What was done, and the words of it.
pub(crate) fn said(answer: &CardAnswer) -> (&'static str, Option<String>) {
    match answer {
        CardAnswer::AllowOnce => ("allowed once", None),
        CardAnswer::Deny { words } => ("denied", Some(words.clone())),
        CardAnswer::ApprovePlan => ("approved", None),
        CardAnswer::RejectPlan { words } => ("rejected", Some(words.clone())),
        CardAnswer::Choose { chosen } => {
            let one = |(text, chosen): (&String, &model::card::ChosenAnswer)| {
                let picked = chosen.labels.iter().chain(&chosen.words).map(String::as_str);
                format!("{text} → {}", picked.collect::<Vec<_>>().join(", "))
            };
            ("answered", Some(chosen.iter().map(one).collect::<Vec<_>>().join("; ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::card::{CardShown, ChosenAnswer};
    use model::{ClientProcess, ToolKind};
    use serde_json::Value;
    use std::time::Duration;
    use store::EventFilter;
    use tempfile::TempDir;

    fn stage() -> (TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_and_migrate(folder.path(), Duration::from_secs(5)).unwrap();
        (folder, store)
    }

    fn ada() -> Person {
        Person { user: "ada".into(), place: ActionPlace::Page }
    }

    fn open(store: &mut Store, id: &str, input: Value) -> Card {
        let here = ClientProcess { pid: std::process::id(), started: 0 };
        let kind = if input.get("questions").is_some() { CardKind::Question } else { CardKind::Permission };
        let card = Card {
            id: id.into(),
            at: host::clock::now(),
            session: "s".into(),
            agent: "api".into(),
            project: None,
            dialect: "claude-code".into(),
            client: here,
            holder: here,
            kind,
            tool: format!("{:?}", ToolKind::Shell),
            digest: format!("digest of {id}"),
            shown: CardShown { input, ..CardShown::default() },
            state: CardState::Open,
            answer: None,
            answered: None,
            ended_at: None,
        };
        store.open_card(&card).unwrap();
        card
    }

    fn refusal(store: &mut Store, card: &str, said: CardAnswer) -> String {
        answer(store, &ada(), card, said).unwrap_err().to_string()
    }

    #[test]
    fn f1_an_answer_is_taken_once_and_the_other_is_told_who_gave_it_where() {
        let (_folder, mut store) = stage();
        open(&mut store, "one", json!({"command": "make"}));
        let taken = answer(&mut store, &ada(), "one", CardAnswer::AllowOnce).unwrap();
        assert_eq!((taken.state, taken.answer), (CardState::Answered, Some(CardAnswer::AllowOnce)));
        assert_eq!(taken.answered.map(|by| (by.user, by.place)), Some(("ada".into(), ActionPlace::Page)));
        let told = refusal(&mut store, "one", CardAnswer::Deny { words: "no".into() });
        assert!(told.starts_with("it was answered by ada on the page ") && told.ends_with(" s ago"), "{told}");
        assert_eq!(store.card("one").unwrap().unwrap().answer, Some(CardAnswer::AllowOnce));
        let events = store.events(&EventFilter::default()).unwrap();
        assert_eq!(events.len(), 1, "who was refused has answered nothing");
    }

    #[test]
    fn f1_every_answer_is_an_event_with_who_where_and_what_and_without_secrets() {
        let (_folder, mut store) = stage();
        open(&mut store, "one", json!({"command": "make"}));
        let words = "use --password=hunter2hunter2 instead".to_string();
        answer(&mut store, &ada(), "one", CardAnswer::Deny { words: words.clone() }).unwrap();
        let event = store.events(&EventFilter::default()).unwrap().pop().unwrap();
        assert_eq!(
            (event.event.as_str(), event.agent.as_str(), event.session.as_deref()),
            (ANSWER_EVENT, "api", Some("s"))
        );
        let detail = &event.detail;
        assert_eq!(
            (&detail["by"], &detail["where"], &detail["say"], &detail["card"]),
            (&json!("ada"), &json!("page"), &json!("denied"), &json!("one"))
        );
        assert_eq!(detail["input"], json!({"command": "make"}));
        assert!(
            event.reason.as_deref().is_some_and(|reason| reason.starts_with("ada denied Shell on the page: use")),
            "{event:?}"
        );
        assert!(!format!("{event:?}").contains("hunter2"), "{event:?}");
        let told = store.card("one").unwrap().unwrap().answer;
        assert_eq!(told, Some(CardAnswer::Deny { words }), "the agent is told what was said");
    }

    #[test]
    fn f1_a_no_without_words_says_whose_it_is() {
        let (_folder, mut store) = stage();
        open(&mut store, "one", json!({"command": "make"}));
        let taken = answer(&mut store, &ada(), "one", CardAnswer::Deny { words: " \n ".into() }).unwrap();
        assert_eq!(taken.answer, Some(CardAnswer::Deny { words: "ada denied this.".into() }));
        open(&mut store, "two", json!({"command": "make"}));
        let words = "a\u{1b}[2Jb\u{202e}".to_string();
        let taken = answer(&mut store, &ada(), "two", CardAnswer::Deny { words }).unwrap();
        assert_eq!(taken.answer, Some(CardAnswer::Deny { words: "a␛[2Jb\\u{202e}".into() }));
        open(&mut store, "three", json!({"command": "make"}));
        let long = refusal(&mut store, "three", CardAnswer::Deny { words: "x".repeat(MOST_WORDS + 1) });
        assert!(long.contains("too long"), "{long}");
        assert_eq!(store.card("three").unwrap().unwrap().state, CardState::Open);
    }

    #[test]
    fn f1_what_is_over_or_held_by_nobody_is_not_answered() {
        let (_folder, mut store) = stage();
        assert!(refusal(&mut store, "none", CardAnswer::AllowOnce).contains("nothing to answer under `none`"));
        for (state, said) in
            [(CardState::AtTerminal, "it was answered at the terminal"), (CardState::LetGo, "it was let go")]
        {
            let card = open(&mut store, state.name(), json!({"command": "make"}));
            assert!(store.step_card(&card.id, CardState::Open, state, card.at).unwrap());
            let told = refusal(&mut store, &card.id, CardAnswer::AllowOnce);
            assert!(told.starts_with(said), "{told}");
        }
        let mut left = open(&mut store, "left", json!({"command": "make"}));
        left.id = "left behind".into();
        left.holder = ClientProcess { pid: std::process::id(), started: 1 };
        store.open_card(&left).unwrap();
        let told = refusal(&mut store, "left behind", CardAnswer::AllowOnce);
        assert!(told.starts_with("nobody waits for its answer here any more"), "{told}");
        assert_eq!(store.card("left behind").unwrap().unwrap().state, CardState::Open);
        assert!(store.events(&EventFilter::default()).unwrap().is_empty());
    }

    #[test]
    fn f1_of_a_client_that_was_killed_it_is_said_that_it_ended_and_not_that_its_dialog_may_stand() {
        let (_folder, mut store) = stage();
        for answered in [false, true] {
            let mut card = open(&mut store, &format!("of the living {answered}"), json!({"command": "make"}));
            card.id = format!("one {answered}");
            card.client = ClientProcess { pid: std::process::id(), started: 1 };
            store.open_card(&card).unwrap();
            let from = if answered {
                answer(&mut store, &ada(), &card.id, CardAnswer::AllowOnce).unwrap();
                let told = refusal(&mut store, &card.id, CardAnswer::AllowOnce);
                assert!(told.contains("by ada") && told.contains("its client has ended and never said"), "{told}");
                CardState::Answered
            } else {
                CardState::Open
            };
            assert!(store.step_card(&card.id, from, CardState::LetGo, card.at).unwrap());
            let told = refusal(&mut store, &card.id, CardAnswer::AllowOnce);
            assert!(told.starts_with("its client has ended") && !told.contains("terminal"), "{told}");
            assert_eq!(told.contains("never said that it used the answer"), answered, "{told}");
        }
    }

    #[test]
    fn f1_an_answer_that_does_not_fit_changes_nothing() {
        let (_folder, mut store) = stage();
        let question = json!({"questions": [{"question": "Which?", "options": [{"label": "A"}]}]});
        open(&mut store, "one", question);
        let pick = |label: &str| {
            let chosen = ChosenAnswer { labels: vec![label.into()], words: None };
            CardAnswer::Choose { chosen: [("Which?".to_string(), chosen)].into() }
        };
        assert!(refusal(&mut store, "one", CardAnswer::AllowOnce).contains("question"));
        assert!(refusal(&mut store, "one", pick("B")).contains("none of the labels"));
        let mut cut = open(&mut store, "two", json!({"command": "make"}));
        cut.id = "cut".into();
        cut.shown.incomplete = Some("a secret was taken out of what is shown".into());
        store.open_card(&cut).unwrap();
        assert!(refusal(&mut store, "cut", CardAnswer::AllowOnce).contains("agent's own terminal"));
        assert!(answer(&mut store, &ada(), "cut", CardAnswer::Deny { words: String::new() }).is_ok());
        assert!(answer(&mut store, &ada(), "one", pick("A")).is_ok());
    }
}
