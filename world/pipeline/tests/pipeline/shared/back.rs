//! What a machine took back into its own queue is its own: the server's task goes on without it.

use super::{LEASE_MS, Member, SharedServer, actor};
use engine::queue::{Claimant, Speaker};
use pipeline::queue::{Queue, Settled};
use serde_json::Value;

impl Member {
    /// The queue of this machine alone, as after `taut shared disconnect`.
    fn own(&mut self) -> Queue<'_> {
        Queue::new(self.home.pipeline.store().unwrap(), host::clock_reading::moment)
    }

    fn copies_back(&mut self) {
        let project = self.project();
        let mut own: Queue<'_> = Queue::new(self.home.pipeline.store().unwrap(), host::clock_reading::moment);
        assert_eq!(own.copy_back(&project, &mut self.queue).unwrap().inserted, 1);
    }
}

#[test]
fn x2_what_becomes_of_a_task_that_was_copied_back_is_no_word_to_its_server() {
    let Some(server) = SharedServer::start() else { return };
    let mut one = server.machine("one");
    let project = one.project();
    one.plan("a", &[]);
    one.claim("ann").unwrap();
    assert_eq!(one.queue().release_all("ann", "another has to").unwrap(), ["a"]);
    assert_eq!(server.status("a"), "open 1");
    one.copies_back();
    one.own().delete(&project, "a", &Speaker::Person).unwrap();
    assert_eq!(one.home.pipeline.store().unwrap().outbox_standing().unwrap().turns, 0);
    one.round().unwrap();
    assert_eq!(server.status("a"), "open 1", "the team has it still");
}

#[test]
fn x2_what_a_server_makes_of_an_earlier_word_changes_no_task_that_was_copied_back() {
    for refused in [true, false] {
        let Some(server) = SharedServer::start() else { return };
        let (mut one, mut two) = (server.machine("one"), server.machine("two"));
        let project = one.project();
        one.plan("a", &[]);
        one.claim("ann").unwrap();
        one.queue.away = true;
        assert!(matches!(one.done("ann", "a").unwrap(), Settled::Kept { .. }));
        if refused {
            server.lapse("a");
            two.claim("bob").unwrap();
        }
        one.queue.away = false;
        one.copies_back();
        one.own().claim_one(&project, "a", &Claimant::agent("eve", LEASE_MS)).unwrap();
        let round = one.round().unwrap();
        assert_eq!((round.said, round.refused.len()), (usize::from(!refused), usize::from(refused)));
        assert_eq!(one.own().done(&project, "a", &actor("eve"), Value::Null).unwrap(), Settled::Now);
    }
}
