//! Two machines and a server that carries whatever it likes between them.

use super::*;
use crate::{ActionError, Person};
use host::machine_key::MachineKey;
use model::card::{ActionPlace, Card, CardAnswer, CardKind, CardShown, CardState};
use model::remote_card::SignedAnswer;
use model::{ClientProcess, Ms};
use serde_json::{Value, json};
use std::time::Duration;
use store::{
    ArrivingMessage, CardFilter, EventFilter, MessageFilter, OutgoingMessage, RemoteAgent, RemoteAgentRow, Store,
    TrustedMachine,
};
use tempfile::TempDir;

const SERVER: &str = "srv";
/// The agent that asks, and its machine.
const OF: (&str, &str) = ("api", "vm-3");

struct Machine {
    folder: TempDir,
    store: Store,
    label: &'static str,
    arrived: usize,
}

impl Machine {
    fn new(label: &'static str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open_and_migrate(folder.path(), Duration::from_secs(5)).unwrap();
        store.machine(&format!("id-of-{label}")).unwrap();
        Self { folder, store, label, arrived: 0 }
    }

    fn key(&self) -> MachineKey {
        MachineKey::open_or_draw(self.folder.path()).unwrap()
    }

    fn trusts(&mut self, other: &Machine) {
        let one = TrustedMachine {
            machine: format!("id-of-{}", other.label),
            label: other.label.to_string(),
            key: other.key().public().unwrap(),
            user: "ada".into(),
            at: Ms(1),
        };
        self.store.trust_machine(&one).unwrap();
    }

    fn asks(&mut self, id: &str, command: &str) -> Card {
        let here = ClientProcess { pid: std::process::id(), started: 0 };
        let card = Card {
            id: id.into(),
            at: host::clock::now(),
            session: "s".into(),
            agent: "api".into(),
            project: None,
            dialect: "claude-code".into(),
            client: here,
            holder: here,
            kind: CardKind::Permission,
            tool: "Bash".into(),
            digest: pipeline::sha256(command),
            shown: CardShown { input: json!({"command": command}), ..CardShown::default() },
            state: CardState::Open,
            answer: None,
            answered: None,
            ended_at: None,
        };
        self.store.open_card(&card).unwrap();
        card
    }

    /// Presence, as the server tells it on.
    fn hears_of(&mut self, card: Option<PresenceCard>) {
        let told = RemoteAgentRow { name: "api".into(), status: "attention".into(), card, ..RemoteAgentRow::default() };
        let (machine, label, agent) = ("id-of-vm-3".into(), "vm-3".into(), "api".into());
        let agent = RemoteAgent { machine, label, agent, told, heard_at: host::clock::now() };
        self.store.put_remote_agents(SERVER, &[agent]).unwrap();
    }

    fn answers(&mut self, answer: CardAnswer) -> Result<store::SentAnswer, ActionError> {
        let card = remote_cards(&self.store).unwrap().remove(0);
        let person = Person { user: "ada".into(), place: ActionPlace::Page };
        let folder = self.folder.path().to_path_buf();
        send(&mut self.store, &folder, &person, (&card, answer))
    }

    fn sends(&mut self) -> Vec<OutgoingMessage> {
        let all = self.store.outgoing_messages(SERVER, 100).unwrap();
        let ids: Vec<String> = all.iter().map(|one| one.id.clone()).collect();
        self.store.messages_sent(&ids).unwrap();
        all
    }

    /// Each under an id of its own, however often the server brings it. How many were given.
    fn takes(&mut self, messages: &[OutgoingMessage]) -> usize {
        let mut ids = Vec::new();
        for one in messages {
            self.arrived += 1;
            let id = format!("{}-{}", one.id, self.arrived);
            let came = ArrivingMessage {
                id: id.clone(),
                kind: one.kind.clone(),
                from: "somebody@laptop".into(),
                to_agent: one.to_agent.clone(),
                to_conversation: None,
                body: one.body.clone(),
            };
            self.store.put_arriving(SERVER, &[came]).unwrap();
            ids.push(id);
        }
        self.store.settle_arriving(SERVER, &ids, &ids, Ms(5)).unwrap();
        let settled = self.store.settled_answers(100).unwrap();
        let given = settled.iter().filter(|one| take(&mut self.store, one, self.label).unwrap()).count();
        assert!(self.store.settled_answers(100).unwrap().is_empty(), "judged once");
        assert!(self.store.addressed_messages(&MessageFilter::default()).unwrap().is_empty(), "no agent is told");
        given
    }

