//! Tasks of this machine on the server: what is owed is said, leases are renewed, and a machine may stop and come back.

use crate::machine::Server;

#[test]
fn q6_what_a_hook_let_go_of_is_said_by_the_next_round_though_no_session_is_open_any_more() {
    let Some(server) = Server::start() else { return };
    let mut one = server.machine("vm-1", "none");
    one.plan("a");
    one.begin("ann", "acme");
    assert_eq!(one.claim("ann").unwrap().task.plan.slug, "a");
    one.round();
    let said = one.end("ann", "acme");
    assert!(said.after.contains(&model::effect::After::Owed), "{:?}", said.after);
    assert_eq!(server.sql("SELECT status FROM taut.tasks"), "active", "no hook speaks to a server");
    assert_eq!(one.round().said, 1);
    assert_eq!(server.sql("SELECT status || releases FROM taut.tasks"), "open1");
    assert_eq!(one.round().said, 0);
}

#[test]
fn q6_a_word_is_still_said_of_a_project_that_the_user_lists_no_more() {
    let Some(server) = Server::start() else { return };
    let mut one = server.machine("vm-1", "none");
    one.plan("a");
    one.begin("ann", "acme");
    one.claim("ann").unwrap();
    one.round();
    one.end("ann", "acme");
    let config = std::fs::read_to_string(&one.setting.user_config).unwrap();
    std::fs::write(&one.setting.user_config, config.replace("acme/shop", "acme/another")).unwrap();
    assert_eq!(one.round().said, 1);
    assert_eq!(server.sql("SELECT status FROM taut.tasks"), "open");
}

#[test]
fn x1_while_the_server_is_away_agents_are_told_and_everything_here_goes_on() {
    let Some(server) = Server::start() else { return };
    let mut one = server.machine("vm-1", "none");
    one.plan("a");
    one.begin("ann", "acme");
    one.claim("ann").unwrap();
    one.round();
    // The machine slept for longer than the lease; and there is no server behind this address.
    let mut store = one.own_store();
    let id = store.shared_state().unwrap().unwrap().server;
    let hold = store.shared_holds(&id).unwrap().remove(0);
    let then = store::BootTime { ms: hold.confirmed.ms - 3_600_000, ..hold.confirmed };
    store.transact(store::Durability::Full, |tx| tx.confirm_holds(&[(&hold.claim, hold.lease_ms)], &then)).unwrap();
    one.share("postgresql://taut_agent@127.0.0.1:1/taut", "none");
    let report = one.try_round();
    assert!(matches!(report.error, Some(store::ServerError::Away(_))), "{report:?}");
    let told = one.waiting("ann");
    assert!(told.len() == 1 && told[0].2.contains("was not reached for so long"), "{told:?}");
    let state = one.store().shared_state().unwrap().unwrap();
    assert!(state.error.is_some() && state.error_since.is_some(), "{state:?}");
    assert_eq!(one.bash(("ann", "acme"), "ls").answer.exit, 0);
    one.share(&server.url("taut_agent"), "none");
    assert_eq!(one.round().renewed, 1);
    assert_eq!(one.store().shared_state().unwrap().unwrap().error, None);
}

#[test]
fn q7_two_machines_take_the_tasks_of_one_queue_and_what_one_ends_the_other_may_build_on() {
    let Some(server) = Server::start() else { return };
    let (mut one, mut two) = (server.machine("vm-1", "none"), server.machine("vm-2", "none"));
    for slug in ["a", "b"] {
        one.plan(slug);
    }
    one.begin("ann", "acme");
    two.begin("bob", "acme");
    let (first, second) = (one.claim("ann").unwrap(), two.claim("bob").unwrap());
    assert_ne!(first.task.plan.slug, second.task.plan.slug);
    one.round();
    two.round();
    one.done("ann", &first.task.plan.slug).unwrap();
    assert_eq!(server.sql("SELECT count(*) FROM taut.tasks WHERE status = 'done'"), "1");
    assert_eq!(server.sql("SELECT string_agg(label, ' ' ORDER BY label) FROM taut.machines"), "vm-1 vm-2");
}
