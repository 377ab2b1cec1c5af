//! Wishes and signals: what reaches the coordinator reaches every worker.

use super::coordinator::{Coordinator, Stage, Stopping, WORKER_GRACE};
use super::worker::Claim;
use model::run::RunWish;

impl Coordinator<'_> {
    pub(super) fn wish(&mut self, wish: RunWish) {
        match wish {
            RunWish::Stop => self.stop(Stopping::Soft),
            RunWish::Kill => self.stop(Stopping::Hard),
            RunWish::Pause => {
                self.paused = true;
                self.say("paused after what runs now; `taut loop resume` or Ctrl+\\ goes on");
                self.pass_on(RunWish::Pause);
            }
            RunWish::GoOn => {
                self.paused = false;
                self.say("goes on");
                self.pass_on(RunWish::GoOn);
            }
        }
    }

    pub(super) fn stop(&mut self, how: Stopping) {
        if how == Stopping::Soft && self.stopping == Stopping::No {
            self.say("waiting for the workers to end their iterations; press Ctrl+C again to kill them");
        }
        self.stopping = self.stopping.max(how);
        if self.stopping == Stopping::Hard {
            self.cancel.now();
        }
        self.stop_workers(how);
    }

    /// A soft stop lets iterations end, a hard one does not; merges are no workers'.
    pub(super) fn stop_workers(&mut self, how: Stopping) {
        let claimed: Vec<Claim> = self.claimed.drain(..).collect();
        for claim in claimed {
            self.hand_back(&claim, "the loop was stopped before its worker began");
        }
        if how == Stopping::Hard {
            self.cancel_setup.now();
        }
        let again = self.told >= how;
        self.told = self.told.max(how);
        for slot in self.slots.iter_mut().flatten() {
            if let Stage::Working(child) = &mut slot.stage {
                match how {
                    Stopping::Hard => child.kill(),
                    _ if again => {}
                    _ => drop(sys::process::signal(child.leader.pid, libc::SIGINT)),
                }
            }
        }
        if self.paused {
            self.paused = false;
            self.pass_on(RunWish::GoOn);
        }
    }

    pub(super) fn press(&mut self) {
        for slot in self.slots.iter_mut().flatten() {
            if let Stage::Working(child) = &mut slot.stage {
                child.press(WORKER_GRACE);
            }
        }
    }

    pub(super) fn pass_on(&mut self, wish: RunWish) {
        let workers = self.run_store.store().unfinished_workers(&self.run.id).unwrap_or_default();
        for worker in &workers {
            if let Err(error) = self.run_store.wish(&worker.id, wish) {
                self.warn(&format!("a worker could not be told to {}: {error}", wish.name()));
            }
        }
    }
}
