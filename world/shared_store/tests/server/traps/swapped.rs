//! Another server answers than before: another schema under the same name, behind a connection that broke, or under one that
//! lives on.

use super::{Trap, claim, done, wish};
use model::task::TaskStatus;
use shared_store::{FleetServer, MachineHeartbeat, PgQueue, ServerLink};
use std::sync::Arc;
use store::{ServerError, TaskServer};

impl Trap {
    /// As if another's backup had been played back over ours: its own id, and under our project's number a project of its own.
    fn swap(&self) {
        self.server.sql(
            "UPDATE taut.meta SET value = gen_random_uuid() WHERE name = 'id';
             UPDATE taut.projects SET name = 'acme/other'; UPDATE taut.tasks SET slug = 'their-' || id",
        );
    }

    fn swap_back(&self, id: &str) {
        self.server.sql(&format!("UPDATE taut.meta SET value = '{id}' WHERE name = 'id'"));
    }

    /// Every member's connection breaks.
    fn cut(&self) {
        self.server.sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND usename = 'taut_agent'",
        );
    }
}

fn is_another<T: std::fmt::Debug>(answer: Result<T, ServerError>) -> bool {
    match answer {
        Err(ServerError::Refused(why)) => why.contains("another server answers"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn x2_nothing_is_read_or_written_over_a_new_connection_to_another_server() {
    let Some(trap) = Trap::set(&[("a", &[]), ("b", &[])]) else { return };
    let mut machine = trap.machine();
    let held = claim(&mut machine);
    let id = machine.place().server.clone();
    trap.swap();
    trap.cut();
    assert!(is_another(machine.waiting()));
    assert!(is_another(machine.task("their-1")));
    assert!(is_another(machine.claim(&wish(super::LEASE_MS))));
    assert!(is_another(machine.settle(&done(&held))));
    assert_eq!(trap.server.sql("SELECT count(*) FROM taut.tasks WHERE status = 'active'"), "1");
    trap.swap_back(&id);
    assert!(super::is_taken(machine.settle(&done(&held)).unwrap()), "it is the same one again");
}

#[test]
fn x2_nothing_is_written_to_another_server_under_the_same_connection() {
    let Some(trap) = Trap::set(&[("a", &[]), ("b", &[])]) else { return };
    let mut machine = trap.machine();
    let held = claim(&mut machine);
    type Verb = fn(&mut PgQueue, &store::ServerTurn) -> Result<(), ServerError>;
    let verbs: [Verb; 5] = [
        |machine, _| machine.claim(&wish(super::LEASE_MS)).map(drop),
        |machine, turn| machine.settle(turn).map(drop),
        |machine, turn| machine.turns(std::slice::from_ref(turn)).map(drop),
        |machine, turn| {
            let claim = turn.claim.clone().unwrap();
            let renewal = store::Renewal { id: turn.id, attempt: turn.attempt, claim, age_ms: 0, lease_ms: None };
            machine.renew(&[renewal]).map(drop)
        },
        |machine, _| match machine.plan(&mut |_| Ok(())) {
            Err(store::Error::Server(error)) => Err(error),
            other => panic!("{other:?}"),
        },
    ];
    for verb in verbs {
        trap.swap();
        assert!(is_another(verb(&mut machine, &done(&held))));
        trap.swap_back(&machine.place().server.clone());
        // Found again, over a connection of its own.
        assert_eq!(machine.task("their-1").unwrap().map(|task| task.queued.status), Some(TaskStatus::Active));
    }
}

#[test]
fn f9_presence_and_messages_are_told_to_the_server_that_they_are_for_and_to_no_other() {
    let Some(trap) = Trap::set(&[]) else { return };
    let schema = crate::schema();
    let mut link =
        ServerLink::new(trap.server.target("taut_agent"), schema.clone(), crate::PLENTY, Arc::new(super::now));
    let beat = MachineHeartbeat {
        machine: super::uuid(),
        label: "m".into(),
        instance: super::uuid(),
        starts: 1,
        build: "b".into(),
    };
    let id = trap.server.sql("SELECT value FROM taut.meta WHERE name = 'id'");
    let mut seen = || FleetServer::new(link.connection().unwrap(), &schema).of(&id, "the server").seen(&beat);
    trap.swap();
    assert!(is_another(seen()));
    assert_eq!(trap.server.sql("SELECT count(*) FROM taut.machines"), "0");
    trap.swap_back(&id);
    seen().unwrap();
    assert_eq!(trap.server.sql("SELECT count(*) FROM taut.machines"), "1");
}
