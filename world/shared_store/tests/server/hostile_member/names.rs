//! Functions and types of somebody else's that are called as PostgreSQL's own: none of them is run with our rights.

use super::{ADA, Team, heartbeat, looked, note};
use crate::{PLENTY, Server, schema, traps};
use model::Ms;
use shared_store::{
    AgentPresence, FleetServer, MachineIdentity, PgQueue, SentEvent, ServerLink, grant_record, keep_events,
    known_roles, look, migrate, older_machines, version,
};
use std::sync::Arc;
use std::time::Duration;
use store::OutgoingMessage;

/// What is looked for before PostgreSQL's own, and stops whoever runs it.
const TRAPS: &str = "CREATE SCHEMA evil; GRANT USAGE ON SCHEMA evil TO PUBLIC;
  CREATE FUNCTION evil.trap() RETURNS boolean LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'this ran with the rights of %', current_user; END $$;
  CREATE DOMAIN evil.text AS pg_catalog.text CHECK (evil.trap());
  CREATE DOMAIN evil.jsonb AS pg_catalog.jsonb CHECK (evil.trap());
  CREATE DOMAIN evil.uuid AS pg_catalog.uuid CHECK (evil.trap());
  CREATE FUNCTION evil.current_setting(pg_catalog.text) RETURNS pg_catalog.text LANGUAGE sql AS
    $$ SELECT evil.trap()::pg_catalog.text $$";

/// The role looks for names there first, whoever said so.
fn mislead(server: &Server, role: &str) {
    server
        .sql(&format!("ALTER ROLE {role} IN DATABASE {} SET search_path = evil, pg_catalog, public", server.database));
}

#[test]
fn x3_a_schema_is_made_of_postgresqls_own_types_whatever_its_owner_looks_for_first() {
    let Some(server) = Server::empty() else { return };
    let owner = format!("owner_of_{}", server.database);
    server
        .sql(&format!("CREATE ROLE {owner} LOGIN CREATEROLE; GRANT CREATE ON DATABASE {} TO {owner}", server.database));
    server.sql(TRAPS);
    mislead(&server, &owner);
    migrate(&server.target(&owner), &schema(), PLENTY).unwrap();
    let mut owner = server.connect(&owner);
    version(&mut owner, &schema()).unwrap();
    look(&mut owner, &schema()).unwrap();
    known_roles(&mut owner, &schema()).unwrap();
    older_machines(&mut owner, &schema(), 2).unwrap();
    keep_events(&mut owner, &schema(), 30).unwrap();
    let none = grant_record(&mut owner, &schema(), ("taut_agent", "nowhere"));
    assert!(crate::refusal(none).contains("no project nowhere"));
}

#[test]
fn x3_no_function_or_type_that_somebody_else_made_is_run_by_a_machine() {
    let Some(mut team) = Team::meet() else { return };
    team.server.sql(TRAPS);
    mislead(&team.server, &team.ada);
    let (mut ada, mut mallory) = (team.server.connect(&team.ada), team.server.connect(&team.mallory));
    team.begin_anew(&mut ada, &mut mallory);
    let link = ServerLink::new(team.server.target(&team.ada), schema(), PLENTY, Arc::new(|| Ms(0)));
    let identity = MachineIdentity { id: ADA.into(), label: "ada-laptop".into() };
    let mut queue = PgQueue::open(link, identity, "acme/shop").unwrap().with_grace(Duration::ZERO);
    assert_eq!(looked(&mut ada, &mut queue), Vec::<String>::new());
    // The rows before it were given their numbers.
    team.server.sql("ALTER TABLE taut.tasks ALTER COLUMN id RESTART WITH 100");
    traps::plan(&mut queue, "planned", &["waits"]);
    let (schema, mut wrong) = (schema(), Vec::new());
    let mut fleet = FleetServer::new(&mut ada, &schema);
    let agent =
        AgentPresence { id: "api".into(), project: Some("acme/shop".into()), status: "x".into(), ..Default::default() };
    note(&mut wrong, "seen", || fleet.seen(&heartbeat(ADA, "ada-laptop")));
    note(&mut wrong, "agents_put", || fleet.agents_put(ADA, std::slice::from_ref(&agent)));
    note(&mut wrong, "key_put", || fleet.key_put(ADA, "key"));
    note(&mut wrong, "messages_put", || fleet.messages_put(ADA, &[message()]));
    note(&mut wrong, "events_put", || fleet.events_put(ADA, &[event()]));
    note(&mut wrong, "leave", || fleet.leave(ADA));
    assert_eq!(wrong, Vec::<String>::new());
}

/// As in a database of PostgreSQL 14 or older, where everybody may make functions: one whose types fit better than those of
/// PostgreSQL's own is taken, though that is looked for first.
#[test]
fn x3_a_function_of_a_member_that_fits_better_is_not_run_by_another_machine() {
    let Some(mut team) = Team::meet() else { return };
    team.server.sql("GRANT CREATE ON SCHEMA public TO PUBLIC");
    let (mut ada, mut mallory) = (team.server.connect(&team.ada), team.server.connect(&team.mallory));
    team.begin_anew(&mut ada, &mut mallory);
    let better = "CREATE FUNCTION public.\"left\"(taut.short_text, int) RETURNS text LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'this ran with the rights of %', current_user; END $$";
    team.server.cluster.sql_as(&team.mallory, &team.server.database, better).unwrap();
    let schema = schema();
    let fleet = FleetServer::new(&mut ada, &schema).fleet(ADA, &["acme/shop".to_string()]).unwrap();
    assert_eq!(fleet.len(), 1);
}

fn message() -> OutgoingMessage {
    OutgoingMessage {
        id: traps::uuid(),
        kind: "note".into(),
        from_agent: None,
        to_machine: Some(ADA.into()),
        to_agent: Some("api".into()),
        to_conversation: None,
        body: "x".into(),
    }
}

fn event() -> SentEvent {
    SentEvent {
        id: traps::uuid(),
        at: "2026-01-01T00:00:00Z".into(),
        project: "acme/shop".into(),
        agent: "api".into(),
        event: "PreToolUse".into(),
        verdict: "pass".into(),
        ..SentEvent::default()
    }
}
