//! What the server makes of the statements that are sent all day: by index, whatever it knows of the tables.

use crate::{Server, schema};
use shared_store::{FleetServer, queue_statement};
use std::sync::OnceLock;

const TASKS: &str = "30000";
const MACHINE: &str = "00000000-0000-4000-8000-000000000001";
const CLAIM: &str = "00000000-0000-4000-8000-00000000c1a1";

/// What the server knows of the tables when it plans.
const KNOWS: [(&str, Knows); 4] = [
    ("fresh statistics", Knows { before: "", fills: &[OPEN], after: "ANALYZE" }),
    ("no statistics", Knows { before: "", fills: &[OPEN], after: "" }),
    ("statistics of when there was next to nothing", Knows { before: FEW, fills: &[OPEN], after: "" }),
    ("statistics of when nothing was done yet", Knows { before: "", fills: &[OPEN, "ANALYZE", DONE], after: "" }),
];

struct Knows {
    before: &'static str,
    fills: &'static [&'static str],
    after: &'static str,
}

/// Nobody but the test has the server look at its tables.
const BLIND: &str = "ALTER TABLE taut.tasks SET (autovacuum_enabled = false);
    ALTER TABLE taut.attempts SET (autovacuum_enabled = false);
    ALTER TABLE taut.task_deps SET (autovacuum_enabled = false);
    ALTER TABLE taut.messages SET (autovacuum_enabled = false);
    INSERT INTO taut.projects (name) VALUES ('acme/shop'), ('acme/other')";

const FEW: &str = "INSERT INTO taut.tasks (project, slug, title) VALUES (1, 'few', 'few'); ANALYZE";

/// Two projects of tasks, some of which wait for others, some rest, a few are held, and each of them was tried before.
const OPEN: &str = "INSERT INTO taut.tasks (project, slug, title, priority, description, open_blockers, ready_at)
      SELECT 1 + n % 2, 't' || n, 'task', n % 4, repeat('x', 300), CASE WHEN n % 5 = 0 THEN 1 ELSE 0 END,
             CASE WHEN n % 50 = 1 THEN clock_timestamp() + interval '1 hour' END
      FROM generate_series(1, {tasks}) AS n;
    INSERT INTO taut.task_deps SELECT id, id - 1 FROM taut.tasks WHERE open_blockers = 1 AND slug <> 'few';
    INSERT INTO taut.attempts (task, number, claim, machine, agent, claimed_at, ended_at, outcome)
      SELECT id, 0, gen_random_uuid(), '{machine}', 'a', now(), now(), 'released' FROM taut.tasks;
    UPDATE taut.tasks SET status = 'active', machine = CASE WHEN id % 4 = 0 THEN '{machine}' ELSE gen_random_uuid() END,
      claim = CASE id WHEN 4 THEN '{claim}' ELSE gen_random_uuid() END, agent = 'a', lease_ms = 600000, attempt = 1,
      lease_until = clock_timestamp() + interval '10 minutes', renewed_at = clock_timestamp()
      WHERE id <= 200 AND open_blockers = 0";

const DONE: &str = "UPDATE taut.tasks SET status = 'done', open_blockers = 0, ready_at = NULL
    WHERE id > 400 AND status = 'open'";

/// Each of them, filled once for all who only look at the plans.
fn known() -> impl Iterator<Item = Option<(&'static str, &'static Server)>> {
    static FILLED: [OnceLock<Option<Server>>; KNOWS.len()] = [const { OnceLock::new() }; KNOWS.len()];
    let all = FILLED.iter().zip(&KNOWS);
    all.map(|(server, (what, knows))| Some((*what, server.get_or_init(|| filled(knows)).as_ref()?)))
}

fn filled(knows: &Knows) -> Option<Server> {
    let server = Server::migrated()?;
    server.sql(BLIND);
    for sql in [knows.before].into_iter().chain(knows.fills.iter().copied()).chain([knows.after]) {
        server.sql(&sql.replace("{tasks}", TASKS).replace("{machine}", MACHINE).replace("{claim}", CLAIM));
    }
    Some(server)
}

/// The plan of one of our statements with these parameters, as the server would run it now.
fn explained(server: &Server, name: &str, parameters: &[&str]) -> String {
    let sql = queue_statement(name).replace("{s}", "taut");
    assert!(!sql.is_empty(), "{name}");
    let types = vec!["text"; parameters.len()].join(", ");
    let types = if parameters.is_empty() { String::new() } else { format!("({types})") };
    let values: Vec<String> = parameters.iter().map(|value| format!("'{}'", value.replace('\'', "''"))).collect();
    let values = if values.is_empty() { String::new() } else { format!("({})", values.join(", ")) };
    let asked = format!(
        "SET plan_cache_mode = force_custom_plan; PREPARE asked {types} AS {sql}; EXPLAIN (COSTS OFF) EXECUTE asked {values}"
    );
    server.cluster.sql_as("taut_agent", &server.database, &asked).unwrap_or_else(|cause| panic!("{name}: {cause}"))
}

