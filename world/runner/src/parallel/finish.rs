//! The end of it: the last landing, the row, the hook, and what is told.

use super::coordinator::Coordinator;
use super::outcome::{ParallelSummary, TaskOutcome};
use crate::{RunMessage, RunSummary, RunnerError, work_state};
use engine::loops::Hook;
use model::run::{Finish, RunState};

impl Coordinator<'_> {
    pub(super) fn finish(mut self, finish: Finish, why: String) -> Result<ParallelSummary, RunnerError> {
        self.sum_up();
        self.work = work_state::queue(self.job, &mut self.run_store, &self.run, host::clock::now()).0;
        // Where git fails, the work stands beside the branch still, and the end is an end all the same.
        let aside = self.target.land_aside(&self.git).unwrap_or_else(|error| Some(error.to_string()));
        let aside = aside.map(|why| (self.target.aside.clone(), why));
        let why = match &aside {
            Some((branch, _)) => format!("{why}, merged beside your branch, on {branch}"),
            None => why,
        };
        self.forget_empty_branches();
        (self.run.finish, self.run.why) = (Some(finish), Some(why.clone()));
        self.hook(Hook::Finished);
        self.run.finished_at = Some(host::clock::now());
        if let Some(agent) = self.run.agent.clone() {
            let _ = self.run_store.deregister(&agent);
        }
        self.save(RunState::Over);
        self.log.line("loop", &format!("finished: {} ({why})", finish.name()));
        self.log.flush();
        self.run_store.settle();
        self.tell.show(&RunMessage::Finished { finish, why: why.clone() });
        let (done, left) = self.counted();
        let tasks = self.order.iter().filter_map(|slug| self.outcomes.get(slug).cloned()).collect();
        let run = RunSummary {
            run: self.run.id.clone(),
            mode: self.job.mode,
            finish,
            why,
            tally: self.run.tally.clone(),
            ms: host::clock::now().since(self.run.started_at),
            done,
            left,
            logs: self.log.folder().to_path_buf(),
            branch: self.target.own.clone(),
        };
        Ok(ParallelSummary { run, tasks, aside })
    }

    /// A branch is worth a word where it has what is nowhere else.
    fn forget_empty_branches(&mut self) {
        let (git, head) = (self.git.clone(), self.target.head(&self.git));
        for outcome in self.outcomes.values_mut() {
            let holds = |branch: &String| {
                let range = format!("{head}..refs/heads/{branch}");
                git.text(&["rev-list", "-n", "1", &range, "--"]).is_some_and(|commit| !commit.is_empty())
            };
            outcome.branch = outcome.branch.take().filter(holds);
        }
    }

    pub(super) fn outcome(&mut self, slug: &str) -> &mut TaskOutcome {
        if !self.outcomes.contains_key(slug) {
            self.order.push(slug.to_string());
        }
        let fresh = || TaskOutcome { slug: slug.to_string(), ..TaskOutcome::default() };
        self.outcomes.entry(slug.to_string()).or_insert_with(fresh)
    }
}
