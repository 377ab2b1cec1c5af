//! Two versions of the schema side by side: members of the one work on while an owner makes the other, until the owner lets
//! them in no more.

use crate::traps::{LEASE_MS, LIMIT, Trap, claim, done, is_taken, plan, uuid, wish};
use crate::{PLENTY, Server, ask, refusal, schema};
use shared_store::{
    AgentPresence, FleetServer, MachineHeartbeat, Migrated, MigrationFile, PgQueue, RecordQuery, SentEvent,
    keep_events, migrate_with, older_machines, raise_oldest, version,
};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use store::{OutgoingMessage, Renewal, TaskFilter, TaskServer};
use testkit::poll;
use testkit::postgres::OWNER;

const MEMBERS: usize = 3;

/// What a version 2 may be: every table has more columns, also all that any other table has, so that a name that a statement
/// leaves open would mean two; there is a table more, and an index. In the middle it waits for whoever holds the gate.
const SECOND: MigrationFile = (
    2,
    "ALTER TABLE {s}.tasks ADD COLUMN label text, ADD COLUMN estimate jsonb;
     ALTER TABLE {s}.attempts ADD COLUMN title text, ADD COLUMN tokens bigint;
     SELECT pg_advisory_xact_lock(2);
     ALTER TABLE {s}.task_deps ADD COLUMN reason text;
     ALTER TABLE {s}.agents ADD COLUMN label text, ADD COLUMN mood text;
     ALTER TABLE {s}.machines ADD COLUMN project int, ADD COLUMN system text;
     ALTER TABLE {s}.messages ADD COLUMN label text, ADD COLUMN thread uuid;
     ALTER TABLE {s}.projects ADD COLUMN slug text, ADD COLUMN verdict text;
     ALTER TABLE {s}.events ADD COLUMN label text, ADD COLUMN cost bigint;
     DO $columns$ DECLARE more record; BEGIN
       FOR more IN SELECT t.relname AS name,
           string_agg(DISTINCT format('ADD COLUMN IF NOT EXISTS %I text', a.attname), ', ') AS added
         FROM pg_class t, pg_class o, pg_attribute a
         WHERE t.relnamespace = '{s}'::regnamespace AND t.relkind IN ('r', 'p') AND NOT t.relispartition
           AND o.relnamespace = '{s}'::regnamespace AND o.relkind IN ('r', 'p') AND a.attrelid = o.oid AND a.attnum > 0
         GROUP BY t.relname
       LOOP
         EXECUTE format('ALTER TABLE {s}.%I %s', more.name, more.added);
       END LOOP;
     END $columns$;
     CREATE TABLE {s}.task_labels (
       task bigint NOT NULL REFERENCES {s}.tasks ON DELETE CASCADE, label text NOT NULL, PRIMARY KEY (task, label));
     GRANT SELECT, INSERT, DELETE ON {s}.task_labels TO {agent};
     CREATE INDEX tasks_by_label ON {s}.tasks (project, label) WHERE label IS NOT NULL;",
);
const FILES: &[MigrationFile] = &[SECOND];

/// Holds the gate of the second version while it lives.
const GATE: &str = "SELECT to_jsonb(true)::text FROM (SELECT pg_advisory_xact_lock(2)) AS held";

/// A machine of version 1 that does everything there is to do, over and over.
struct Member {
    queue: PgQueue,
    machine: String,
    nth: usize,
}

impl Member {
    fn new(trap: &Trap, nth: usize) -> Self {
        Self { queue: trap.machine(), machine: uuid(), nth }
    }

