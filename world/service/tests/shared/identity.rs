//! One machine, one name: a copy of its home and one that was set back find out that they are others.

use crate::machine::Server;
use service::workers::shared::SharedRounds;

#[test]
fn x1_a_daemon_that_is_started_again_is_the_same_machine() {
    let Some(server) = Server::start() else { return };
    let mut one = server.machine("vm-1", "none");
    one.round();
    let id = one.id();
    for _ in 0..3 {
        one.restart();
        one.round();
    }
    assert_eq!((one.id(), server.count("machines")), (id, 1));
    assert!(one.notices().is_empty(), "{:?}", one.notices());
}

#[test]
fn x1_a_word_of_the_daemon_before_that_arrives_late_makes_no_other_machine_of_this_one() {
    let Some(server) = Server::start() else { return };
    let mut one = server.machine("vm-1", "summary");
    one.plan("a");
    one.begin("ann", "acme");
    one.round();
    one.claim("ann").unwrap();
    let (id, before) = (one.id(), one.store().instance().unwrap().unwrap());
    one.restart();
    one.round();
    // It was under way when its daemon was killed.
    server.sql(&format!("UPDATE taut.machines SET instance = '{before}', seen_at = clock_timestamp()"));
    for _ in 0..3 {
        one.rounds.hear_again();
        one.round();
    }
    assert_eq!((one.id(), one.notices(), server.count("machines")), (id, Vec::new(), 1));
    let there = one.store().shared_state().unwrap().unwrap().server;
    assert_eq!(one.store().shared_holds(&there).unwrap().len(), 1, "it holds what it held");
}

#[test]
fn x1_a_command_that_goes_on_after_another_daemon_began_speaks_in_the_name_of_that_one() {
    let Some(server) = Server::start() else { return };
    let mut one = server.machine("vm-1", "none");
    one.round();
    let mut command = SharedRounds::of_command(&one.setting);
    let wanted = one.rounds.server().unwrap();
    assert_eq!(command.round(&mut one.own_store(), &wanted).unwrap().error, None);
    one.restart();
    one.round();
    let id = one.id();
    for _ in 0..4 {
        command.hear_again();
        assert_eq!(command.round(&mut one.own_store(), &wanted).unwrap().error, None);
        assert_eq!(server.sql("SELECT instance FROM taut.machines"), one.store().instance().unwrap().unwrap());
        one.rounds.hear_again();
        one.round();
    }
    assert_eq!((one.id(), one.notices(), server.count("machines")), (id, Vec::new(), 1));
}

#[test]
fn x1_a_copied_home_draws_a_name_of_its_own_and_gives_up_what_is_the_others() {
    let Some(server) = Server::start() else { return };
    let mut one = server.machine("vm-1", "summary");
    one.plan("a");
    one.begin("ann", "acme");
    one.claim("ann").unwrap();
    one.round();
    let mut copy = one.copied("vm-copy");
    // The copy begins while the other lives; both are heard under one name until one of them notices.
    copy.round();
    // Once may be a late word of what ran in that home before; twice is somebody who lives.
    for _ in 0..2 {
        one.rounds.hear_again();
        one.round();
        copy.rounds.hear_again();
        copy.round();
    }
    assert_ne!(copy.id(), one.id());
    let notices = copy.notices();
    assert!(notices.iter().any(|text| text.contains("a copy") && text.contains("was given up")), "{notices:?}");
    let told = copy.waiting("ann");
    assert!(told.iter().any(|(_, _, body)| body.contains("your lease")), "{told:?}");
    one.rounds.hear_again();
    one.round();
    assert_eq!(server.count("machines"), 2);
    assert_eq!(server.sql("SELECT status FROM taut.tasks"), "active", "the task is the other's still");
    let id = one.store().shared_state().unwrap().unwrap().server;
    assert_eq!(one.store().shared_holds(&id).unwrap().len(), 1);
    assert!(one.notices().is_empty(), "{:?}", one.notices());
    // The server has heard of a later start than its own; it is the machine all the same, today and after the next start.
    let name = one.id();
    for _ in 0..3 {
        one.rounds.hear_again();
        one.round();
    }
    one.restart();
    one.round();
    assert_eq!((one.id(), one.notices()), (name, Vec::new()));
    assert_eq!(one.store().shared_holds(&id).unwrap().len(), 1);
}

#[test]
fn f9_the_agents_of_a_copied_home_and_of_its_original_are_each_told_under_their_own_machine() {
    let Some(server) = Server::start() else { return };
    let mut one = server.machine("vm-1", "none");
    one.begin("ann", "acme");
    one.round();
    let mut copy = one.copied("vm-copy");
    // Under the name of both, until the copy finds out. It may have told of other agents, or of none.
    copy.round();
    server.sql("DELETE FROM taut.agents");
    for _ in 0..2 {
        one.rounds.hear_again();
        one.round();
        copy.rounds.hear_again();
        copy.round();
    }
    one.rounds.hear_again();
    one.round();
    assert_ne!(copy.id(), one.id());
    let told = |id: String| {
        server.sql(&format!("SELECT string_agg(id, ' ' ORDER BY id) FROM taut.agents WHERE machine = '{id}'"))
    };
    assert_eq!((told(one.id()).as_str(), told(copy.id()).as_str()), ("ann", "ann"));
}

