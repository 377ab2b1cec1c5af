//! The record as it is looked through: what may be read, what is found, and how it is found.

use crate::{Server, schema};
use serde_json::json;
use shared_store::{FleetServer, RecordQuery, RecordedEvent, grant_record};

const MACHINES: [&str; 2] = ["0192f7a0-0000-7000-8000-00000000000a", "0192f7a0-0000-7000-8000-00000000000b"];

/// Two machines, two projects; what the second machine wrote is hostile.
fn recorded() -> Option<Server> {
    let server = Server::migrated()?;
    let [a, b] = MACHINES;
    server.sql(&format!(
        "INSERT INTO taut.projects (name) VALUES ('acme/shop'), ('acme/secret');
         INSERT INTO taut.machines (id, label, instance, build, speaks) VALUES ('{a}', 'laptop', '{a}', 'x', 1),
           ('{b}', E'vm\\x1b[2J', '{b}', 'x', 1);
         INSERT INTO taut.agents (machine, id, named, name, status, since) VALUES ('{a}', 'i-1', true, 'ada', 'working', now());
         INSERT INTO taut.events (at, machine, id, seq, project, agent, session, host_session, event, tool, verdict, micros, rules, reason, detail)
         SELECT now() - n * interval '1 hour', CASE WHEN n % 2 = 0 THEN '{a}'::uuid ELSE '{b}'::uuid END, gen_random_uuid(), n,
           CASE WHEN n % 3 = 0 THEN 2 ELSE 1 END, CASE WHEN n % 2 = 0 THEN 'i-1' ELSE 'bob' END, 's' || n, 'host-' || n, 'PreToolUse',
           'Bash', CASE WHEN n % 4 = 0 THEN 'deny' ELSE 'pass' END, 10,
           CASE WHEN n % 4 = 0 THEN '[\"git-force-push\"]'::jsonb END, CASE WHEN n % 4 = 0 THEN 'it rewrites History' END,
           jsonb_build_object('input', jsonb_build_object('command', 'git push 100% _' || n))
         FROM generate_series(1, 240) AS n"
    ));
    Some(server)
}

fn look(server: &Server, role: &str, query: &RecordQuery) -> (Vec<RecordedEvent>, Vec<(String, bool)>) {
    let mut connection = server.connect(role);
    let found = FleetServer::new(&mut connection, &schema()).record(query).unwrap();
    (found.events, found.projects.into_iter().map(|one| (one.project, one.readable)).collect())
}

fn query() -> RecordQuery {
    RecordQuery { age_ms: Some(7 * 86_400_000), limit: 1_000, ..RecordQuery::default() }
}

#[test]
fn x3_who_was_not_granted_a_project_sees_nothing_of_its_record_and_that_it_is_so() {
    let Some(server) = recorded() else { return };
    let said = |shop: bool, secret: bool| vec![("acme/secret".to_string(), secret), ("acme/shop".to_string(), shop)];
    assert_eq!(look(&server, "taut_agent", &query()), (Vec::new(), said(false, false)));
    grant_record(&mut server.connect("postgres"), &schema(), ("taut_agent", "acme/shop")).unwrap();
    let (events, projects) = look(&server, "taut_agent", &query());
    assert_eq!(projects, said(true, false));
    assert!(!events.is_empty() && events.iter().all(|one| one.project == "acme/shop"));
    let secret = RecordQuery { projects: vec!["acme/secret".into()], ..query() };
    assert_eq!(look(&server, "taut_agent", &secret), (Vec::new(), vec![("acme/secret".to_string(), false)]));
    let mut member = server.connect("taut_agent");
    let sums = FleetServer::new(&mut member, &schema()).record_sums(&query()).unwrap();
    assert!(sums.machines.iter().all(|one| one.project == "acme/shop"), "{sums:?}");
    let (events, projects) = look(&server, "taut_reader", &query());
    assert_eq!((projects, events.len()), (said(true, true), 167), "hours 1 to 167 are within seven days");
}

#[test]
fn x3_every_filter_is_honoured_by_the_server() {
    let Some(server) = recorded() else { return };
    let count = |query: RecordQuery| look(&server, "taut_reader", &query).0.len();
    assert_eq!(count(RecordQuery { only_denied: true, ..query() }), 41);
    assert_eq!(count(RecordQuery { limit: 5, ..query() }), 5);
    assert_eq!(count(RecordQuery { age_ms: Some(9_000_000), ..query() }), 2);
    assert_eq!(count(RecordQuery { until_age_ms: Some(9_000_000), ..query() }), 165);
    assert_eq!(count(RecordQuery { agent: Some("ada".into()), ..query() }), 83, "by its name");
    assert_eq!(count(RecordQuery { agent: Some("i-1".into()), ..query() }), 83, "by its id");
    assert_eq!(count(RecordQuery { rule: Some("git-force-push".into()), ..query() }), 41);
    assert_eq!(count(RecordQuery { rule: Some("git-force".into()), ..query() }), 0);
    assert_eq!(count(RecordQuery { tool: Some("Read".into()), ..query() }), 0);
    assert_eq!(count(RecordQuery { session: Some("host-16".into()), ..query() }), 9, "16 and 160 to 167");
    let words = |words: &[&str]| RecordQuery { words: words.iter().map(ToString::to_string).collect(), ..query() };
    assert_eq!(count(words(&["HISTORY", "push"])), 41, "each of them, in any case");
    assert_eq!(count(words(&["history", "nothing"])), 0);
    assert_eq!(count(words(&["100% _16\""])), 1, "signs of a pattern are letters");
    assert_eq!(count(words(&["x' OR 1=1 --\0"])), 0);
}

