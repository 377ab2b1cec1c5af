//! A queue on a throw-away database with clocks that can be turned.

use engine::queue::{Actor, Claimant, Speaker};
use model::Ms;
use model::run::Run;
use model::task::{AttemptOutcome, ClockReading, Task, TaskStatus};
use pipeline::queue::{Claimed, Queue, QueueError};
use std::time::Duration;
use store::{Store, TaskFilter};
use tempfile::TempDir;

pub const PROJECT: &str = "/p";
pub const LEASE_MS: i64 = 60_000;

pub struct Machine {
    home: TempDir,
    pub store: Store,
    pub moment: ClockReading,
}

impl Machine {
    pub fn new(plan: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let store = Store::open(&home.path().join("state"), Duration::from_secs(1)).unwrap();
        let moment = ClockReading { now: Ms(1_000_000_000), awake: 5_000, boot: "boot".into() };
        let mut machine = Self { home, store, moment };
        machine.queue().plan_sync(PROJECT, plan, &Speaker::Person).unwrap();
        machine
    }

    pub fn queue(&mut self) -> Queue<'_, impl Fn() -> ClockReading> {
        let moment = self.moment.clone();
        Queue::new(&mut self.store, move || moment.clone())
    }

    /// Another connection, as another process has it.
    pub fn other(&self) -> Store {
        Store::open(&self.home.path().join("state"), Duration::from_secs(5)).unwrap()
    }

    pub fn pass(&mut self, millis: i64) {
        self.moment.now = self.moment.now.plus(millis);
        self.moment.awake += millis;
    }

    /// The wall's clock alone moves: sleep, or somebody set it.
    pub fn jump(&mut self, millis: i64) {
        self.moment.now = self.moment.now.plus(millis);
    }

    pub fn claim(&mut self, agent: &str) -> Option<Claimed> {
        self.queue().claim_first(PROJECT, &claimant(agent)).unwrap()
    }

    /// A run of a loop that is not over, and works by this agent.
    pub fn run(&mut self, agent: &str, proves: bool) -> Run {
        let run = Run {
            id: format!("run-{agent}"),
            project: PROJECT.into(),
            folder: PROJECT.into(),
            agent: Some(agent.into()),
            started_at: self.moment.now,
            proves,
            ..Run::default()
        };
        self.store.save_run(&run).unwrap();
        run
    }

    pub fn tasks(&self) -> Vec<Task> {
        self.store.tasks(PROJECT, &TaskFilter::default()).unwrap()
    }

    pub fn task(&self, slug: &str) -> Task {
        self.store.task(PROJECT, slug).unwrap().unwrap()
    }

    /// What must hold whatever happened.
    pub fn check(&self) {
        let report = self.store.check().unwrap();
        assert_eq!(report.problems, Vec::<String>::new());
        for task in self.tasks() {
            let attempts = self.store.attempts(&task.queued).unwrap();
            let numbers: Vec<i64> = attempts.iter().map(|attempt| attempt.number).collect();
            assert_eq!(numbers, (1..=task.queued.attempt).collect::<Vec<_>>(), "numbers rise by one");
            let live = attempts.iter().filter(|attempt| attempt.outcome.is_none()).count();
            assert_eq!(live, usize::from(task.queued.status == TaskStatus::Active), "one live attempt while active");
            let done = attempts.iter().filter(|attempt| attempt.outcome == Some(AttemptOutcome::Done)).count();
            assert_eq!(done, usize::from(task.queued.status == TaskStatus::Done), "one accepted result when done");
        }
    }

    /// However it was left, honest workers bring every task to done.
    pub fn drain(&mut self) {
        for round in 0..10_000 {
            assert!(round < 9_999, "the queue never runs dry");
            self.pass(1_000);
            if let Some(claimed) = self.claim("honest") {
                let slug = claimed.task.plan.slug;
                self.queue().done(PROJECT, &slug, &actor("honest"), serde_json::Value::Null).unwrap();
                continue;
            }
            let tasks = self.tasks();
            if tasks.iter().all(|task| task.queued.status == TaskStatus::Done) {
                return;
            }
            for task in tasks.iter().filter(|task| task.queued.status == TaskStatus::Quarantined) {
                self.queue().requeue(PROJECT, &task.plan.slug).unwrap();
            }
            self.pass(LEASE_MS);
        }
    }
}

pub fn claimant(agent: &str) -> Claimant {
    Claimant::agent(agent, LEASE_MS)
}

pub fn actor(agent: &str) -> Actor {
    Actor { agent: agent.into(), attempt: None, token: None, speaker: Speaker::agent(agent) }
}

pub fn is_refusal(error: &QueueError) -> bool {
    matches!(error, QueueError::Refused { .. })
}
