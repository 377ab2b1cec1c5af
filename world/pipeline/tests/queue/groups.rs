//! Q8: a reclaim stops the group that Taut started for the lost attempt, and no other.

use crate::machine::{LEASE_MS, Machine, PROJECT};
use model::ClientProcess;
use model::fact::Life;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

struct Sleeper(Child);

impl Sleeper {
    fn start() -> Self {
        Self(Command::new("sleep").arg("600").process_group(0).spawn().unwrap())
    }

    fn process(&self) -> ClientProcess {
        let Some(Life::Alive { started }) = host::probe::life(self.0.id()) else { panic!("it has ended") };
        ClientProcess { pid: self.0.id(), started }
    }

    fn lives(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn q8_a_reclaim_stops_what_taut_started_first() {
    let mut machine = Machine::new("{\"id\":\"a\",\"t\":\"A\"}\n");
    let mut child = Sleeper::start();
    machine.claim("w1").unwrap();
    assert!(machine.queue().runs(PROJECT, "a", child.process()).unwrap());
    machine.pass(LEASE_MS);
    let claimed = machine.claim("w2").unwrap();
    assert_eq!(claimed.task.queued.attempt, 2);
    assert!(!child.lives());
}

#[test]
fn q8_a_process_that_taut_did_not_start_is_only_fenced() {
    let mut machine = Machine::new("{\"id\":\"a\",\"t\":\"A\"}\n");
    let mut person = Sleeper::start();
    machine.claim("w1").unwrap();
    machine.pass(LEASE_MS);
    machine.claim("w2").unwrap();
    assert!(person.lives());
}

#[test]
fn q8_after_a_sleep_nothing_is_stopped_before_its_grace_is_over() {
    let mut machine = Machine::new("{\"id\":\"a\",\"t\":\"A\"}\n");
    let mut child = Sleeper::start();
    machine.claim("w1").unwrap();
    machine.queue().runs(PROJECT, "a", child.process()).unwrap();
    machine.jump(8 * 3_600_000);
    machine.queue().reap().unwrap();
    assert!(child.lives());
}