    fn state(&self, card: &str) -> CardState {
        self.store.card(card).unwrap().unwrap().state
    }

    fn answers_noted(&self) -> Vec<model::row::Event> {
        let all = self.store.events(&EventFilter::default()).unwrap();
        all.into_iter().filter(|event| event.event == crate::ANSWER_EVENT).collect()
    }
}

/// A laptop that was told what the agent of vm-3 asks.
fn scene() -> (Machine, Machine) {
    let (mut laptop, mut vm) = (Machine::new("laptop"), Machine::new("vm-3"));
    vm.asks("card-1", "make test");
    laptop.hears_of(presence_card(&vm.store.cards(&CardFilter::default()).unwrap(), OF));
    (laptop, vm)
}

fn said(laptop: &mut Machine, vm: &mut Machine, sent: &store::SentAnswer) -> (bool, String) {
    let back = vm.sends();
    laptop.takes(&back);
    laptop.store.sent_answer(&sent.nonce).unwrap().unwrap().fate.expect("said back")
}

#[test]
fn f6_an_answer_of_a_machine_that_nobody_trusts_is_refused_and_that_is_said_back() {
    for answer in [CardAnswer::AllowOnce, CardAnswer::Deny { words: "no".into() }] {
        let (mut laptop, mut vm) = scene();
        let sent = laptop.answers(answer).unwrap();
        assert_eq!(laptop.store.cards_on_their_way().unwrap(), ["card-1"]);
        let under_way = laptop.sends();
        assert_eq!((vm.takes(&under_way), vm.state("card-1")), (0, CardState::Open));
        let (taken, words) = said(&mut laptop, &mut vm, &sent);
        assert!(!taken && words.contains("`taut shared trust id-of-laptop` on vm-3"), "{words}");
        assert!(laptop.store.cards_on_their_way().unwrap().is_empty());
    }
}

#[test]
fn f6_an_answer_of_a_trusted_machine_is_given_like_one_from_here_with_where_it_came_from() {
    let (mut laptop, mut vm) = scene();
    vm.trusts(&laptop);
    let sent = laptop.answers(CardAnswer::AllowOnce).unwrap();
    let under_way = laptop.sends();
    assert_eq!((vm.takes(&under_way), vm.state("card-1")), (1, CardState::Answered));
    let card = vm.store.card("card-1").unwrap().unwrap();
    let by = card.answered.unwrap();
    assert_eq!(
        (card.answer, by.user.as_str(), by.place),
        (Some(CardAnswer::AllowOnce), "ada@laptop", ActionPlace::OtherMachine)
    );
    let event = vm.answers_noted().remove(0);
    assert_eq!(
        event.detail["from"],
        json!({"machine": "id-of-laptop", "label": "laptop", "where": "page", "server": SERVER})
    );
    assert_eq!(
        event.reason.as_deref(),
        Some("ada@laptop allowed once Bash on another machine, over the shared server")
    );
    assert_eq!(said(&mut laptop, &mut vm, &sent), (true, "it was given to the agent's client".to_string()));
    // The server brings it again, as often as it likes.
    assert_eq!(vm.takes(&under_way), 1, "the same answer is the same answer");
    assert_eq!(vm.answers_noted().len(), 1, "and was given once");
    vm.store.step_card("card-1", CardState::Answered, CardState::AtTerminal, Ms(9)).unwrap();
    vm.asks("card-2", "make test");
    vm.takes(&under_way);
    assert_eq!(vm.state("card-2"), CardState::Open, "an answer is for one card, also where another asks for the same");
}

