//! What members of a team may not do, each tried; and whose record they may read.

use crate::{PLENTY, Server, ask, refusal, schema};
use serde_json::json;
use shared_store::{Connection, InTransaction, grant_record, look, migrate};
use store::ServerError;

/// A project, a task with an attempt, and an event of it, as the owner wrote them.
const ROWS: &str = "INSERT INTO taut.projects (name) VALUES ('acme/shop'), ('acme/secret');
    INSERT INTO taut.tasks (project, slug, title) VALUES (1, 'one', 'One');
    INSERT INTO taut.attempts (task, number, claim, machine, agent, claimed_at)
      VALUES (1, 1, gen_random_uuid(), gen_random_uuid(), 'a', now());
    INSERT INTO taut.events (at, machine, id, seq, project, agent, event, verdict, micros)
      SELECT now(), gen_random_uuid(), gen_random_uuid(), n, n, 'a', 'x', 'pass', 1 FROM generate_series(1, 2) AS n";

fn with_rows() -> Option<Server> {
    let server = Server::migrated()?;
    server.sql(ROWS);
    Some(server)
}

#[test]
fn every_right_that_members_lack_is_refused() {
    let Some(server) = with_rows() else { return };
    let month = server.sql("SELECT 'events_' || to_char(now() AT TIME ZONE 'UTC', 'YYYYMM')");
    let of_month = [
        format!("SELECT * FROM taut.{month}"),
        format!("DELETE FROM taut.{month}"),
        format!("DROP TABLE taut.{month}"),
    ];
    let others = [
        "CREATE TABLE taut.mine (n int)",
        "CREATE FUNCTION taut.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "DROP TABLE taut.tasks",
        "TRUNCATE taut.tasks CASCADE",
        "ALTER TABLE taut.tasks DISABLE TRIGGER ALL",
        "DELETE FROM taut.tasks",
        "DELETE FROM taut.attempts",
        "UPDATE taut.attempts SET claim = gen_random_uuid()",
        "UPDATE taut.attempts SET agent = 'b'",
        "UPDATE taut.attempts SET by = 'postgres'",
        "INSERT INTO taut.attempts (task, number, claim, machine, agent, claimed_at, by)
           VALUES (1, 2, gen_random_uuid(), gen_random_uuid(), 'a', now(), 'postgres')",
        "INSERT INTO taut.machines (id, label, instance, build, speaks, by)
           VALUES (gen_random_uuid(), 'x', gen_random_uuid(), 'x', 1, 'postgres')",
        "INSERT INTO taut.messages (id, kind, from_machine, to_conversation, body, by)
           VALUES (gen_random_uuid(), 'x', gen_random_uuid(), 'x', 'x', 'postgres')",
        "DELETE FROM taut.messages",
        "UPDATE taut.messages SET body = 'other'",
        "UPDATE taut.events SET verdict = 'allow'",
        "DELETE FROM taut.events",
        "TRUNCATE taut.events",
        "INSERT INTO taut.events (at, machine, id, seq, project, agent, event, verdict, micros, by)
           VALUES (now(), gen_random_uuid(), gen_random_uuid(), 1, 1, 'a', 'x', 'pass', 1, 'postgres')",
        "INSERT INTO taut.events (at, machine, id, seq, project, agent, event, verdict, micros, stored_at)
           VALUES (now(), gen_random_uuid(), gen_random_uuid(), 1, 1, 'a', 'x', 'pass', 1, now())",
        "SELECT * FROM taut.events_rest",
        "INSERT INTO taut.record_grants VALUES ('taut_agent', 2)",
        "CREATE POLICY mine ON taut.events USING (true)",
        "UPDATE taut.meta SET value = '9'",
        "INSERT INTO taut.meta VALUES ('x', 'y')",
        "DELETE FROM taut.projects",
        "UPDATE taut.projects SET name = 'other'",
        "DELETE FROM taut.machines",
        "SET ROLE postgres",
    ];
    let mut member = server.member();
    for sql in others.iter().map(|sql| (*sql).to_owned()).chain(of_month) {
        let error = member.flight(&[ask(&sql)], InTransaction::Yes).unwrap_err();
        assert_eq!(error.state(), Some("42501"), "{sql}: {error}");
        let words = refusal::<()>(Err(ServerError::from(error)));
        assert!(words.contains("What helps"), "{words}");
    }
    // What one may do and not pass on is only warned of, and not passed on.
    member.flight(&[ask("GRANT SELECT ON taut.tasks TO PUBLIC")], InTransaction::Yes).unwrap();
    assert_eq!(server.sql("SELECT has_table_privilege('pg_monitor', 'taut.tasks', 'SELECT')"), "f");
    let mut reader = server.connect("taut_reader");
    for sql in
        ["INSERT INTO taut.projects (name) VALUES ('x')", "UPDATE taut.tasks SET title = 'x'", "SELECT taut.tend()"]
    {
        assert_eq!(reader.flight(&[ask(sql)], InTransaction::Yes).unwrap_err().state(), Some("42501"), "{sql}");
    }
}

fn seen(connection: &mut Connection) -> serde_json::Value {
    let sql = "SELECT coalesce(jsonb_agg(project ORDER BY project), '[]')::text FROM taut.events";
    connection.flight(&[ask(sql)], InTransaction::No).unwrap()[0][0].clone()
}

