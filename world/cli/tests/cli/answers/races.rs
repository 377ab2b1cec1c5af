//! What happens at once: answers, signals, a client that goes on, and rows that others have touched.

use super::{A_FEW_LOOKS, FakeClient, SILENT, decision};
use model::card::{CardAnswer, CardState};
use serde_json::json;
use std::time::Instant;

#[test]
fn f4_an_answer_that_comes_after_the_client_went_on_is_not_given() {
    let client = FakeClient::new();
    let (held, card) = client.holds_a_card("touch x");
    held.signal(libc::SIGSTOP);
    client.says("busy");
    assert!(client.answers(&card, &CardAnswer::AllowOnce));
    held.signal(libc::SIGCONT);
    assert_eq!(held.ends(), SILENT);
    assert_eq!(client.state(&card), CardState::AtTerminal);
}

#[test]
fn f4_an_answer_and_a_no_at_the_terminal_at_once_end_as_one_of_them() {
    let client = FakeClient::new();
    for _ in 0..6 {
        let (held, card) = client.holds_a_card("touch x");
        assert!(client.answers(&card, &CardAnswer::AllowOnce));
        held.signal(libc::SIGTERM);
        let end = held.ends();
        match client.state(&card) {
            CardState::Given => assert_eq!(decision(&end)["behavior"], "allow"),
            state => assert_eq!((end, state), (SILENT, CardState::AtTerminal)),
        }
    }
}

#[test]
fn f4_a_signal_that_came_first_counts_even_where_an_answer_waits() {
    let client = FakeClient::new();
    let (held, card) = client.holds_a_card("touch x");
    held.signal(libc::SIGSTOP);
    held.signal(libc::SIGTERM);
    assert!(client.answers(&card, &CardAnswer::AllowOnce));
    held.signal(libc::SIGCONT);
    assert_eq!(held.ends(), SILENT);
    assert_eq!(client.state(&card), CardState::AtTerminal);
}

#[test]
fn f4_an_answer_is_for_one_input_and_one_card() {
    let client = FakeClient::new();
    let (first, card) = client.holds_a_card("touch x");
    let (second, other) = client.holds_a_card("touch y");
    assert_ne!(card.digest, other.digest);
    let crossed = client.store().answer_card((&card.id, &other.digest), &CardAnswer::AllowOnce, &super::by_ada());
    assert!(!crossed.unwrap(), "another input's answer");
    assert!(client.answers(&other, &CardAnswer::AllowOnce));
    assert_eq!(decision(&second.ends())["behavior"], "allow");
    assert_eq!(client.state(&card), CardState::Open, "each is answered by itself");
    // A row that somebody has bent to another input.
    let database = rusqlite::Connection::open(client.stage.database()).unwrap();
    database
        .execute(
            "UPDATE cards SET digest = 'bent', state = 'answered', answer = '{\"say\":\"allow_once\"}' WHERE id = ?1",
            [&card.id],
        )
        .unwrap();
    assert_eq!(first.ends(), SILENT);
}

#[test]
fn f4_an_answer_that_does_not_fit_is_never_printed() {
    let client = FakeClient::new();
    for answer in
        [CardAnswer::ApprovePlan, CardAnswer::Choose { chosen: [("q".to_string(), Default::default())].into() }]
    {
        let (held, card) = client.holds_a_card("touch x");
        assert!(client.answers(&card, &answer));
        assert_eq!((held.ends(), client.state(&card)), (SILENT, CardState::LetGo));
    }
    client.says("waiting");
    let held = client.holds(&client.asks_for("touch x"));
    let card = client.card_of(&held);
    let database = rusqlite::Connection::open(client.stage.database()).unwrap();
    database.execute("UPDATE cards SET state = 'answered', answer = 'nonsense' WHERE id = ?1", [&card.id]).unwrap();
    assert_eq!(held.ends(), SILENT);
}

#[test]
fn f4_g8_what_the_guard_has_come_to_deny_is_not_allowed_any_more() {
    let client = FakeClient::new();
    client.stage.write("tool.sh", "echo harmless\n");
    let (held, card) = client.holds_a_card("sh tool.sh");
    client.stage.write("tool.sh", "rm -rf /\n");
    assert!(client.answers(&card, &CardAnswer::AllowOnce));
    assert_eq!((held.ends(), client.state(&card)), (SILENT, CardState::LetGo));
}

#[test]
fn f4_a_holder_without_an_answer_goes_on_waiting() {
    let client = FakeClient::new();
    let (held, card) = client.holds_a_card("touch x");
    let until = Instant::now() + A_FEW_LOOKS;
    while Instant::now() < until {
        // Others write, and the client writes its file anew.
        client.tells(
            &json!({"hook_event_name": "Notification", "notification_type": "permission_prompt", "message": "m"}),
        );
        client.says("waiting");
    }
    assert_eq!(client.state(&card), CardState::Open);
    assert!(client.answers(&card, &CardAnswer::AllowOnce));
    assert_eq!(decision(&held.ends())["behavior"], "allow");
}