#[test]
fn f6_what_was_changed_on_the_way_or_signed_by_another_answers_nothing() {
    let stranger = Machine::new("stranger");
    let change = |name: &str, body: &str| -> String {
        let mut signed: SignedAnswer = serde_json::from_str(body).unwrap();
        match name {
            "the answer" => signed.answer.answer = CardAnswer::AllowOnce,
            "the card" => signed.answer.card = "card-2".into(),
            "the person" => signed.answer.user = "root".into(),
            "the nonce" => signed.answer.nonce = "0".into(),
            "what was seen" => signed.answer.seen = "0".into(),
            "the signature" => signed.signature = "00".repeat(64),
            "who signs" => {
                signed.signature = stranger.key().sign(&engine::cards::answer_text(&signed.answer)).unwrap();
            }
            "another server" => signed.answer.server = "other".into(),
            "another machine" => signed.answer.to_machine = "id-of-vm-4".into(),
            "who says it is" => signed.answer.from_machine = "id-of-stranger".into(),
            "no signature" => return json!({"answer": signed.answer}).to_string(),
            _ => return "{".repeat(9),
        }
        serde_json::to_string(&signed).unwrap()
    };
    let names = [
        "the answer", "the card", "the person", "the nonce", "what was seen", "the signature", "who signs",
        "another server", "another machine", "who says it is", "no signature", "no answer at all",
    ];
    for name in names {
        let (mut laptop, mut vm) = scene();
        vm.trusts(&laptop);
        vm.asks("card-2", "make test");
        laptop.answers(CardAnswer::Deny { words: "no".into() }).unwrap();
        let mut under_way = laptop.sends();
        under_way[0].body = change(name, &under_way[0].body);
        assert_eq!(vm.takes(&under_way), 0, "{name}");
        assert!(vm.answers_noted().is_empty(), "{name}");
        assert_eq!([vm.state("card-1"), vm.state("card-2")], [CardState::Open; 2], "{name}");
    }
}

#[test]
fn f6_a_server_that_shows_another_text_for_the_true_card_gets_no_agreement() {
    let lies: [fn(&mut PresenceCard); 5] = [
        |card| card.shown.input = json!({"command": "make docs"}),
        |card| card.tool = "Read".into(),
        |card| card.shown.guard = Some("harmless".into()),
        |card| card.shown.folder = Some("/somewhere/else".into()),
        |card| card.digest = pipeline::sha256("make docs"),
    ];
    for lie in lies {
        let (mut laptop, mut vm) = scene();
        vm.trusts(&laptop);
        let mut card = presence_card(&vm.store.cards(&CardFilter::default()).unwrap(), OF).unwrap();
        lie(&mut card);
        laptop.hears_of(Some(card));
        let sent = laptop.answers(CardAnswer::AllowOnce).unwrap();
        let under_way = laptop.sends();
        assert_eq!((vm.takes(&under_way), vm.state("card-1")), (0, CardState::Open));
        let (taken, words) = said(&mut laptop, &mut vm, &sent);
        assert!(!taken && words.contains("what you were shown is not what this card says"), "{words}");
    }
}

#[test]
fn f6_what_is_over_or_held_by_nobody_any_more_is_said_back() {
    let (mut laptop, mut vm) = scene();
    vm.trusts(&laptop);
    let sent = laptop.answers(CardAnswer::AllowOnce).unwrap();
    vm.store.step_card("card-1", CardState::Open, CardState::AtTerminal, Ms(2)).unwrap();
    let under_way = laptop.sends();
    assert_eq!(vm.takes(&under_way), 0);
    assert_eq!(said(&mut laptop, &mut vm, &sent), (false, "it was answered at the terminal".to_string()));
}

#[test]
fn f6_what_was_not_shown_whole_is_denied_from_elsewhere_and_not_allowed() {
    let (mut laptop, mut vm) = scene();
    vm.trusts(&laptop);
    vm.store.step_card("card-1", CardState::Open, CardState::AtTerminal, Ms(2)).unwrap();
    vm.asks("card-2", &"make test; ".repeat(2_000));
    laptop.hears_of(presence_card(&vm.store.cards(&CardFilter::default()).unwrap(), OF));
    let refused = laptop.answers(CardAnswer::AllowOnce).unwrap_err().to_string();
    assert!(refused.contains("too long to be shown on another machine"), "{refused}");
    assert!(laptop.sends().is_empty());
    laptop.answers(CardAnswer::Deny { words: "shorter, please".into() }).unwrap();
    let under_way = laptop.sends();
    assert_eq!((vm.takes(&under_way), vm.state("card-2")), (1, CardState::Answered));
}

