//! What the coordinator looks at twice a second: what others want of it, what
//! its workers have come to, and what is left; and what it keeps of that.

use super::coordinator::{Coordinator, KEEP_EVERY, LOOK_EVERY, name};
use crate::{RunMessage, RunStatus, work_state};
use engine::loops::WorkCount;
use model::run::RunState;
use std::time::Instant;

impl Coordinator<'_> {
    /// Twice a second: what others want, what the workers have come to, what is left.
    pub(super) fn look(&mut self) {
        if self.looked.elapsed() < LOOK_EVERY {
            return;
        }
        self.looked = Instant::now();
        if let Some(wish) = self.run_store.take_wish(&self.run.id) {
            self.wish(wish);
        }
        self.sum_up();
        let now = host::clock::now();
        self.work = work_state::queue(self.job, &mut self.run_store, &self.run, now).0;
        self.run_store.take_news().iter().for_each(|words| self.warn(words));
        self.mind_conflicts();
        if self.kept.elapsed() >= KEEP_EVERY {
            self.kept = Instant::now();
            self.keep();
        }
        self.save(RunState::Running);
        let (done, left) = self.counted();
        self.tell.show(&RunMessage::Status(RunStatus {
            iteration: self.run.tally.iterations,
            elapsed_ms: now.since(self.run.started_at),
            cost_micros: self.run.tally.cost_micros,
            done,
            left,
            tool: Some(self.at_work()),
            ..RunStatus::default()
        }));
    }

    /// The next look is at once.
    pub(super) fn look_now(&mut self) {
        self.looked = self.looked.checked_sub(LOOK_EVERY).unwrap_or(self.looked);
        self.rest_until = None;
    }

    pub(super) fn counted(&self) -> (Option<u64>, Option<u64>) {
        match self.work {
            WorkCount::Counted { done, left, .. } => (Some(done), Some(left)),
            WorkCount::Unknown => (None, None),
        }
    }

    /// Who does what, in one line.
    pub(super) fn at_work(&self) -> String {
        let slots = self.slots.iter().enumerate();
        let working = slots.filter_map(|(n, slot)| Some(format!("{} {}", name(n), slot.as_ref()?.claim.slug)));
        let merging = self.merging.iter().map(|claim| format!("merging {}", claim.slug));
        working.chain(merging).collect::<Vec<_>>().join(" · ")
    }

    /// The sums over all workers, those of before a restart included.
    pub(super) fn sum_up(&mut self) {
        let Ok(workers) = self.run_store.store().workers_of(&self.run.id) else { return };
        let begun = workers.iter().filter(|run| run.tally.iterations > 0);
        self.begun = begun.filter_map(|run| run.agent.clone()).collect();
        let tally = &mut self.run.tally;
        tally.iterations = workers.iter().map(|run| run.tally.iterations).sum();
        tally.cost_micros = workers.iter().map(|run| run.tally.cost_micros).sum();
        tally.tokens = workers.iter().map(|run| run.tally.tokens).sum();
        tally.last_exit = workers.last().and_then(|run| run.tally.last_exit);
    }

    pub(super) fn save(&mut self, state: RunState) {
        let state = match state {
            RunState::Over => RunState::Over,
            _ if self.paused => RunState::Paused,
            _ if self.merging.is_some() && self.slots.iter().flatten().next().is_none() => RunState::Merging,
            state => state,
        };
        (self.run.done, self.run.left) = self.counted();
        self.run.live.state = state;
        self.run.live.task = Some(self.at_work()).filter(|text| !text.is_empty());
        self.run.tally.commits = self.outcomes.values().filter(|task| task.merged.is_some()).count() as u64;
        if let Err(error) = self.run_store.save(&self.run) {
            self.log.line("warning", &format!("the run could not be saved: {error}"));
        }
    }

    /// Leases of what is claimed and not in the hands of a worker; a worker renews its own.
    pub(super) fn keep(&mut self) {
        let preparing = self.slots.iter().flatten().map(|slot| &slot.claim);
        let waiting = self.conflicts.iter().map(|(claim, _)| claim);
        let all = preparing.chain(waiting).chain(&self.claimed).chain(&self.to_merge).chain(&self.merging);
        let held: Vec<(String, String)> = all.map(|claim| (claim.slug.clone(), claim.agent.clone())).collect();
        for (slug, agent) in held {
            // A database that is busy now is asked again soon; the lease is longer than that.
            let _ = self.run_store.renew(&self.job.project, &slug, &agent);
        }
        self.log.flush();
    }
}
