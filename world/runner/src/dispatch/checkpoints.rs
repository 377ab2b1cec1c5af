//! Trees that are kept while a run goes on.

use super::Dispatcher;
use crate::RunMessage;
use crate::checkpoint::{Checkpoints, Side};
use crate::job::Job;
use crate::run_store::RunStore;
use engine::loops::FailedTree;

/// Those of runs that are forgotten go now.
pub(super) fn begin(job: &Job, run_store: &RunStore, run: &str) -> Checkpoints {
    let checkpoints = Checkpoints::of(&job.folder, &job.state, run);
    let is_known = |run: &str| run_store.store().stored_run(run).map_or(true, |found| found.is_some());
    checkpoints.prune(is_known, host::clock::now());
    checkpoints
}

impl Dispatcher<'_> {
    pub(super) fn checkpoint(&mut self, iteration: u64, side: Side) -> Option<String> {
        let mut notes = Vec::new();
        let commit = self.checkpoints.take(iteration, side, &mut |note| notes.push(note));
        notes.into_iter().for_each(|note| self.warn(note));
        commit
    }

    /// Where it is wished, what a failed iteration left does not stand in the way of the next.
    pub(super) fn put_aside(&mut self, iteration: u64) {
        if self.job.settings.failed_tree != FailedTree::Aside {
            return;
        }
        let before = self.before.clone();
        match self.checkpoints.put_aside(iteration, before.as_deref()) {
            None => {}
            Some(Ok(words)) => {
                self.log.line("loop", &words);
                self.tell.show(&RunMessage::Note(words));
            }
            Some(Err(error)) => self.warn(format!("what the failed iteration left stays where it is: {error}")),
        }
    }
}
