//! Whatever a member of the team writes where it may, the machines of the others go on: every column, with what nobody can
//! read or reckon with.

mod names;

use crate::{PLENTY, Server, ask, schema};
use model::Ms;
use shared_store::{
    AgentPresence, Connection, FleetServer, InTransaction, MachineHeartbeat, MachineIdentity, PgQueue, RecordQuery,
    ServerLink, grant_record,
};
use std::sync::Arc;
use std::time::Duration;
use store::{ClaimWish, LeaseNeed, ServerError, ServerTurn, TaskFilter, TaskServer, TaskStanding};

const ADA: &str = "0192f7a0-0000-7000-8000-00000000000a";
const MALLORY: &str = "0192f7a0-0000-7000-8000-00000000000b";
const CLAIM: &str = "00000000-0000-4000-8000-00000000c1a1";

/// Of each type; what the table takes is then looked at by another machine.
const MOMENTS: &[&str] = &["NULL", "'infinity'", "'-infinity'", "'294276-12-31'", "'4713-01-01 BC'"];
const NUMBERS: &[&str] = &["NULL", "-1", "32767", "-32768", "2147483647", "-2147483648", "9223372036854775807"];
const TEXTS: &[&str] =
    &["NULL", "''", r"E'\x1b]0;x\x07\x1b[2J\u202e'", "repeat('x', 30000000)", r"repeat(E'\x01', 1000000)"];
const IDS: &[&str] = &["NULL", "'00000000-0000-0000-0000-000000000000'", "'0192f7a0-0000-7000-8000-00000000000a'"];
const VALUES: &[&str] = &[
    "NULL", "'null'", "'[1e400]'", "'{\"commit\": -1e5000}'", "'{\"a\": 1}'", "'\"x\"'",
    "'[[{\"content\": \"x\", \"done\": true}]]'", "'[{\"content\": [\"x\"], \"done\": true}]'",
    "'[{\"content\": \"x\"}]'", "(repeat('[', 1000) || repeat(']', 1000))::jsonb",
    "(repeat('{\"a\":', 500) || '1' || repeat('}', 500))::jsonb", "jsonb_build_object('a', repeat('x', 30000000))",
];
const OTHERS: &[&str] = &["NULL", "DEFAULT"];

