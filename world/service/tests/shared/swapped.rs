//! Another server answers at the address of the one that was met.

use crate::machine::{QUEUE, Server};
use engine::fleet::messages::NOTE;
use model::effort::{Addressee, RemoteAddressee};
use pipeline::SharedSettings;
use service::{ProjectQueue, shared_target};
use std::time::Duration;
use store::{ServerError, TaskFilter, TaskServer};
use testkit::poll;

impl Server {
    /// Its id was another's; gives the one that it had.
    fn swap(&self, id: &str) -> String {
        let before = self.sql("SELECT value FROM taut.meta WHERE name = 'id'");
        self.sql(&format!("UPDATE taut.meta SET value = '{id}' WHERE name = 'id'"));
        before
    }
}

fn is_another(error: Option<&ServerError>) -> bool {
    matches!(error, Some(ServerError::Refused(why)) if why.contains("another server answers"))
}

#[test]
fn x2_an_owed_message_is_said_to_no_other_server_that_took_the_place_of_the_one_it_is_for() {
    for at_work in [true, false] {
        let Some(server) = Server::start() else { return };
        let mut one = server.machine("vm-1", "none");
        one.begin("api", "acme");
        one.round();
        if !at_work {
            one.end("api", "acme");
            one.round();
        }
        let id = one.store().shared_state().unwrap().unwrap().server;
        let machine = Some("00000000-0000-4000-8000-00000000000b".to_string());
        let to = RemoteAddressee { server: id, machine, name: "web".into(), shown: "web@vm-2".into() };
        let message = one.message(NOTE, Some(Addressee::Remote(Box::new(to))), "rebase first");
        one.write(message);
        // The connection lives on, and a heartbeat is not due.
        let before = server.swap("another");
        let report = one.try_round();
        assert!(is_another(report.error.as_ref()), "{report:?}");
        assert_eq!((report.messages_sent, server.count("messages")), (0, 0));
        // Met as what it is, and told nothing of the other's.
        assert_eq!((one.round().messages_sent, server.count("messages")), (0, 0));
        assert!(one.notices().iter().any(|notice| notice.contains("owed to another server")), "{:?}", one.notices());
        server.swap(&before);
        assert!(is_another(one.try_round().error.as_ref()));
        assert_eq!((one.round().messages_sent, server.count("messages")), (1, 1));
    }
}

#[test]
fn x2_a_process_that_lives_long_works_on_its_own_queue_when_another_server_answers() {
    let Some(server) = Server::start() else { return };
    let mut one = server.machine("vm-1", "none");
    one.plan("ours");
    let around = shared_target::around_daemon(&one.setting.home);
    let settings = SharedSettings { server: one.rounds.server().unwrap(), queue: QUEUE.into() };
    let mut queue = ProjectQueue::new(&settings, &around, &mut one.own_store()).unwrap();
    let listed = |queue: &mut ProjectQueue| -> Result<Vec<String>, ServerError> {
        let tasks = queue.tasks(&TaskFilter::default())?;
        Ok(tasks.into_iter().map(|task| task.plan.slug).collect())
    };
    assert_eq!(listed(&mut queue).unwrap(), ["ours"]);
    // There, another project has the number that ours had.
    server.sql("UPDATE taut.projects SET name = 'acme/other'; UPDATE taut.tasks SET slug = 'theirs'");
    server.swap("another");
    server.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND usename = 'taut_agent'");
    assert!(is_another(listed(&mut queue).as_ref().err()));
    // It is met as what it is after a while, with a queue of our name on it.
    let found = poll::until("the other server", Duration::from_secs(30), || listed(&mut queue).ok()).unwrap();
    assert_eq!((found, queue.place().server.as_str()), (Vec::new(), "another"));
}

/// To that one, an attempt of another server's task is none that anybody holds.
#[test]
fn x2_a_lease_is_not_lost_by_the_word_of_another_server_than_the_one_it_is_of() {
    let Some(server) = Server::start() else { return };
    let mut one = server.machine("vm-1", "none");
    one.plan("a");
    one.begin("ann", "acme");
    one.claim("ann").unwrap();
    let claim = server.sql("SELECT claim FROM taut.tasks");
    let before = server.swap("another");
    server.sql("UPDATE taut.tasks SET claim = gen_random_uuid()");
    let refused = one.renew("ann", "a").unwrap_err().to_string();
    assert!(refused.contains("another server") && refused.contains("taut shared status"), "{refused}");
    assert_eq!((one.store().shared_hold_count().unwrap(), one.waiting("ann")), (1, Vec::new()));
    server.swap(&before);
    server.sql(&format!("UPDATE taut.tasks SET claim = '{claim}'"));
    one.renew("ann", "a").unwrap();
}
