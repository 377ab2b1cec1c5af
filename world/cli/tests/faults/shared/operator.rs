//! A person beside the run: plans, and plans anew while there is trouble; gives what wore out another chance.

use super::seat::{Place, Seat};
use crate::dice::Dice;
use engine::queue::Speaker;
use model::task::TaskStatus;
use serde_json::json;
use std::time::Duration;
use store::TaskFilter;
use testkit::poll;

/// How much there is to do.
#[derive(Clone, Copy)]
pub struct Workload {
    /// So many tasks whose plan stays are planned at once, and more when few are left.
    pub batch: usize,
    pub few: i64,
    /// Such that are planned again and again, with others to wait for.
    pub changing: usize,
}

impl Workload {
    /// For agents that ask nobody but the queue.
    pub const MUCH: Self = Self { batch: 150, few: 80, changing: 60 };
    /// For programs that are started anew for every word.
    pub const LITTLE: Self = Self { batch: 60, few: 30, changing: 15 };
}

/// A busy machine plans slower than a flight may take.
const FIRST: Duration = Duration::from_secs(60);

pub struct Operator {
    seat: Seat,
    load: Workload,
    dice: Dice,
    /// How many tasks stay as they were planned.
    pub steady: usize,
    pub rewritten: usize,
}

impl Operator {
    pub fn begin(place: Place, load: Workload, seed: u64) -> Self {
        let seat = place.take().expect("a server");
        let mut operator = Self { seat, load, dice: Dice::new(seed), steady: 0, rewritten: 0 };
        let planned = || operator.plan_more().and_then(|()| operator.plan_all()).ok();
        poll::until("the first plans", FIRST, planned).unwrap();
        operator
    }

    /// There is always something to do while there is trouble.
    pub fn refill(&mut self) {
        if self.left().is_some_and(|left| left < self.load.few) {
            // Where the server is away, the next time.
            let _ = self.plan_more();
        }
    }

    fn plan_more(&mut self) -> Result<(), String> {
        let (from, to) = (self.steady, self.steady + self.load.batch);
        let lines: String = (from..to).map(|nth| self.steady_line(nth)).collect();
        self.sync(&lines)?;
        self.steady = to;
        Ok(())
    }

    /// With others to wait for, and without some of them: those are deleted, whoever has them.
    pub fn rewrite(&mut self) {
        let lines: Vec<String> = (0..self.load.changing).map(|nth| self.changing(nth)).collect();
        let kept: String =
            lines.into_iter().enumerate().filter(|_| !self.dice.one_in(20)).map(|(_, line)| line).collect();
        // What one that is kept waits for may be one that is left out: then nothing of it is written.
        if self.sync(&kept).is_ok() {
            self.rewritten += 1;
        }
    }

    pub fn plan_all(&mut self) -> Result<(), String> {
        let all: String = (0..self.load.changing).map(|nth| self.changing(nth)).collect();
        self.sync(&all)
    }

    pub fn requeue(&mut self) {
        let project = self.seat.project();
        let worn = TaskFilter { statuses: vec![TaskStatus::Quarantined], ..TaskFilter::default() };
        for task in self.seat.queue().tasks(&project, &worn).unwrap_or_default() {
            let _ = self.seat.queue().requeue(&project, &task.plan.slug);
        }
    }

    /// How many are neither done nor deleted; `None` where the server is away.
    pub fn left(&mut self) -> Option<i64> {
        let project = self.seat.project();
        let counts = self.seat.queue().look(&project).ok()?.counts;
        Some(counts.open + counts.active + counts.blocked + counts.quarantined)
    }

    fn sync(&mut self, lines: &str) -> Result<(), String> {
        let project = self.seat.project();
        let synced = self.seat.queue().plan_sync(&project, lines, &Speaker::Person);
        synced.map(drop).map_err(|error| error.to_string())
    }

    /// Waits for up to three earlier ones.
    fn steady_line(&mut self, nth: usize) -> String {
        let deps: Vec<String> = match nth {
            0..20 => Vec::new(),
            _ => (0..self.dice.below(4)).map(|_| slug("t", nth - 1 - self.dice.below(nth.min(60)))).collect(),
        };
        line(&slug("t", nth), &format!("steady {}", nth / self.load.batch), (self.dice.below(4), deps))
    }

    fn changing(&mut self, nth: usize) -> String {
        let mut deps = vec![slug("t", self.dice.below(self.steady))];
        if nth > 0 && self.dice.one_in(2) {
            deps.push(slug("x", self.dice.below(nth)));
        }
        line(&slug("x", nth), "changing", (self.dice.below(4), deps))
    }
}

fn line(slug: &str, spec: &str, (priority, deps): (usize, Vec<String>)) -> String {
    format!("{}\n", json!({"id": slug, "t": "T", "p": priority, "deps": deps, "spec": spec}))
}

fn slug(kind: &str, nth: usize) -> String {
    format!("{kind}/{nth:04}")
}