/// Rows as a server has them after a day.
const ROWS: &str = "DELETE FROM taut.messages; DELETE FROM taut.task_deps; DELETE FROM taut.attempts; DELETE FROM taut.tasks;
  DELETE FROM taut.agents; DELETE FROM taut.machines; DELETE FROM taut.events;
  INSERT INTO taut.tasks (id, project, slug, title, description, category, spec, ref, steps, status, result, open_blockers,
      attempt, machine, claim, agent, session, lease_ms, lease_until, renewed_at) OVERRIDING SYSTEM VALUE VALUES
    (1, 1, 'ready', 'R', 'd', 'feat', 'spec.md', 'r', '[{\"content\": \"x\", \"done\": false}]', 'open', NULL, 0, 0,
      NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    (2, 1, 'lapsed', 'L', NULL, NULL, 'spec.md', NULL, NULL, 'active', NULL, 0, 1, '{mallory}', gen_random_uuid(), 'm', 's',
      1000, now() - interval '1 hour', now() - interval '2 hours'),
    (3, 1, 'over', 'O', NULL, NULL, 'spec.md', NULL, NULL, 'done', '{\"commit\": \"c0ffee\"}', 0, 1,
      NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    (4, 1, 'waits', 'W', NULL, NULL, NULL, NULL, NULL, 'open', NULL, 1, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    (5, 1, 'mine', 'M', NULL, NULL, NULL, NULL, NULL, 'active', NULL, 0, 1, '{ada}', '{claim}', 'a', 's',
      600000, now() + interval '1 hour', now());
  INSERT INTO taut.task_deps VALUES (4, 3), (4, 5);
  INSERT INTO taut.attempts (task, number, claim, machine, agent, session, claimed_at)
    SELECT id, attempt, coalesce(claim, gen_random_uuid()), coalesce(machine, '{ada}'), 'a', 's', now() FROM taut.tasks";

/// A message of mallory's to an agent of ada's.
macro_rules! message {
    ($kind:literal, $from:literal, $to:literal, $body:literal) => {
        concat!(
            "INSERT INTO taut.messages (id, kind, from_machine, from_agent, to_machine, to_agent, body) VALUES (gen_random_uuid(), ",
            $kind, ", '0192f7a0-0000-7000-8000-00000000000b', ", $from, ", '0192f7a0-0000-7000-8000-00000000000a', ", $to, ", ",
            $body, ")"
        )
    };
}

macro_rules! event {
    ($at:literal, $reason:literal, $rules:literal, $detail:literal, $micros:literal) => {
        concat!(
            "INSERT INTO taut.events (at, machine, id, seq, project, agent, event, verdict, reason, rules, detail, micros) VALUES (",
            $at, ", '0192f7a0-0000-7000-8000-00000000000b', gen_random_uuid(), 1, 1, 'm', 'PreToolUse', 'deny', ", $reason, ", ",
            $rules, ", ", $detail, ", ", $micros, ")"
        )
    };
}

struct Team {
    server: Server,
    ada: String,
    mallory: String,
    owner: Connection,
}

impl Team {
    fn meet() -> Option<Self> {
        let server = Server::migrated()?;
        let name = |of: &str| format!("{of}_of_{}", server.database);
        let (ada, mallory) = (name("ada"), name("mallory"));
        for role in [&ada, &mallory] {
            server.sql(&format!("CREATE ROLE {role} LOGIN; GRANT taut_agent TO {role}"));
        }
        server.sql("INSERT INTO taut.projects (name) VALUES ('acme/shop')");
        let mut owner = server.connect("postgres");
        grant_record(&mut owner, &schema(), (&ada, "acme/shop")).unwrap();
        Some(Self { server, ada, mallory, owner })
    }

    /// All as it was, and both machines are there.
    fn begin_anew(&mut self, ada: &mut Connection, mallory: &mut Connection) {
        let rows = ROWS.replace("{ada}", ADA).replace("{mallory}", MALLORY).replace("{claim}", CLAIM);
        let rows: Vec<_> = rows.split(';').map(ask).collect();
        self.owner.flight(&rows, InTransaction::Yes).unwrap();
        for (connection, machine, label) in [(ada, ADA, "ada-laptop"), (mallory, MALLORY, "vm")] {
            let schema = schema();
            let mut fleet = FleetServer::new(connection, &schema);
            fleet.seen(&heartbeat(machine, label)).unwrap();
            let agent = AgentPresence {
                id: "api".into(),
                project: Some("acme/shop".into()),
                status: "working".into(),
                conversation: Some("talk".into()),
                context: Some(5),
                ..AgentPresence::default()
            };
            fleet.agents_put(machine, &[agent]).unwrap();
        }
    }

    /// What a member may change, each with what it could be changed to; and rows that it may add.
    fn attempts(&self) -> Vec<String> {
        let columns = self.server.sql(&format!(
            "SELECT string_agg(c.relname || ' ' || a.attname || ' ' || format_type(coalesce(b.oid, t.oid), NULL), E'\\n')
             FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid JOIN pg_type t ON t.oid = a.atttypid
               LEFT JOIN pg_type d ON d.oid = t.typbasetype LEFT JOIN pg_type b ON b.oid = coalesce(nullif(d.typbasetype, 0), d.oid)
             WHERE c.relnamespace = 'taut'::regnamespace AND c.relkind IN ('r', 'p') AND a.attnum > 0
               AND has_column_privilege('{0}', c.oid, a.attname, 'UPDATE')",
            self.mallory
        ));
        let mut all = Vec::new();
        for line in columns.lines() {
            let mut words = line.splitn(3, ' ');
            let (table, column, kind) = (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
            for value in values(kind) {
                all.push(format!("UPDATE taut.{table} SET {column} = {value}"));
            }
        }
        let adds: [(&str, &[&str]); 15] = [
            (message!("'note'", "'a'", "{v}", "'x'"), TEXTS),
            (message!("'note'", "{v}", "'api'", "'x'"), TEXTS),
            (message!("{v}", "'a'", "'api'", "'x'"), TEXTS),
            (message!("'note'", "'a'", "'api'", "{v}"), TEXTS),
            ("INSERT INTO taut.projects (name) VALUES ({v})", TEXTS),
            (event!("now()", "{v}", "'[]'", "'{}'", "1"), TEXTS),
            (event!("now()", "'x'", "{v}", "'{}'", "1"), VALUES),
            (event!("now()", "'x'", "'[]'", "{v}", "1"), VALUES),
            (event!("now()", "'x'", "'[]'", "'{}'", "{v}"), NUMBERS),
            (event!("{v}", "'x'", "'[]'", "'{}'", "1"), MOMENTS),
            (
                "INSERT INTO taut.attempts (task, number, claim, machine, agent, claimed_at)
                 VALUES (2, {v}, gen_random_uuid(), gen_random_uuid(), 'm', now())",
                NUMBERS,
            ),
            (
                "INSERT INTO taut.attempts (task, number, claim, machine, agent, claimed_at)
                 VALUES (1, 7, gen_random_uuid(), gen_random_uuid(), 'm', {v})",
                MOMENTS,
            ),
            (
                "INSERT INTO taut.agents (machine, id, named, status, project, since, card) SELECT
                 '0192f7a0-0000-7000-8000-00000000000b', n, true, 'waiting', 1, now(), {v} FROM generate_series(1, 6000) n",
                &["repeat(E'\\x01', 16000)", "repeat('x', 16000)", "repeat(',', 16000)"],
            ),
            // More than one flight would bring, were they told whole; and first among those whose lease is over.
            (
                "INSERT INTO taut.tasks (project, slug, title, status, attempt, machine, claim, agent, session, fail_reason,
                   lease_ms, lease_until, renewed_at) SELECT 1, 'many' || n, 'T', 'active', 1,
                   '0192f7a0-0000-7000-8000-00000000000b', gen_random_uuid(), {v}, {v}, {v}, 1000, now() - interval '1 day',
                   now() - interval '2 days' FROM generate_series(1, 100) n",
                &["repeat(',', 131072)", "repeat(E'\\x01', 131072)"],
            ),
            (
                "WITH b AS (INSERT INTO taut.tasks (project, slug, title, status) SELECT 1, {v} || n, 'T', 'done'
                   FROM generate_series(1, 3000) n RETURNING id)
                 INSERT INTO taut.task_deps SELECT 1, id FROM b",
                &["repeat(E'\\x01', 1990)", "repeat('x', 200000)"],
            ),
        ];
        for (add, values) in adds {
            all.extend(values.iter().map(|value| add.replace("{v}", value)));
        }
        all
    }
}

fn values(kind: &str) -> &'static [&'static str] {
    match kind {
        "timestamp with time zone" => MOMENTS,
        "integer" | "smallint" | "bigint" => NUMBERS,
        "text" => TEXTS,
        "uuid" => IDS,
        "jsonb" => VALUES,
        _ => OTHERS,
    }
}

fn heartbeat(machine: &str, label: &str) -> MachineHeartbeat {
    let (machine, label) = (machine.to_string(), label.to_string());
    MachineHeartbeat { instance: machine.clone(), machine, label, starts: 1, build: "x".into() }
}

/// All that another machine asks in its rounds and for its people. What went wrong, each with what was asked.
fn looked(ada: &mut Connection, queue: &mut PgQueue) -> Vec<String> {
    let schema = schema();
    let mut wrong = Vec::new();
    let mut fleet = FleetServer::new(ada, &schema);
    let projects = ["acme/shop".to_string()];
    note(&mut wrong, "seen", || fleet.seen(&heartbeat(ADA, "ada-laptop")));
    note(&mut wrong, "agents_put", || fleet.agents_put(ADA, &[]));
    note(&mut wrong, "fleet", || fleet.fleet(ADA, &projects));
    note(&mut wrong, "machines", || fleet.machines());
    if let Some(due) = note(&mut wrong, "messages_due", || fleet.messages_due(ADA, &["talk".into()], 100)) {
        let ids: Vec<String> = due.into_iter().map(|one| one.id).collect();
        note(&mut wrong, "messages_fetched", || fleet.messages_fetched(ADA, &ids));
    }
    note(&mut wrong, "tend", || fleet.tend());
    let query = RecordQuery { age_ms: Some(86_400_000), words: vec!["x".into()], limit: 100, ..RecordQuery::default() };
    note(&mut wrong, "record", || fleet.record(&query));
    note(&mut wrong, "record_sums", || fleet.record_sums(&query));
    note(&mut wrong, "held", || queue.held());
    let lapsed = note(&mut wrong, "lapsed", || queue.lapsed(100)).unwrap_or_default();
    let turns: Vec<ServerTurn> = lapsed.iter().map(expired).collect();
    note(&mut wrong, "turns", || queue.turns(&turns));
    for slug in ["ready", "lapsed", "over", "waits", "mine"] {
        note(&mut wrong, "task", || queue.task(slug));
        note(&mut wrong, "attempts", || queue.attempts(slug));
        note(&mut wrong, "dependencies_below", || queue.dependencies_below(slug));
    }
    note(&mut wrong, "tasks", || queue.tasks(&TaskFilter::default()));
    note(&mut wrong, "blocker_results", || queue.blocker_results("waits"));
    note(&mut wrong, "tasks_of_document", || queue.tasks_of_document("spec.md"));
    note(&mut wrong, "waiting", || queue.waiting());
    note(&mut wrong, "look", || queue.look());
    note(&mut wrong, "settle", || queue.settle(&done()));
    for (slug, claim) in
        [(None, "00000000-0000-4000-8000-00000000c1a2"), (Some("ready"), "00000000-0000-4000-8000-00000000c1a3")]
    {
        let (slug, claim) = (slug.map(String::from), claim.to_string());
        let wish = ClaimWish { slug, agent: "a".into(), session: None, lease_ms: 60_000, claim };
        note(&mut wrong, "claim", || queue.claim(&wish));
    }
    wrong
}

/// Asked once more where the server was away or busy: on a machine that is, this says nothing of what was written there.
fn note<T>(wrong: &mut Vec<String>, what: &str, mut verb: impl FnMut() -> Result<T, ServerError>) -> Option<T> {
    let answer = match verb() {
        Err(ServerError::Away(_) | ServerError::Busy(_)) => verb(),
        answer => answer,
    };
    answer.map_err(|error| wrong.push(format!("{what}: {error}"))).ok()
}

/// That ada's agent is done with what it holds.
fn done() -> ServerTurn {
    ServerTurn {
        id: 5,
        slug: "mine".into(),
        was: "active".into(),
        attempt: 1,
        claim: Some(CLAIM.into()),
        need: Some(LeaseNeed::Live),
        status: "done".into(),
        retry_count: 0,
        failures: 0,
        releases: 0,
        fail_reason: None,
        rest_ms: None,
        result: None,
        outcome: Some("done".into()),
        reason: None,
        step: -1,
    }
}

/// That nobody holds it any more, and one more of everything that is counted.
fn expired(standing: &TaskStanding) -> ServerTurn {
    let task = &standing.task;
    ServerTurn {
        id: task.row,
        slug: task.slug.clone(),
        attempt: task.attempt,
        claim: standing.claim.clone(),
        need: Some(LeaseNeed::Lapsed),
        status: "open".into(),
        retry_count: task.retry_count + 1,
        failures: task.failures + 1,
        releases: task.releases + 1,
        outcome: Some("expired".into()),
        step: 0,
        ..done()
    }
}

#[test]
fn x2_whatever_a_member_writes_where_it_may_every_other_machine_goes_on() {
    let Some(mut team) = Team::meet() else { return };
    let (mut ada, mut mallory) = (team.server.connect(&team.ada), team.server.connect(&team.mallory));
    let link = ServerLink::new(team.server.target(&team.ada), schema(), PLENTY, Arc::new(|| Ms(0)));
    let identity = MachineIdentity { id: ADA.into(), label: "ada-laptop".into() };
    let mut queue = PgQueue::open(link, identity, "acme/shop").unwrap().with_grace(Duration::ZERO);
    let (mut found, mut taken) = (Vec::new(), 0);
    team.begin_anew(&mut ada, &mut mallory);
    assert_eq!(looked(&mut ada, &mut queue), Vec::<String>::new(), "with nothing hostile in it");
    let mut is_changed = true;
    for attempt in team.attempts() {
        if std::mem::take(&mut is_changed) {
            team.begin_anew(&mut ada, &mut mallory);
        }
        if mallory.flight(&[ask(&attempt)], InTransaction::Yes).is_err() {
            // Refused, which is as good, and changes nothing; a huge row may have ended the session, at whatever moment.
            if mallory.is_broken() {
                mallory = team.server.connect(&team.mallory);
                is_changed = true;
            }
            continue;
        }
        (taken, is_changed) = (taken + 1, true);
        let wrong = looked(&mut ada, &mut queue);
        found.extend(wrong.into_iter().map(|what| format!("{attempt}\n    {what}")));
        if ada.is_broken() {
            ada = team.server.connect(&team.ada);
        }
    }
    assert!(taken > 50, "only {taken} were taken, so little was tried");
    assert!(found.is_empty(), "{} stops:\n{}", found.len(), found.join("\n"));
}
