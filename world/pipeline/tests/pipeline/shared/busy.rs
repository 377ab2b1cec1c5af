//! Somebody at the server holds rows in a transaction that does not end, or a word is refused for good: what else is to be
//! said, renewed, found out and claimed goes on.

use super::{Member, SharedServer, actor};
use engine::queue::{Actor, Speaker};
use pipeline::queue::{OnUnsure, QueueError, Settled, SharedRound};
use shared_store::{Connection, Patience, Statement, Transaction};
use store::ServerError;

fn locks<'c>(connection: &'c mut Connection, slug: &str) -> Transaction<'c> {
    let mut open = connection.begin();
    let lock = format!("SELECT to_jsonb(true)::text FROM {{s}}.tasks WHERE slug = '{slug}' FOR UPDATE");
    open.flight(&[Statement::new(&lock, "taut", Vec::new())]).unwrap();
    open
}

#[test]
fn x2_a_lapsed_task_that_somebody_keeps_locked_stops_no_look_and_no_claim() {
    let Some(server) = SharedServer::start() else { return };
    let mut one = server.machine("one");
    one.plan("a", &[]);
    one.claim("ann").unwrap();
    server.lapse("a");
    let mut person = Connection::open(&server.target("taut_agent"), Patience::default()).unwrap();
    let open = locks(&mut person, "a");
    let project = one.project();
    assert!(one.claim("bob").is_none(), "nothing else is there, and that is no absence of the server");
    one.plan("b", &[]);
    assert_eq!(one.queue().look(&project).unwrap().claimable, 1);
    drop(open);
    assert_eq!(one.queue().look(&project).unwrap().claimable, 2, "who was locked lapses then");
}

fn owes(one: &mut Member, slugs: &[&str]) {
    for slug in slugs {
        one.plan(slug, &[]);
        one.claim("ann").unwrap();
    }
    one.queue.away = true;
    for slug in slugs {
        assert!(matches!(one.done("ann", slug).unwrap(), Settled::Kept { .. }));
    }
    one.queue.away = false;
}

#[test]
fn x2_a_round_tries_few_words_whose_rows_are_locked_and_the_next_one_begins_with_the_others() {
    let Some(server) = SharedServer::start() else { return };
    let mut one = server.machine("one");
    owes(&mut one, &["a", "b", "c", "d", "e"]);
    one.queue.words.clear();
    one.queue.locked = ["a", "b", "c", "d"].map(str::to_string).to_vec();
    assert_eq!(one.round().unwrap().said, 0);
    assert_eq!(std::mem::take(&mut one.queue.words), ["a", "b", "c"], "each costs seconds, and leases wait");
    assert_eq!(one.round().unwrap().said, 1, "who can be heard is heard");
    assert_eq!(std::mem::take(&mut one.queue.words), ["d", "e", "a", "b"]);
    one.queue.locked.clear();
    assert_eq!(one.round().unwrap().said, 4);
    assert_eq!(server.sql("SELECT count(*) FROM taut.tasks WHERE status = 'done'"), "5");
}

#[test]
fn x2_a_word_that_is_refused_for_good_keeps_nobody_from_hearing_what_was_lost_and_what_lapsed() {
    let Some(server) = SharedServer::start() else { return };
    let (mut one, mut two) = (server.machine("one"), server.machine("two"));
    for slug in ["a", "b"] {
        one.plan(slug, &[]);
        one.claim(slug).unwrap();
    }
    one.plan("c", &[]);
    two.claim("bob").unwrap();
    server.sql(
        "CREATE FUNCTION taut.no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF new.slug = 'a' AND new.status = 'done'
           THEN RAISE insufficient_privilege; END IF; RETURN new; END $$;
         CREATE TRIGGER no BEFORE UPDATE ON taut.tasks FOR EACH ROW EXECUTE FUNCTION taut.no()",
    );
    assert!(matches!(one.done("a", "a").unwrap(), Settled::Kept { .. }));
    let (there, person) = (two.project(), Actor { attempt: Some(1), speaker: Speaker::Person, ..actor("ada") });
    assert_eq!(two.queue().done(&there, "b", &person, serde_json::Value::Null).unwrap(), Settled::Now);
    server.lapse("c");
    let mut round = SharedRound::default();
    let told = one.queue().shared_round_into(OnUnsure::Tell, &mut round);
    assert!(matches!(&told, Err(QueueError::Server { error: ServerError::Refused(_), .. })), "{told:?}");
    assert_eq!((round.lost, round.expired), (vec!["b".to_string()], vec!["c".to_string()]));
    assert_eq!((one.told("b").len(), server.status("c").as_str()), (1, "open 1"));
}