    fn work(&mut self, round: usize) {
        self.task(round);
        self.reads();
        let (nth, machine) = (self.nth, self.machine.clone());
        let link = self.queue.link();
        let schema = link.schema().clone();
        let mut fleet = FleetServer::new(link.connection().unwrap(), &schema);
        let (label, build) = (format!("vm-{nth}"), "of-version-1".to_string());
        let starts = i64::try_from(round).unwrap();
        fleet.seen(&MachineHeartbeat { machine: machine.clone(), label, instance: uuid(), starts, build }).unwrap();
        let project = Some("acme/shop".to_string());
        let name = format!("agent-{nth}");
        let agent = AgentPresence { id: name.clone(), name, status: "working".into(), project, ..Default::default() };
        fleet.agents_put(&machine, &[agent]).unwrap();
        fleet.fleet(&machine, &["acme/shop".into()]).unwrap();
        let id = uuid();
        let to = (Some(machine.clone()), Some("ann".to_string()));
        let (to_machine, to_agent) = to;
        let sent = OutgoingMessage {
            id: id.clone(),
            kind: "note".into(),
            to_machine,
            to_agent,
            body: "x".into(),
            ..Default::default()
        };
        fleet.messages_put(&machine, &[sent]).unwrap();
        assert_eq!(fleet.messages_due(&machine, &["talk".into()], 10).unwrap().len(), 1);
        assert_eq!(fleet.messages_fetched(&machine, std::slice::from_ref(&id)).unwrap(), [id]);
        fleet.events_put(&machine, &[event()]).unwrap();
        fleet.record(&RecordQuery { limit: 5, ..RecordQuery::default() }).unwrap();
        fleet.record_sums(&RecordQuery::default()).unwrap();
    }

    /// One more task is planned, and whichever is first is claimed, renewed and finished.
    fn task(&mut self, round: usize) {
        let queue = &mut self.queue;
        plan(queue, &format!("m{}-{round}", self.nth), &[]);
        // Another may have taken the only one that stood open when this one looked, and left its own.
        let mine = poll::until("a task", LIMIT, || queue.claim(&wish(LEASE_MS)).unwrap()).unwrap();
        let task = &mine.task.queued;
        let renewal =
            Renewal { id: task.row, attempt: task.attempt, claim: mine.claim.clone(), age_ms: 0, lease_ms: None };
        assert!(queue.renew(&[renewal]).unwrap().lease_of(task.row).is_some());
        assert!(is_taken(queue.settle(&done(&mine)).unwrap()));
    }

    fn reads(&mut self) {
        let queue = &mut self.queue;
        assert!(!queue.tasks(&TaskFilter { limit: 5, ..TaskFilter::default() }).unwrap().is_empty());
        let slug = format!("m{}-0", self.nth);
        assert!(queue.task(&slug).unwrap().is_some());
        queue.attempts(&slug).unwrap();
        queue.blocker_results(&slug).unwrap();
        queue.dependencies_below(&slug).unwrap();
        queue.waiting().unwrap();
        queue.look().unwrap();
        queue.held().unwrap();
        queue.lapsed(10).unwrap();
    }
}

fn event() -> SentEvent {
    let (project, agent) = ("acme/shop".to_string(), "ann".to_string());
    let at = "2030-01-01T00:00:00Z".to_string();
    SentEvent {
        id: uuid(),
        at,
        project,
        agent,
        event: "PreToolUse".into(),
        verdict: "pass".into(),
        ..Default::default()
    }
}