#[test]
fn f6_words_leave_without_secrets_and_word_of_an_answer_is_only_shown() {
    let (mut laptop, _) = scene();
    let key = format!("ghp_{}", "a1B2c3D4".repeat(5));
    let sent = laptop.answers(CardAnswer::Deny { words: format!("token {key}") }).unwrap();
    let under_way = laptop.sends();
    assert!(!under_way[0].body.contains(&key), "{}", under_way[0].body);
    let fate = |nonce: &str, said: &str| OutgoingMessage {
        kind: model::remote_card::ANSWER_FATE.into(),
        to_agent: Some("people".into()),
        body: json!({"nonce": nonce, "card": "card-1", "taken": true, "said": said}).to_string(),
        ..OutgoingMessage::default()
    };
    // Of an answer that nobody here gave: nothing. Of ours: one bounded line that nothing obeys.
    laptop.takes(&[fate("other", "x"), fate(&sent.nonce, &format!("\u{1b}[2J\u{202e}{}", "y".repeat(9_000)))]);
    let (_, words) = laptop.store.sent_answer(&sent.nonce).unwrap().unwrap().fate.unwrap();
    assert!(words.chars().count() <= 401 && !words.contains(['\u{1b}', '\u{202e}']), "{words}");
    assert!(laptop.store.sent_answer("other").unwrap().is_none());
    let _: Value = serde_json::from_str(&under_way[0].body).unwrap();
}

#[test]
fn f6_an_answer_for_another_machine_is_none_here_whatever_the_server_brings() {
    let (mut laptop, _) = scene();
    laptop.answers(CardAnswer::AllowOnce).unwrap();
    let under_way = laptop.sends();
    let mut copy = Machine::new("vm-4");
    copy.trusts(&laptop);
    copy.asks("card-1", "make test");
    assert_eq!((copy.takes(&under_way), copy.state("card-1")), (0, CardState::Open));
    assert!(copy.sends().is_empty(), "and nobody is told of it");
}

#[test]
fn f6_a_card_of_another_machine_is_never_one_of_this_machine_whatever_id_a_server_gives_it() {
    let (mut laptop, mut vm) = scene();
    vm.trusts(&laptop);
    // The server knows the id and the digest of what waits here, and shows them with a harmless text.
    let own = laptop.asks("card-1", "rm -rf build");
    let mut lie = presence_card(&vm.store.cards(&CardFilter::default()).unwrap(), OF).unwrap();
    lie.digest = own.digest.clone();
    laptop.hears_of(Some(lie));
    let shown = remote_cards(&laptop.store).unwrap().remove(0).card;
    let place = crate::FleetPlace { state: laptop.folder.path().into(), home: laptop.folder.path().into() };
    let person = Person { user: "ada".into(), place: ActionPlace::Top };
    let way = answer_anywhere(&mut laptop.store, (&place, &person), (&shown.id, CardAnswer::AllowOnce)).unwrap();
    assert!(matches!(way, AnswerWay::Sent(_)));
    assert_eq!(laptop.state("card-1"), CardState::Open, "what waits here was not agreed to");
    let way = answer_anywhere(&mut laptop.store, (&place, &person), ("card-1", CardAnswer::AllowOnce)).unwrap();
    assert!(matches!(way, AnswerWay::Here(_)), "and is answered by its own id");
}

fn answers_at(machine: &mut Machine, id: &str, place: ActionPlace) -> Result<AnswerWay, ActionError> {
    let at = crate::FleetPlace { state: machine.folder.path().into(), home: machine.folder.path().into() };
    let person = Person { user: "ada".into(), place };
    answer_anywhere(&mut machine.store, (&at, &person), (id, CardAnswer::AllowOnce))
}

