//! A word of a person reaches the server, and its answer gets lost: nobody knows what became of it, and that is said.

use super::{LEASE_MS, SharedServer, actor};
use engine::queue::{Actor, Speaker};
use pipeline::queue::QueueError;

fn is_open_question(told: &QueueError) {
    let words = told.to_string();
    assert!(words.contains("is not known") && words.contains("`taut task show a`"), "{words}");
    assert!(!words.contains("nothing was done"), "{words}");
}

#[test]
fn x2_of_a_word_whose_answer_is_lost_it_is_said_that_nobody_knows_and_what_shows_it() {
    let Some(server) = SharedServer::start() else { return };
    let (mut one, mut two) = (server.machine("one"), server.machine("two"));
    one.plan("a", &[]);
    one.claim("ann").unwrap();
    let (there, person) = (two.project(), Actor { attempt: Some(1), speaker: Speaker::Person, ..actor("ada") });
    two.queue.is_mute = true;
    is_open_question(&two.queue().renew(&there, "a", &person, 6 * LEASE_MS).unwrap_err());
    assert_eq!(server.sql("SELECT lease_ms FROM taut.tasks"), (6 * LEASE_MS).to_string(), "and so it was");
    is_open_question(&two.queue().done(&there, "a", &person, serde_json::Value::Null).unwrap_err());
    assert_eq!(server.status("a"), "done 1");
}

#[test]
fn x2_of_a_word_that_never_left_it_is_said_that_nothing_was_done() {
    let Some(server) = SharedServer::start() else { return };
    let (mut one, mut two) = (server.machine("one"), server.machine("two"));
    one.plan("a", &[]);
    one.claim("ann").unwrap();
    let (there, person) = (two.project(), Actor { attempt: Some(1), speaker: Speaker::Person, ..actor("ada") });
    two.queue.away = true;
    let told = two.queue().done(&there, "a", &person, serde_json::Value::Null).unwrap_err().to_string();
    assert!(told.contains("nothing was done") && !told.contains("is not known"), "{told}");
}