#[test]
fn x1_a_machine_that_was_set_back_to_a_snapshot_is_another() {
    let Some(server) = Server::start() else { return };
    let mut one = server.machine("vm-1", "none");
    one.begin("ann", "acme");
    one.round();
    assert_eq!(server.count("agents"), 1);
    let mut snapshot = one.copied("vm-1");
    one.restart();
    one.round();
    one.restart();
    one.round();
    let id = one.id();
    drop(one);
    // It is heard of no more, and the snapshot is what runs from now on.
    server.sql("UPDATE taut.machines SET seen_at = seen_at - interval '1 hour'");
    snapshot.round();
    assert_ne!(snapshot.id(), id);
    assert_eq!(
        server.sql(&format!("SELECT count(*) FROM taut.agents WHERE machine = '{id}'")),
        "0",
        "nobody runs there"
    );
    assert!(snapshot.notices().iter().any(|text| text.contains("snapshot")), "{:?}", snapshot.notices());
}

#[test]
fn x3_what_a_copied_home_has_not_sent_of_the_record_is_sent_once_by_whoever_comes_first() {
    let Some(server) = Server::start() else { return };
    let mut one = server.machine("vm-1", "summary");
    one.begin("ann", "acme");
    one.round();
    let before = server.count("events");
    one.bash(("ann", "acme"), "rm -rf /");
    let mut copy = one.copied("vm-2");
    // Nothing of the record gets through before the copy knows that it is one.
    server.sql("ALTER TABLE taut.events RENAME TO events_elsewhere");
    for _ in 0..8 {
        one.rounds.hear_again();
        one.try_round();
        copy.rounds.hear_again();
        copy.try_round();
    }
    assert_ne!(one.id(), copy.id());
    server.sql("ALTER TABLE taut.events_elsewhere RENAME TO events");
    copy.bash(("ann", "acme"), "rm -rf ~");
    copy.round();
    one.round();
    assert_eq!(server.count("events"), before + 2);
    assert_eq!((one.store().unshipped().unwrap(), copy.store().unshipped().unwrap()), ((0, 0), (0, 0)));
}

#[test]
fn x1_a_client_that_is_too_old_and_a_server_without_tables_are_refused_in_words_and_all_here_goes_on() {
    let Some(server) = Server::start() else { return };
    let mut one = server.machine("vm-1", "none");
    one.begin("ann", "acme");
    one.round();
    server.sql("UPDATE taut.meta SET value = '999' WHERE name = 'oldest'");
    one.rounds.hear_again();
    let error = one.try_round().error.unwrap();
    assert!(matches!(&error, store::ServerError::Refused(why) if why.contains("update taut")), "{error}");
    assert_eq!(one.bash(("ann", "acme"), "ls").answer.exit, 0);
    server.sql("UPDATE taut.meta SET value = '1' WHERE name = 'oldest'");
    one.round();
    server.sql("DROP SCHEMA taut CASCADE");
    one.restart();
    let error = one.try_round().error.unwrap();
    assert!(matches!(&error, store::ServerError::Refused(why) if why.contains("taut shared migrate")), "{error}");
    let state = one.store().shared_state().unwrap().unwrap();
    assert!(state.error.is_some_and(|why| why.contains("taut shared migrate")));
    assert_eq!(one.bash(("ann", "acme"), "ls").answer.exit, 0);
}

#[test]
fn x1_words_that_are_owed_to_another_server_are_kept_and_said_to_be() {
    let (Some(server), Some(other)) = (Server::start(), Server::start()) else { return };
    let mut one = server.machine("vm-1", "none");
    one.plan("a");
    one.begin("ann", "acme");
    one.claim("ann").unwrap();
    one.round();
    one.end("ann", "acme");
    one.share(&other.url("taut_agent"), "none");
    assert_eq!(one.round().said, 0);
    assert!(one.notices().iter().any(|text| text.contains("another server")), "{:?}", one.notices());
    assert_eq!(server.sql("SELECT status FROM taut.tasks"), "active");
    one.share(&server.url("taut_agent"), "none");
    assert_eq!(one.round().said, 1);
    assert_eq!(server.sql("SELECT status FROM taut.tasks"), "open");
}

#[test]
fn x1_a_machine_keeps_its_name_with_a_role_of_its_own_and_goes_on_under_another_with_a_strangers() {
    let Some(server) = Server::start() else { return };
    let (ada, bob) = (server.member("ada"), server.member("bob"));
    let mut one = server.machine("vm-1", "summary");
    one.begin("ann", "acme");
    one.round();
    let id = one.id();
    one.share(&server.url(&ada), "summary");
    one.restart();
    one.round();
    assert_eq!((one.id(), server.sql("SELECT by FROM taut.machines")), (id.clone(), ada));
    one.share(&server.url(&bob), "summary");
    one.restart();
    one.round();
    assert_ne!(one.id(), id);
    one.bash(("ann", "acme"), "ls");
    assert!(one.round().events_sent > 0, "it is not shut out");
    assert_eq!(server.sql(&format!("SELECT by FROM taut.machines WHERE id = '{}'", one.id())), bob);
    assert_eq!(server.sql(&format!("SELECT count(*) FROM taut.agents WHERE machine = '{}'", one.id())), "1");
}