/// Rows as a server has them: the agent's id, its machine's label and its card.
fn hears(machine: &mut Machine, rows: &[(&str, &str, &PresenceCard)]) {
    let row = |(agent, label, card): &(&str, &str, &PresenceCard)| RemoteAgent {
        machine: "id-of-vm-3".into(),
        label: (*label).into(),
        agent: (*agent).into(),
        told: RemoteAgentRow {
            name: "api".into(),
            status: "attention".into(),
            card: Some((*card).clone()),
            ..RemoteAgentRow::default()
        },
        heard_at: host::clock::now(),
    };
    machine.store.put_remote_agents(SERVER, &rows.iter().map(row).collect::<Vec<_>>()).unwrap();
}

#[test]
fn f6_what_was_pressed_for_one_text_answers_no_other_that_a_server_puts_in_its_place() {
    let (mut laptop, mut vm) = scene();
    vm.trusts(&laptop);
    let honest = presence_card(&vm.store.cards(&CardFilter::default()).unwrap(), OF).unwrap();
    let mut lie = honest.clone();
    lie.shown.input = json!({"command": "make docs"});
    hears(&mut laptop, &[("api", "vm-3", &lie)]);
    let pressed = remote_cards(&laptop.store).unwrap().remove(0).card.id;
    for rows in [&[("api", "vm-3", &honest)][..], &[("api", "vm-3", &honest), ("api-2", "vm-3", &honest)]] {
        hears(&mut laptop, rows);
        let refused = answers_at(&mut laptop, &pressed, ActionPlace::Page).unwrap_err();
        assert!(matches!(refused, ActionError::NoCard(_)), "{refused}");
    }
    // Two rows with one card: the one that is shown is the one that is answered.
    hears(&mut laptop, &[("api", "vm-3", &lie), ("api-2", "vm-3", &honest)]);
    let cards = remote_cards(&laptop.store).unwrap();
    assert!(cards.len() == 2 && cards[0].card.id != cards[1].card.id);
    assert!(matches!(answers_at(&mut laptop, &pressed, ActionPlace::Top).unwrap(), AnswerWay::Sent(_)));
    let under_way = laptop.sends();
    assert_eq!((vm.takes(&under_way), vm.state("card-1")), (0, CardState::Open));
}

#[test]
fn f6_whose_machine_it_is_that_asks_is_said_by_that_machine_and_by_nobody_else() {
    let (mut laptop, mut vm) = scene();
    vm.trusts(&laptop);
    let honest = presence_card(&vm.store.cards(&CardFilter::default()).unwrap(), OF).unwrap();
    // Somebody calls the machine by another's name on the server: nothing is shown that could be agreed to.
    hears(&mut laptop, &[("api", "sandbox", &honest)]);
    assert!(remote_cards(&laptop.store).unwrap().is_empty());
    // And in the card too: its own machine knows better.
    hears(&mut laptop, &[("api", "sandbox", &PresenceCard { of: "api@sandbox".into(), ..honest })]);
    let shown = remote_cards(&laptop.store).unwrap().remove(0);
    assert_eq!(shown.shown, "api@sandbox");
    answers_at(&mut laptop, &shown.card.id, ActionPlace::Terminal).unwrap();
    let under_way = laptop.sends();
    assert_eq!((vm.takes(&under_way), vm.state("card-1")), (0, CardState::Open));
}

#[test]
fn f6_a_trusted_machine_cannot_allow_what_nobody_elsewhere_was_shown_whole() {
    let (mut laptop, mut vm) = scene();
    vm.trusts(&laptop);
    vm.store.step_card("card-1", CardState::Open, CardState::AtTerminal, Ms(2)).unwrap();
    vm.asks("card-2", &"make test; ".repeat(2_000));
    laptop.hears_of(presence_card(&vm.store.cards(&CardFilter::default()).unwrap(), OF));
    laptop.answers(CardAnswer::Deny { words: String::new() }).unwrap();
    let mut under_way = laptop.sends();
    let mut signed: SignedAnswer = serde_json::from_str(&under_way[0].body).unwrap();
    signed.answer.answer = CardAnswer::AllowOnce;
    signed.signature = laptop.key().sign(&engine::cards::answer_text(&signed.answer)).unwrap();
    under_way[0].body = serde_json::to_string(&signed).unwrap();
    assert_eq!((vm.takes(&under_way), vm.state("card-2")), (0, CardState::Open));
}