fn by_index_alone(plan: &str) -> bool {
    let whole = |table: &&str| plan.contains(&format!("Seq Scan on {table}"));
    !["tasks", "attempts", "task_deps"].iter().any(whole)
}

#[test]
fn x2_a_claim_reads_and_sorts_no_table_whatever_the_server_knows_of_them() {
    for known in known() {
        let Some((what, server)) = known else { return };
        let who = ["1", MACHINE, "ann", "s", "00000000-0000-4000-8000-0000000000aa", "600000"];
        let named: Vec<&str> = who.iter().copied().chain(["t401"]).collect();
        for (name, parameters) in [("claim", &who[..]), ("claim_one", &named), ("claimed", &[CLAIM])] {
            let plan = explained(server, name, parameters);
            assert!(by_index_alone(&plan), "{name}, {what}:\n{plan}");
            assert!(!plan.contains("Sort"), "{name}, {what}:\n{plan}");
        }
        let plan = explained(server, "claim", &who);
        assert!(plan.contains("Index Scan using tasks_ready"), "{what}:\n{plan}");
    }
}

#[test]
fn x2_what_is_sent_all_day_reads_no_table_whatever_the_server_knows_of_them() {
    let turn = format!(
        r#"[{{"id": 4, "was": "active", "attempt": 1, "claim": "{CLAIM}", "need": "live", "status": "done",
            "retry_count": 0, "failures": 0, "releases": 0, "outcome": "done", "step": -1}}]"#
    );
    let renewal = format!(r#"[{{"id": 4, "attempt": 1, "claim": "{CLAIM}", "age_ms": 10}}]"#);
    let statements: [(&str, Vec<&str>); 9] = [
        ("wake", vec!["1", "64"]),
        ("renew", vec![&renewal]),
        ("turn", vec![&turn]),
        ("turned", vec![&turn]),
        ("held", vec!["1", MACHINE]),
        ("lapsed", vec!["1", "100", "120000"]),
        ("grant", vec!["120000"]),
        ("standing", vec!["1", "t5", MACHINE, CLAIM, "1", "a"]),
        ("look", vec!["1"]),
    ];
    for known in known() {
        let Some((what, server)) = known else { return };
        for (name, parameters) in &statements {
            let plan = explained(server, name, parameters);
            assert!(by_index_alone(&plan), "{name}, {what}:\n{plan}");
            assert!(*name != "wake" || plan.contains("Index Scan using tasks_resting"), "{what}:\n{plan}");
        }
    }
}

#[test]
fn x2_the_gate_sees_a_statement_that_reads_a_whole_table() {
    let Some(server) = filled(&KNOWS[0].1) else { return };
    let plan = explained(&server, "tasks", &["1", "[\"open\"]", "a", MACHINE, "spec", "category", "claimable", "10"]);
    assert!(plan.contains("Sort"), "{plan}");
    server.sql("DROP INDEX taut.tasks_ready");
    let plan = explained(&server, "claim", &["1", MACHINE, "ann", "s", CLAIM, "600000"]);
    assert!(plan.contains("Sort"), "{plan}");
    server.sql("DROP INDEX taut.tasks_unfinished");
    let plan = explained(&server, "claim", &["1", MACHINE, "ann", "s", CLAIM, "600000"]);
    assert!(!by_index_alone(&plan), "{plan}");
}

#[test]
fn f3_messages_that_wait_are_found_by_index_among_many_that_were_fetched() {
    for analyzed in ["SELECT 1", "ANALYZE taut.messages"] {
        let Some(server) = Server::migrated() else { return };
        server.sql(BLIND);
        server.sql(&format!(
            "INSERT INTO taut.machines (id, label, build, speaks, by) VALUES ('{MACHINE}', 'm', 'x', 1, 'taut_agent');
             INSERT INTO taut.messages (id, kind, from_machine, to_machine, to_agent, body, fetched_at)
               SELECT gen_random_uuid(), 'note', gen_random_uuid(), '{MACHINE}', 'a', 'x',
                      CASE WHEN n % 1000 > 0 THEN clock_timestamp() END FROM generate_series(1, {TASKS}) AS n; {analyzed}"
        ));
        let scans = "SELECT seq_scan FROM pg_stat_user_tables WHERE schemaname = 'taut' AND relname = 'messages'";
        let before = server.sql(scans);
        let mut member = server.member();
        let (schema, most) = (schema(), 100);
        let mut fleet = FleetServer::new(&mut member, &schema);
        let due = fleet.messages_due(MACHINE, &["chat".into()], most).unwrap();
        assert_eq!(due.len(), 30);
        let ids: Vec<String> = due.into_iter().map(|message| message.id).collect();
        assert_eq!(fleet.messages_fetched(MACHINE, &ids).unwrap().len(), 30);
        drop(member);
        // Whoever leaves has told what it did.
        let gone =
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND usename = 'taut_agent'";
        testkit::poll::until("the member to leave", std::time::Duration::from_secs(60), || {
            (server.sql(gone) == "0").then_some(())
        })
        .unwrap();
        assert_eq!(server.sql(scans), before, "{analyzed}");
    }
}
