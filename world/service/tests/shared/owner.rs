//! What the owner of a schema settles for all machines: which versions are let in, how long the record is kept.

use crate::machine::Server;
use shared_store::keep_events;
use store::ServerError;

#[test]
fn x1_what_a_machine_owes_waits_while_its_version_is_let_in_no_more_and_is_said_once_it_is_again() {
    let Some(server) = Server::start() else { return };
    let mut one = server.machine("vm-1", "full");
    one.plan("a");
    one.begin("ann", "acme");
    one.claim("ann").unwrap();
    one.round();
    // A newer taut of the owner's made version 2, and raised the oldest.
    server.sql("UPDATE taut.meta SET value = '2' WHERE name IN ('version', 'oldest')");
    one.rounds.hear_again();
    one.end("ann", "acme");
    for _ in 0..2 {
        let error = one.try_round().error.unwrap();
        assert!(matches!(&error, ServerError::Refused(why) if why.contains("update taut on this machine")), "{error}");
        one.restart();
    }
    assert_eq!(one.store().outbox_standing().unwrap().turns, 1, "the release waits");
    assert!(one.store().unshipped().unwrap().0 > 0, "and so does the record");
    assert_eq!(server.sql("SELECT status FROM taut.tasks"), "active");
    // The machine's taut was updated: here it is let in again.
    server.sql("UPDATE taut.meta SET value = '1' WHERE name = 'oldest'");
    one.round();
    assert_eq!(one.store().outbox_standing().unwrap().turns, 0);
    assert_eq!(one.store().unshipped().unwrap().0, 0);
    assert_eq!(server.sql("SELECT status FROM taut.tasks"), "open");
}

#[test]
fn x3_the_daemons_own_round_makes_the_coming_months_and_drops_what_is_older_than_the_owner_keeps() {
    let Some(server) = Server::start() else { return };
    let month =
        |when: &str| server.sql(&format!("SELECT 'events_' || to_char(now() AT TIME ZONE 'UTC' {when}, 'YYYYMM')"));
    let is_there = |table: &str| server.sql(&format!("SELECT to_regclass('taut.{table}') IS NOT NULL")) == "t";
    // Five months ago is older than 90 days, and younger than 200.
    let (past, next) = (month("- interval '5 months'"), month("+ interval '1 month'"));
    server.sql(&format!(
        "DROP TABLE taut.{next};
         DO $$ DECLARE since timestamptz := date_trunc('month', now() AT TIME ZONE 'UTC' - interval '5 months') AT TIME ZONE 'UTC';
         BEGIN EXECUTE format('CREATE TABLE taut.{past} PARTITION OF taut.events FOR VALUES FROM (%L) TO (%L)',
           since, (since AT TIME ZONE 'UTC' + interval '1 month') AT TIME ZONE 'UTC'); END $$"
    ));
    let mut owner = server.owner();
    keep_events(&mut owner, &Server::schema(), 200).unwrap();
    let mut one = server.machine("vm-1", "none");
    one.round();
    assert!(is_there(&next), "the coming month was made");
    assert!(is_there(&past), "200 days are kept");
    keep_events(&mut owner, &Server::schema(), 90).unwrap();
    one.round();
    assert!(is_there(&past), "once a day");
    one.restart();
    one.round();
    assert!(!is_there(&past), "90 days are kept");
}
