//! Somebody at the server holds rows in a transaction that does not end, or a word is refused for good: what else is to be
//! said, renewed, found out and claimed goes on.

use super::SharedServer;
use shared_store::{Connection, Patience, Statement, Transaction};

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