#[test]
fn a_member_writes_the_record_and_reads_only_the_projects_it_was_granted() {
    let Some(server) = with_rows() else { return };
    let mut member = server.member();
    assert_eq!(seen(&mut member), json!([]));
    assert_eq!(seen(&mut server.connect("taut_reader")), json!([1, 2]));
    let id = "0192f7a0-0000-7000-8000-000000000001";
    let machine = format!("INSERT INTO taut.machines (id, label, build, speaks) VALUES ('{id}', 'x', 'x', 1)");
    member.flight(&[ask(&machine)], InTransaction::No).unwrap();
    let put = format!(
        "INSERT INTO taut.events (at, machine, id, seq, project, agent, event, verdict, micros)
         VALUES ('2026-01-01', '{id}', '{id}', 1, 1, 'a', 'x', 'pass', 1) ON CONFLICT DO NOTHING"
    );
    // The same event twice is one, though it cannot be seen.
    member.flight(&[ask(&put), ask(&put)], InTransaction::No).unwrap();
    assert_eq!(server.sql("SELECT count(*) FROM taut.events"), "3");
    assert_eq!(seen(&mut member), json!([]));
    grant_record(&mut server.connect("postgres"), &schema(), ("taut_agent", "acme/shop")).unwrap();
    grant_record(&mut server.connect("postgres"), &schema(), ("taut_agent", "acme/shop")).unwrap();
    assert_eq!(seen(&mut member), json!([1, 1]));
    let words = refusal(grant_record(&mut server.connect("postgres"), &schema(), ("taut_agent", "nowhere")));
    assert!(words.contains("nowhere"), "{words}");
    refusal(grant_record(&mut member, &schema(), ("taut_agent", "acme/secret")));
    // The queue is everybody's.
    let tasks = member.flight(&[ask("SELECT to_jsonb(slug)::text FROM taut.tasks")], InTransaction::No).unwrap();
    assert_eq!(tasks, [vec![json!("one")]]);
}

#[test]
fn a_grant_to_one_member_is_not_one_to_the_others_and_who_wrote_is_the_servers_word() {
    let Some(server) = with_rows() else { return };
    let name = |of: &str| format!("{of}_of_{}", server.database);
    for of in ["ada", "bob"] {
        server.sql(&format!("CREATE ROLE {0} LOGIN; GRANT taut_agent TO {0}", name(of)));
    }
    grant_record(&mut server.connect("postgres"), &schema(), (&name("ada"), "acme/secret")).unwrap();
    assert_eq!(seen(&mut server.connect(&name("ada"))), json!([2]));
    assert_eq!(seen(&mut server.connect(&name("bob"))), json!([]));
    let put = "INSERT INTO taut.machines (id, label, instance, build, speaks)
        VALUES (gen_random_uuid(), 'x', gen_random_uuid(), 'x', 1)";
    server.connect(&name("bob")).flight(&[ask(put)], InTransaction::No).unwrap();
    assert_eq!(server.sql("SELECT by FROM taut.machines"), name("bob"));
}

#[test]
fn an_owner_who_may_not_make_roles_is_told_what_an_administrator_runs() {
    let Some(server) = Server::empty() else { return };
    let owner = format!("owner_of_{}", server.database);
    server.sql(&format!("CREATE ROLE {owner} LOGIN"));
    let other = shared_store::Schema::named(&format!("team_{}", server.database)).unwrap();
    let words = refusal(migrate(&server.target(&owner), &other, PLENTY));
    let needed = words.split_once("goes on: ").unwrap().1.to_owned();
    assert!(needed.contains("CREATE ROLE") && needed.contains("CREATE SCHEMA"), "{words}");
    // What it says is enough.
    server.sql(&needed);
    let did = migrate(&server.target(&owner), &other, PLENTY).unwrap();
    assert_eq!((did.from, did.to), (0, 1));
    let mut member = Connection::open(&server.target(&other.agent_role()), PLENTY).unwrap();
    assert_eq!(shared_store::version(&mut member, &other).unwrap().version, 1);
    // Another team's schema is not there for it.
    migrate(&server.target("postgres"), &schema(), PLENTY).unwrap();
    let error = member.flight(&[ask("SELECT to_jsonb(slug)::text FROM taut.tasks")], InTransaction::No).unwrap_err();
    assert_eq!(error.state(), Some("42501"));
}

#[test]
fn x2_a_look_names_the_rights_a_role_lacks_and_who_holds_the_oldest_snapshot_open() {
    let Some(server) = with_rows() else { return };
    let role = format!("looker_{}", server.database);
    server.sql(&format!("CREATE ROLE {role} LOGIN"));
    let stranger = look(&mut server.connect(&role), &schema()).unwrap();
    assert!(stranger.has_schema && stranger.lacks.contains(&"USAGE on taut".to_string()), "{stranger:?}");
    assert!(stranger.lacks.contains(&"UPDATE on taut.tasks".to_string()) && !stranger.sees_sessions);
    let mut member = server.member();
    assert_eq!(look(&mut member, &schema()).unwrap().lacks, Vec::<String>::new());
    server.sql("DROP POLICY members_append ON taut.events; DROP POLICY members_tell ON taut.agents");
    let lacks = look(&mut member, &schema()).unwrap().lacks;
    assert_eq!(
        lacks,
        ["DELETE", "INSERT"]
            .map(|what| format!("a policy for {what} on taut.agents"))
            .into_iter()
            .chain(["a policy for INSERT on taut.events".to_string()])
            .collect::<Vec<_>>()
    );
    // Somebody who has read something, and goes on reading.
    let mut report = server.connect("postgres");
    let mut open = report.begin();
    open.flight(&[ask("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"), ask("SELECT to_jsonb(1)::text")]).unwrap();
    let found = look(&mut server.connect("postgres"), &schema()).unwrap();
    assert_eq!(found.snapshot_of.as_deref(), Some("postgres"), "{found:?}");
    assert!(found.oldest_snapshot_s.is_some_and(|age| age >= 0) && found.sees_sessions);
    assert_eq!(look(&mut member, &schema()).unwrap().oldest_snapshot_s, None, "it is not shown to everybody");
}
