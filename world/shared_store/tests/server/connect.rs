//! Connecting, asking, and what becomes of a connection.

use crate::Server;
use serde_json::json;
use shared_store::{InTransaction, Statement};

fn ask(sql: &str) -> Statement {
    Statement::new(sql, "taut", Vec::new())
}

#[test]
fn a_flight_answers_each_statement_with_json() {
    let Some(server) = Server::empty() else { return };
    let mut connection = server.connect("postgres");
    let echo = Statement::new("SELECT to_jsonb($1::int + 1)::text", "taut", vec![Some("41".to_owned())]);
    let none = Statement::new("SELECT to_jsonb($1)::text WHERE false", "taut", vec![None]);
    let answers = connection.flight(&[echo, none, ask("SELECT '{\"a\": null}'")], InTransaction::Yes).unwrap();
    assert_eq!(answers, [vec![json!(42)], vec![], vec![json!({"a": null})]]);
    assert!(!connection.is_broken());
}

#[test]
fn a_failure_in_a_flight_undoes_what_was_one_transaction_and_the_connection_goes_on() {
    let Some(server) = Server::empty() else { return };
    server.sql("CREATE TABLE kept (n int)");
    let mut connection = server.connect("postgres");
    let flight = [ask("INSERT INTO kept VALUES (1)"), ask("SELECT 1 / 0"), ask("INSERT INTO kept VALUES (2)")];
    let error = connection.flight(&flight, InTransaction::Yes).unwrap_err();
    assert_eq!(error.state(), Some("22012"));
    assert_eq!(server.sql("SELECT count(*) FROM kept"), "0");
    connection.flight(&flight, InTransaction::No).unwrap_err();
    assert_eq!(server.sql("SELECT count(*) FROM kept"), "2");
}

#[test]
fn a_transaction_of_several_flights_is_kept_when_committed_and_undone_when_dropped() {
    let Some(server) = Server::empty() else { return };
    server.sql("CREATE TABLE kept (n int)");
    let mut connection = server.connect("postgres");
    let mut work = connection.begin();
    work.flight(&[ask("INSERT INTO kept VALUES (1)")]).unwrap();
    let seen = work.flight(&[ask("SELECT to_jsonb(count(*))::text FROM kept")]).unwrap();
    assert_eq!(seen, [vec![json!(1)]]);
    drop(work);
    assert_eq!(server.sql("SELECT count(*) FROM kept"), "0");
    let mut work = connection.begin();
    work.flight(&[ask("INSERT INTO kept VALUES (1)")]).unwrap();
    work.flight(&[ask("SELECT 1 / 0")]).unwrap_err();
    assert!(work.commit().is_err());
    assert_eq!(server.sql("SELECT count(*) FROM kept"), "0");
    let mut work = connection.begin();
    work.flight(&[ask("INSERT INTO kept VALUES (1)")]).unwrap();
    work.commit().unwrap();
    assert_eq!(server.sql("SELECT count(*) FROM kept"), "1");
}

#[test]
fn a_session_that_the_server_ended_is_broken_and_its_verb_may_be_sent_again() {
    let Some(server) = Server::empty() else { return };
    let mut connection = server.connect("postgres");
    let pid = connection.flight(&[ask("SELECT to_jsonb(pg_backend_pid())::text")], InTransaction::No).unwrap();
    server.sql(&format!("SELECT pg_terminate_backend({})", pid[0][0]));
    let error = connection.flight(&[ask("SELECT '1'")], InTransaction::No).unwrap_err();
    assert!(error.send_again() && connection.is_broken(), "{error}");
}
