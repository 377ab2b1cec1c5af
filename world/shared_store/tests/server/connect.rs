//! Connecting, asking, and what becomes of a connection.

use crate::{PLENTY, Server, ask, at, refusal, schema};
use serde_json::json;
use shared_store::{Connection, FlightError, InTransaction, Patience, Statement, version};
use std::time::Duration;
use store::ServerError;
use testkit::postgres::Cluster;

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
    server.sql("CREATE TABLE public.kept (n int)");
    let mut connection = server.connect("postgres");
    let flight =
        [ask("INSERT INTO public.kept VALUES (1)"), ask("SELECT 1 / 0"), ask("INSERT INTO public.kept VALUES (2)")];
    let error = connection.flight(&flight, InTransaction::Yes).unwrap_err();
    assert_eq!(error.state(), Some("22012"));
    assert_eq!(server.sql("SELECT count(*) FROM public.kept"), "0");
    connection.flight(&flight, InTransaction::No).unwrap_err();
    assert_eq!(server.sql("SELECT count(*) FROM public.kept"), "2");
}

#[test]
fn a_transaction_of_several_flights_is_kept_when_committed_and_undone_when_dropped() {
    let Some(server) = Server::empty() else { return };
    server.sql("CREATE TABLE public.kept (n int)");
    let mut connection = server.connect("postgres");
    let mut work = connection.begin();
    work.flight(&[ask("INSERT INTO public.kept VALUES (1)")]).unwrap();
    let seen = work.flight(&[ask("SELECT to_jsonb(count(*))::text FROM public.kept")]).unwrap();
    assert_eq!(seen, [vec![json!(1)]]);
    drop(work);
    assert_eq!(server.sql("SELECT count(*) FROM public.kept"), "0");
    let mut work = connection.begin();
    work.flight(&[ask("INSERT INTO public.kept VALUES (1)")]).unwrap();
    work.flight(&[ask("SELECT 1 / 0")]).unwrap_err();
    assert!(work.commit().is_err());
    assert_eq!(server.sql("SELECT count(*) FROM public.kept"), "0");
    let mut work = connection.begin();
    work.flight(&[ask("INSERT INTO public.kept VALUES (1)")]).unwrap();
    work.commit().unwrap();
    assert_eq!(server.sql("SELECT count(*) FROM public.kept"), "1");
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

#[test]
fn a_database_a_role_and_a_schema_that_are_not_there_are_refused_with_what_helps() {
    let Some(server) = Server::empty() else { return };
    let words = refusal(Connection::open(&at(&server.cluster.url("postgres", "nowhere")), PLENTY));
    assert!(words.contains("nowhere") && words.contains("`createdb`"), "{words}");
    let words = refusal(Connection::open(&at(&server.cluster.url("nobody_at_all", "postgres")), PLENTY));
    assert!(words.contains("nobody_at_all"), "{words}");
    let words = refusal(version(&mut server.connect("postgres"), &schema()));
    assert!(words.contains("`taut shared migrate`"), "{words}");
}

#[test]
fn a_server_that_is_cut_off_is_away_and_comes_back_with_what_was_committed() {
    let Some(cluster) = Cluster::plan().durable().start() else { return };
    let target = at(&cluster.url("postgres", "postgres"));
    let mut connection = Connection::open(&target, PLENTY).unwrap();
    connection
        .flight(
            &[ask("CREATE TABLE public.kept (n int)"), ask("INSERT INTO public.kept VALUES (1)")],
            InTransaction::Yes,
        )
        .unwrap();
    cluster.stop_immediate();
    let error = connection.flight(&[ask("SELECT '1'")], InTransaction::No).unwrap_err();
    assert!(error.send_again() && connection.is_broken(), "{error}");
    assert!(matches!(ServerError::from(error), ServerError::Away(_)));
    assert!(matches!(Connection::open(&target, Patience::default()), Err(ServerError::Away(_))));
    cluster.start_again();
    let mut connection = Connection::open(&target, PLENTY).unwrap();
    let kept = connection.flight(&[ask("SELECT to_jsonb(n)::text FROM public.kept")], InTransaction::No).unwrap();
    assert_eq!(kept, [vec![json!(1)]]);
}

#[test]
fn the_second_host_is_asked_where_the_first_is_not_there() {
    let Some(server) = Server::empty() else { return };
    let folder = server.cluster.socket_folder().display();
    let url = format!("postgresql://postgres@/{}?host=/nowhere,{folder}", server.database);
    let mut connection = Connection::open(&at(&url), PLENTY).unwrap();
    let name = connection.flight(&[ask("SELECT to_jsonb(current_database())::text")], InTransaction::No).unwrap();
    assert_eq!(name, [vec![json!(server.database)]]);
}

#[test]
fn a_server_that_cannot_be_written_to_is_passed_over_where_there_are_several() {
    let Some(server) = Server::empty() else { return };
    server.sql(&format!("ALTER DATABASE {} SET default_transaction_read_only = on", server.database));
    let url = server.cluster.url("postgres", &server.database);
    assert!(Connection::open(&at(&url), PLENTY).is_ok());
    let wants = at(&format!("{url}?target_session_attrs=read-write"));
    assert!(matches!(Connection::open(&wants, Patience::default()), Err(ServerError::Away(_))));
}

#[test]
fn the_server_is_told_who_asks() {
    let Some(server) = Server::empty() else { return };
    let mut connection = server.connect("postgres");
    let name =
        connection.flight(&[ask("SELECT to_jsonb(current_setting('application_name'))::text")], InTransaction::No);
    assert_eq!(name.unwrap(), [vec![json!("taut")]]);
}

#[test]
fn more_than_a_flight_may_bring_is_not_read() {
    let Some(server) = Server::empty() else { return };
    // It is about how much, not how long that takes.
    let patience = Patience { flight: Duration::from_secs(120), ..PLENTY };
    let mut connection = Connection::open(&server.target("postgres"), patience).unwrap();
    let endless = ask("SELECT to_jsonb(repeat('x', 1000000))::text FROM generate_series(1, 400)");
    let error = connection.flight(&[endless], InTransaction::No).unwrap_err();
    assert!(connection.is_broken() && !error.send_again(), "{error}");
    assert!(matches!(ServerError::from(error), ServerError::Refused(_)));
}

/// Short as text, and many times as large once it is read.
#[test]
fn x2_an_answer_that_would_fill_the_memory_is_not_taken_apart() {
    let Some(server) = Server::empty() else { return };
    let mut connection = server.connect("postgres");
    let many = |times: u32| ask(&format!("SELECT '[' || repeat('{{}},', {times}) || '0]'"));
    let read = connection.flight(&[many(1_000)], InTransaction::No).unwrap();
    assert_eq!(read[0][0].as_array().map(Vec::len), Some(1_001));
    let error = connection.flight(&[many(5_000_000)], InTransaction::No).map(drop).unwrap_err();
    assert_eq!(error, FlightError::TooMuch);
    assert!(connection.is_broken());
}
