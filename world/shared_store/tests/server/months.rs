//! What is too old goes: of the record by months, where what comes from a wrong clock waits for its month; messages and
//! machines by their age.

use crate::{Server, ask, schema};
use shared_store::{FleetServer, InTransaction};
use store::ServerError;

const PUT: &str = "INSERT INTO taut.events (at, machine, id, seq, project, agent, event, verdict, micros)
    VALUES ($AT, gen_random_uuid(), gen_random_uuid(), 1, 1, 'a', 'x', 'pass', 1);";

/// One that is to be made anew.
fn without_a_month(server: &Server) -> String {
    let month = server.sql(
        "SELECT 'events_' || to_char(date_trunc('month', now() AT TIME ZONE 'UTC') + interval '2 months', 'YYYYMM')",
    );
    server.sql(&format!("DROP TABLE taut.{month}"));
    month
}

#[test]
fn x3_an_event_of_a_wrong_clock_waits_in_the_rest_till_its_month_is_made_or_it_was_there_for_long() {
    let Some(server) = Server::migrated() else { return };
    server.sql("INSERT INTO taut.projects (name) VALUES ('x')");
    let month = without_a_month(&server);
    let in_it = "date_trunc('month', now() AT TIME ZONE 'UTC') + interval '2 months 3 days'";
    for at in [in_it, "'2020-01-01'", "'2099-01-01'"] {
        server.sql(&PUT.replace("$AT", at));
    }
    assert_eq!(server.sql("SELECT count(*) FROM taut.events_rest"), "3");
    // By a member, and whatever zone its session has.
    let tended = [ask("SET LOCAL timezone = 'Asia/Tokyo'"), ask("SELECT to_jsonb(true)::text FROM taut.tend()")];
    server.member().flight(&tended, InTransaction::Yes).unwrap();
    assert_eq!(server.sql(&format!("SELECT count(*) FROM taut.{month}")), "1");
    assert_eq!(server.sql("SELECT count(*) FROM taut.events_rest"), "2", "by when they came, not by their clock");
    server
        .sql("UPDATE taut.events_rest SET stored_at = now() - interval '91 days' WHERE at < now(); SELECT taut.tend()");
    assert_eq!(server.sql("SELECT string_agg(to_char(at, 'YYYY'), ' ') FROM taut.events_rest"), "2099");
    assert_eq!(server.sql("SELECT count(*) FROM taut.events"), "2");
}

#[test]
fn a_month_that_is_past_keeping_is_dropped_whole() {
    let Some(server) = Server::migrated() else { return };
    server.sql(
        "CREATE TABLE taut.events_202001 PARTITION OF taut.events FOR VALUES FROM ('2020-01-01') TO ('2020-02-01')",
    );
    server.sql(&PUT.replace("$AT", "'2020-01-15'"));
    server.sql("UPDATE taut.meta SET value = '1000000' WHERE name = 'keep_events_days'; SELECT taut.tend()");
    assert_eq!(server.sql("SELECT count(*) FROM taut.events"), "1");
    server.sql("UPDATE taut.meta SET value = '90' WHERE name = 'keep_events_days'; SELECT taut.tend()");
    assert_eq!(server.sql("SELECT count(*) FROM taut.events"), "0");
    assert_eq!(server.sql("SELECT to_regclass('taut.events_202001') IS NULL"), "t");
}

#[test]
fn messages_that_were_fetched_or_waited_long_and_machines_that_are_silent_long_go_and_younger_ones_stay() {
    let Some(server) = Server::migrated() else { return };
    let old = "(now() - make_interval(days => days))";
    server.sql(&format!(
        "INSERT INTO taut.messages (id, kind, from_machine, to_machine, to_agent, body, at, fetched_at)
         SELECT gen_random_uuid(), 'note', gen_random_uuid(), gen_random_uuid(), 'web', body, {old} - '1 day'::interval,
           CASE WHEN fetched THEN {old} END
         FROM (VALUES (29, true, 'fetched'), (31, true, 'fetched long ago'), (88, false, 'waits'),
           (90, false, 'waited')) AS these (days, fetched, body);
         INSERT INTO taut.machines (id, label, build, speaks, seen_at)
         SELECT gen_random_uuid(), label, 'x', 1, {old} FROM (VALUES (29, 'seen'), (31, 'gone')) AS these (days, label);
         INSERT INTO taut.agents (machine, id, named, client, status, since)
         SELECT id, 'ann', true, 'x', 'done', now() FROM taut.machines; SELECT taut.tend()"
    ));
    assert_eq!(server.sql("SELECT string_agg(body, ', ' ORDER BY body) FROM taut.messages"), "fetched, waits");
    assert_eq!(server.sql("SELECT label FROM taut.agents JOIN taut.machines m ON m.id = machine"), "seen");
    assert_eq!(server.sql("SELECT count(*) FROM taut.machines"), "1");
}

#[test]
fn x3_a_month_that_somebody_who_reads_for_long_is_in_the_way_of_is_made_later_and_keeps_nobody_waiting() {
    let Some(server) = Server::migrated() else { return };
    let month = without_a_month(&server);
    let mut reader = server.connect("taut_reader");
    let mut reading = reader.begin();
    reading.flight(&[ask("SELECT count(*)::text FROM taut.events")]).unwrap();
    let (mut member, schema) = (server.member(), schema());
    let told = FleetServer::new(&mut member, &schema).tend();
    assert!(matches!(&told, Err(ServerError::Busy(why)) if why.contains("open transaction")), "{told:?}");
    let waiting =
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
    assert_eq!(server.sql(waiting), "0", "nobody is left behind who waits, and others behind them");
    drop(reading);
    FleetServer::new(&mut member, &schema).tend().unwrap();
    assert_eq!(server.sql(&format!("SELECT to_regclass('taut.{month}') IS NULL")), "f");
}