#[test]
fn x1_members_work_before_during_and_after_a_migration_and_nobody_is_refused() {
    let Some(trap) = Trap::set(&[]) else { return };
    let owner = trap.server.target(OWNER);
    let (rounds, over): ([AtomicUsize; MEMBERS], _) = (Default::default(), AtomicBool::new(false));
    let made = |more: usize| {
        let before: Vec<usize> = rounds.iter().map(|done| done.load(Ordering::SeqCst)).collect();
        let all = || rounds.iter().zip(&before).all(|(done, before)| done.load(Ordering::SeqCst) >= before + more);
        poll::until("every member to have worked", LIMIT, || all().then_some(())).unwrap();
    };
    let mut gate = trap.raw();
    let did = thread::scope(|scope| {
        let members: Vec<_> = (0..MEMBERS)
            .map(|nth| {
                let (trap, rounds, over) = (&trap, &rounds, &over);
                scope.spawn(move || {
                    let mut member = Member::new(trap, nth);
                    while !over.load(Ordering::SeqCst) {
                        member.work(rounds[nth].fetch_add(1, Ordering::SeqCst));
                    }
                })
            })
            .collect();
        let stop = Stop(&over);
        made(3);
        let mut gate = gate.begin();
        gate.flight(&[ask(GATE)]).unwrap();
        let migration = scope.spawn(|| migrate_with(FILES, &owner, &schema(), PLENTY).unwrap());
        // All of them stand before a table that is being changed.
        trap.until_waiting(MEMBERS + 1);
        drop(gate);
        let did = migration.join().unwrap();
        made(3);
        drop(stop);
        members.into_iter().for_each(|member| member.join().unwrap());
        did
    });
    assert_eq!(did, Migrated { from: 1, to: 2 });
    let all: usize = rounds.iter().map(|done| done.load(Ordering::SeqCst)).sum();
    let taken = "SELECT count(*) FROM taut.attempts WHERE outcome = 'done'";
    assert_eq!(trap.server.sql(taken), all.to_string(), "every task was done once");
    for table in ["messages", "events", "tasks"] {
        assert_eq!(trap.server.sql(&format!("SELECT count(*) FROM taut.{table}")), all.to_string(), "{table}");
    }
    assert_eq!(version(&mut trap.raw(), &schema()).unwrap().version, 2);
    // A month is made of the table as it is now, with what waited for it.
    let month = trap.server.sql("SELECT 'events_' || to_char(now() AT TIME ZONE 'UTC', 'YYYYMM')");
    trap.server.sql(&format!("DROP TABLE taut.{month}; INSERT INTO taut.events_rest (at, machine, id, seq, project, agent,
        event, verdict, micros, cost) VALUES (now(), gen_random_uuid(), gen_random_uuid(), 1, 1, 'a', 'x', 'pass', 1, 7)"));
    FleetServer::new(&mut trap.raw(), &schema()).tend().unwrap();
    assert_eq!(trap.server.sql(&format!("SELECT cost FROM taut.{month}")), "7");
}

/// The members end, also where something is found wrong: else nobody would hear of it.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[test]
fn x1_a_migration_that_waits_for_a_long_transaction_lets_members_go_on_meanwhile() {
    let Some(trap) = Trap::set(&[("a", &[]), ("b", &[])]) else { return };
    let owner = trap.server.target(OWNER);
    let mut reader = trap.server.connect("taut_reader");
    let mut reading = reader.begin();
    reading.flight(&[ask("SELECT count(*)::text FROM taut.tasks")]).unwrap();
    thread::scope(|scope| {
        let migration = scope.spawn(|| migrate_with(FILES, &owner, &schema(), PLENTY).unwrap());
        trap.until_waiting(1);
        let mut member = trap.machine();
        for _ in 0..2 {
            let mine = claim(&mut member);
            assert!(is_taken(member.settle(&done(&mine)).unwrap()));
        }
        assert_eq!(version(&mut trap.raw(), &schema()).unwrap().version, 1, "who reads is waited for");
        drop(reading);
        assert_eq!(migration.join().unwrap(), Migrated { from: 1, to: 2 });
    });
}

#[test]
fn x1_a_look_through_the_record_that_a_migration_came_in_the_way_of_is_made_again() {
    let Some(trap) = Trap::set(&[]) else { return };
    // So that of the two it is the look that the server undoes.
    trap.server.sql(&format!("ALTER ROLE {OWNER} IN DATABASE {} SET deadlock_timeout = '60s'", trap.server.database));
    let mut owner = trap.server.connect(OWNER);
    let mut met = || {
        let mut migration = owner.begin();
        migration.flight(&[ask("SET LOCAL lock_timeout = '3s'"), ask("LOCK TABLE taut.machines")]).unwrap();
        thread::scope(|scope| {
            let look = scope.spawn(|| {
                let mut reader = trap.server.connect("taut_reader");
                FleetServer::new(&mut reader, &schema()).record(&RecordQuery { limit: 5, ..RecordQuery::default() })
            });
            trap.until_waiting(1);
            // It is there to be had only once the look was undone.
            let had = migration.flight(&[ask("LOCK TABLE taut.events")]).is_ok();
            drop(migration);
            look.join().unwrap().unwrap();
            had
        })
    };
    poll::until("a look to be undone", LIMIT, || met().then_some(())).unwrap();
}

#[test]
fn x1_an_owner_lets_in_newer_versions_alone_once_the_schema_has_them_and_never_goes_back() {
    let Some(server) = Server::migrated() else { return };
    let mut owner = server.connect(OWNER);
    let oldest = || server.sql("SELECT value FROM taut.meta WHERE name = 'oldest'");
    server.sql("UPDATE taut.meta SET value = '0' WHERE name = 'oldest'");
    let words = refusal(raise_oldest(&mut owner, &schema(), 2));
    assert!(words.contains("is of version 1"), "{words}");
    raise_oldest(&mut owner, &schema(), 1).unwrap();
    assert_eq!(oldest(), "1");
    let words = refusal(raise_oldest(&mut owner, &schema(), 0));
    assert!(words.contains("only rises"), "{words}");
    let words = refusal(raise_oldest(&mut server.member(), &schema(), 1));
    assert!(words.contains("permission denied"), "{words}");
    // Whoever does not know a schema locks nobody out of it, not even himself.
    server.sql("UPDATE taut.meta SET value = '2' WHERE name = 'version'");
    for words in [refusal(raise_oldest(&mut owner, &schema(), 2)), refusal(keep_events(&mut owner, &schema(), 30))] {
        assert!(words.contains("only a newer one"), "{words}");
    }
    assert_eq!(oldest(), "1");
    // As the owner's newer taut does it.
    server.sql("UPDATE taut.meta SET value = '2' WHERE name = 'oldest'");
    let words = refusal(version(&mut server.member(), &schema()));
    assert!(words.contains("update taut on this machine") && words.contains("waits here"), "{words}");
}

#[test]
fn x1_machines_that_speak_an_older_version_are_those_that_were_heard_of_in_the_last_30_days() {
    let Some(server) = Server::migrated() else { return };
    server.sql(
        "INSERT INTO taut.machines (id, label, build, speaks, seen_at) VALUES
           (gen_random_uuid(), 'old', '0.9', 1, now() - interval '2 days'),
           (gen_random_uuid(), E'older\\x1b[2J', '0.8', 0, now() - interval '5 days'),
           (gen_random_uuid(), 'gone', '0.8', 0, now() - interval '31 days'),
           (gen_random_uuid(), 'new', '1.1', 2, now())",
    );
    let mut owner = server.connect(OWNER);
    let older = |owner: &mut _, oldest| older_machines(owner, &schema(), oldest).unwrap();
    let labels: Vec<String> = older(&mut owner, 2).into_iter().map(|one| one.label).collect();
    assert_eq!(labels.len(), 2, "{labels:?}");
    assert!(labels[0] == "old" && labels[1].starts_with("older") && !labels[1].contains('\x1b'), "{labels:?}");
    assert_eq!(older(&mut owner, 1).len(), 1);
    assert_eq!(older(&mut owner, 0), []);
}

#[test]
fn x1_the_record_is_kept_for_as_long_as_the_owner_says_and_not_for_less_than_a_day_or_more_than_ten_years() {
    let Some(server) = Server::migrated() else { return };
    let mut owner = server.connect(OWNER);
    let kept = || server.sql("SELECT value FROM taut.meta WHERE name = 'keep_events_days'");
    for days in [0, 3_651] {
        let words = refusal(keep_events(&mut owner, &schema(), days));
        assert!(words.contains("1 to 3650 days"), "{words}");
    }
    assert_eq!(kept(), "90");
    keep_events(&mut owner, &schema(), 30).unwrap();
    assert_eq!(kept(), "30");
    assert!(refusal(keep_events(&mut server.member(), &schema(), 7)).contains("permission denied"));
    assert_eq!(kept(), "30");
}