#[test]
fn x3_sums_tell_machines_agents_and_rules() {
    let Some(server) = recorded() else { return };
    let mut connection = server.connect("taut_reader");
    let sums = FleetServer::new(&mut connection, &schema()).record_sums(&query()).unwrap();
    assert_eq!(sums.machines.len(), 4, "two machines in two projects");
    assert_eq!(
        sums.machines.iter().map(|one| (one.events, one.denied)).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1)),
        (167, 41)
    );
    let busiest =
        sums.agents.iter().map(|one| (one.agent.as_str(), one.agent_name.as_deref(), one.calls)).collect::<Vec<_>>();
    assert_eq!(busiest, [("bob", None, 84), ("i-1", Some("ada"), 83)]);
    let rule = &sums.rules[0];
    assert_eq!((rule.rule.as_str(), rule.denied, rule.asked, sums.rules.len()), ("git-force-push", 41, 0, 1));
}

#[test]
fn x3_what_others_wrote_never_stops_a_look() {
    let Some(server) = recorded() else { return };
    let huge = "x".repeat(200_000);
    server.sql(&format!(
        "INSERT INTO taut.events (at, machine, id, seq, project, agent, event, verdict, micros, rules, reason, detail)
         VALUES (now(), '{0}', gen_random_uuid(), -1, 1, E'a\\x1b[31m', 'PreToolUse', 'deny', -5, '{{\"a\": 1}}', '{huge}', '[1]'),
                ('infinity', '{0}', gen_random_uuid(), -1, 1, 'a', 'x', 'deny', 5, '[1, null, {{}}]', 'r', null),
                (now(), '{0}', gen_random_uuid(), -1, 1, 'a', 'PreToolUse', 'deny', 5, '[1, null, {{}}]', 'r', '\"{huge}\"')",
        MACHINES[1]
    ));
    let (events, _) = look(&server, "taut_reader", &RecordQuery { limit: 2, ..query() });
    assert!(events.iter().all(|one| one.reason.as_ref().is_none_or(|reason| reason.len() <= 4_000)), "cut");
    assert!(events.iter().any(|one| one.detail == json!([1]) && one.rules.is_empty()), "{events:?}");
    let mut connection = server.connect("taut_reader");
    FleetServer::new(&mut connection, &schema()).record_sums(&query()).unwrap();
}

#[test]
fn x3_the_record_is_read_by_its_index_of_project_and_time() {
    let Some(server) = recorded() else { return };
    // A month of its own: the one that has just begun has too few rows to be read by an index.
    let month = "events_202001";
    server.sql(
        "CREATE TABLE taut.events_202001 PARTITION OF taut.events FOR VALUES FROM ('2020-01-01') TO ('2020-02-01');
         INSERT INTO taut.events (at, machine, id, seq, project, agent, event, verdict, micros)
         SELECT timestamptz '2020-01-20' - n * interval '1 second', gen_random_uuid(), gen_random_uuid(), n, 1 + n % 2, 'a', 'x',
           'pass', 1
         FROM generate_series(1, 20000) AS n; ANALYZE taut.events",
    );
    let age = "SELECT ceil(extract(epoch FROM now() - timestamptz '2020-01-20') * 1000)::bigint";
    let age: i64 = server.sql(age).parse().unwrap();
    // What a server counts is told when the connection ends.
    let scans = |kind: &str| -> u64 {
        server.sql(&format!("SELECT {kind} FROM pg_stat_user_tables WHERE relname = '{month}'")).parse().unwrap()
    };
    let (whole, indexed) = (scans("seq_scan"), scans("idx_scan"));
    let one = RecordQuery {
        projects: vec!["acme/shop".into()],
        age_ms: Some(age + 60_000),
        until_age_ms: Some(age),
        ..query()
    };
    let found = look(&server, "taut_reader", &one).0;
    assert!(!found.is_empty() && found.iter().all(|found| found.project == "acme/shop"));
    testkit::poll::until("the scan to be counted", std::time::Duration::from_secs(30), || {
        (scans("idx_scan") > indexed).then_some(())
    })
    .unwrap();
    assert_eq!(scans("seq_scan"), whole, "no month is read as a whole");
}
