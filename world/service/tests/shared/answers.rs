//! A card of one machine, answered on another, over a real server.

use crate::machine::{Machine, Server};
use actions::Person;
use actions::remote_answer::{remote_cards, send};
use host::machine_key::MachineKey;
use model::ClientProcess;
use model::card::{ActionPlace, Card, CardAnswer, CardKind, CardShown, CardState};
use serde_json::json;
use store::{MessageFilter, TrustedMachine};

/// What web on this machine waits for: `1e5` and the order of its fields are as the client spelled them.
fn asks(machine: &mut Machine, command: &str) -> Card {
    let here = ClientProcess { pid: std::process::id(), started: 0 };
    let card = Card {
        id: host::clock::uuid(host::clock::now()),
        at: host::clock::now(),
        session: machine.session_of("web").unwrap(),
        agent: "web".into(),
        project: None,
        dialect: "claude-code".into(),
        client: here,
        holder: here,
        kind: CardKind::Permission,
        tool: "Bash".into(),
        digest: "ab".repeat(32),
        shown: CardShown {
            input: serde_json::from_str(&format!(r#"{{"timeout": 1e5, "command": {}}}"#, json!(command))).unwrap(),
            ..CardShown::default()
        },
        state: CardState::Open,
        answer: None,
        answered: None,
        ended_at: None,
    };
    machine.store().open_card(&card).unwrap();
    card
}

fn acquainted(server: &Server) -> (Machine, Machine) {
    let (mut laptop, mut vm) = (server.machine("laptop", "none"), server.machine("vm-3", "none"));
    laptop.begin("api", "acme");
    vm.begin("web", "acme");
    (laptop, vm)
}

fn trusts(vm: &mut Machine, laptop: &mut Machine) {
    let key = MachineKey::open_or_draw(&laptop.setting.state).unwrap().public().unwrap();
    let machine = laptop.store().known_machine().unwrap().unwrap();
    let one = TrustedMachine { machine, label: "laptop".into(), key, user: "ada".into(), at: host::clock::now() };
    vm.store().trust_machine(&one).unwrap();
}

fn answers(laptop: &mut Machine, answer: CardAnswer) -> store::SentAnswer {
    let state = laptop.setting.state.clone();
    let person = Person { user: "ada".into(), place: ActionPlace::Terminal };
    let card = remote_cards(laptop.store()).unwrap().pop().expect("a card of another machine");
    send(laptop.store(), &state, &person, (&card, answer)).unwrap()
}

#[test]
fn f6_a_card_is_answered_from_another_machine_where_that_is_trusted() {
    let Some(server) = Server::start() else { return };
    let (mut laptop, mut vm) = acquainted(&server);
    let card = asks(&mut vm, "make test; printf '\\u0000'");
    vm.round();
    laptop.round();
    // Nobody has said to trust the laptop.
    let sent = answers(&mut laptop, CardAnswer::AllowOnce);
    laptop.round();
    vm.round();
    assert_eq!(vm.store().card(&card.id).unwrap().unwrap().state, CardState::Open);
    laptop.round();
    let (taken, said) = laptop.store().sent_answer(&sent.nonce).unwrap().unwrap().fate.unwrap();
    assert!(!taken && said.starts_with("vm-3 does not trust"), "{said}");
    trusts(&mut vm, &mut laptop);
    let sent = answers(&mut laptop, CardAnswer::AllowOnce);
    laptop.round();
    vm.round();
    let after = vm.store().card(&card.id).unwrap().unwrap();
    assert_eq!((after.state, after.answer), (CardState::Answered, Some(CardAnswer::AllowOnce)));
    assert_eq!(after.answered.unwrap().user, "ada@laptop");
    laptop.round();
    let (taken, _) = laptop.store().sent_answer(&sent.nonce).unwrap().unwrap().fate.unwrap();
    assert!(taken);
    for machine in [&mut laptop, &mut vm] {
        assert!(machine.store().addressed_messages(&MessageFilter::default()).unwrap().is_empty(), "no agent is told");
    }
    vm.round();
    laptop.round();
    assert!(remote_cards(laptop.store()).unwrap().is_empty(), "it waits no more");
}

#[test]
fn f6_what_a_member_writes_on_the_server_answers_and_shows_nothing_of_its_own() {
    let Some(server) = Server::start() else { return };
    let (mut laptop, mut vm) = acquainted(&server);
    let card = asks(&mut vm, "rm -rf build");
    vm.round();
    laptop.round();
    trusts(&mut vm, &mut laptop);
    // Another text for the true card: what is signed is what was seen.
    server.sql("UPDATE taut.agents SET card = replace(card, 'rm -rf build', 'make docs') WHERE card IS NOT NULL");
    laptop.round();
    let shown = remote_cards(laptop.store()).unwrap().pop().unwrap();
    assert_eq!(shown.card.shown.input["command"], "make docs");
    let sent = answers(&mut laptop, CardAnswer::AllowOnce);
    laptop.round();
    // The same row again under other ids, and one that nobody signed.
    server.sql(
        "INSERT INTO taut.messages (id, kind, from_machine, to_machine, to_agent, body)
         SELECT gen_random_uuid(), kind, from_machine, to_machine, to_agent,
           CASE n WHEN 1 THEN body ELSE regexp_replace(body, '\"signature\":\"..', '\"signature\":\"00') END
         FROM taut.messages, generate_series(1, 2) AS n WHERE kind = 'card_answer'",
    );
    for _ in 0..2 {
        vm.round();
        laptop.round();
    }
    assert_eq!(vm.store().card(&card.id).unwrap().unwrap().state, CardState::Open);
    let (taken, said) = laptop.store().sent_answer(&sent.nonce).unwrap().unwrap().fate.unwrap();
    assert!(!taken && said.contains("what you were shown is not what this card says"), "{said}");
    // What is no card, or longer than one, shows none, and its agent stays.
    for bad in ["'no card'", "repeat('x', 20000)", "'{\"id\":\"x\",\"kind\":\"always\"}'"] {
        server.sql(&format!("UPDATE taut.agents SET card = {bad} WHERE id = 'web'"));
        laptop.round();
        assert!(remote_cards(laptop.store()).unwrap().is_empty(), "{bad}");
        assert_eq!(laptop.store().remote_agents().unwrap().len(), 1, "{bad}");
    }
}
