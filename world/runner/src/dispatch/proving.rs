//! Putting what is said to be done to the proof, one command after another.

use super::{Dispatcher, What};
use crate::RunMessage;
use crate::child::Running;
use crate::job::Job;
use crate::prove::{self, OutputEnd, ProofEnd, ProofStep};
use crate::run_store::RunStore;
use engine::loops::{Hook, LoopEvent, ProofResult, values};
use model::run::{Run, RunMode};
use std::collections::VecDeque;
use std::time::Duration;

/// The proofs of one iteration.
#[derive(Default)]
pub(super) struct Proving {
    steps: VecDeque<ProofStep>,
    result: Option<ProofResult>,
    /// Of the command that runs now.
    pub printed: OutputEnd,
}

/// Whether a "done" of this run's agent is only a proposal.
pub(super) fn proves(job: &Job, run: &Run, run_store: &RunStore) -> bool {
    let command = job.settings.verify.is_some();
    job.mode == RunMode::Building
        && job.queue
        && (command || run.task.is_some() || run_store.any_task_is_verified(&job.project))
}

impl Dispatcher<'_> {
    /// Gives the result at once where there is nothing to run.
    pub(super) fn prove(&mut self) -> Option<LoopEvent> {
        let steps = if self.job.queue { self.proposed() } else { self.whole_plan() };
        (self.proving.steps, self.proving.result) = (steps, None);
        self.next_proof()
    }

    fn whole_plan(&self) -> VecDeque<ProofStep> {
        let line = self.job.settings.verify.clone();
        line.into_iter().map(|line| ProofStep { proposal: None, line: Some(line) }).collect()
    }

    fn proposed(&mut self) -> VecDeque<ProofStep> {
        let Some(agent) = self.run.agent.clone() else { return VecDeque::new() };
        let proposals = match self.run_store.proposals(&agent) {
            Ok(proposals) => proposals,
            Err(error) => {
                self.warn(format!("what was said to be done could not be read, and is not proven: {error}"));
                return VecDeque::new();
            }
        };
        let step = |proposal: model::task::TaskProposal| {
            let line = proposal.verify.clone().or_else(|| self.job.settings.verify.clone());
            ProofStep { proposal: Some(proposal), line }
        };
        proposals.into_iter().filter(|proposal| !proposal.proven).map(step).collect()
    }

    fn next_proof(&mut self) -> Option<LoopEvent> {
        while let Some(step) = self.proving.steps.front().cloned() {
            let Some(line) = step.line.clone() else {
                self.settle(&step, Ok(()));
                continue;
            };
            let about = step.proposal.as_ref().map(|proposal| format!(" (task {})", proposal.slug)).unwrap_or_default();
            let words = format!("verifying{about}: {}", prove::shown(&line));
            self.log.line("verify", &words);
            self.tell.show(&RunMessage::Note(words));
            self.proving.printed = OutputEnd::default();
            let given = values(Hook::PostIteration, &self.state, &self.job.terms, host::clock::now());
            self.next_child += 1;
            let command = prove::command(self.job, &line, given);
            match Running::start(command, self.next_child, None, &self.sender) {
                Ok(child) => {
                    self.run_child(child, What::Proof, Some(self.longest_proof()));
                    self.save();
                    return None;
                }
                Err(error) => {
                    let end = ProofEnd::NotStarted(error.to_string());
                    self.settle(&step, Err(prove::failure(&line, end, &OutputEnd::default())));
                }
            }
        }
        Some(LoopEvent::Proven(self.proving.result.take().unwrap_or(ProofResult::NotAsked)))
    }

    pub(super) fn proof_ended(&mut self, code: Option<i32>, timed_out: bool, killed: bool) -> Option<LoopEvent> {
        let Some(step) = self.proving.steps.front().cloned() else {
            return Some(LoopEvent::Proven(ProofResult::Stopped));
        };
        if killed && !timed_out {
            // It says nothing of the work; its lease gives the task back.
            self.proving.steps.clear();
            return Some(LoopEvent::Proven(ProofResult::Stopped));
        }
        let line = step.line.clone().unwrap_or_default();
        let end = match (timed_out, code) {
            (true, _) => ProofEnd::TimedOut { after: self.longest_proof() },
            (_, Some(code)) => ProofEnd::Code(code),
            (_, None) => ProofEnd::Signal,
        };
        let proven = match end {
            ProofEnd::Code(0) => Ok(()),
            end => Err(prove::failure(&line, end, &self.proving.printed)),
        };
        self.settle(&step, proven);
        self.next_proof()
    }

    fn longest_proof(&self) -> Duration {
        Duration::from_millis(self.job.settings.verify_ms.max(1).cast_unsigned())
    }

    /// What the proof means for the task; one that failed counts for all of the iteration.
    fn settle(&mut self, step: &ProofStep, proven: Result<(), String>) {
        self.proving.steps.pop_front();
        let about = step.proposal.as_ref().map_or("the plan".to_string(), |proposal| format!("task {}", proposal.slug));
        if step.line.is_some() {
            let first = proven.as_ref().err().and_then(|end| end.lines().next()).unwrap_or_default().to_string();
            match &proven {
                Ok(()) => self.tell.show(&RunMessage::Note(format!("verified: {about}"))),
                Err(_) => self.warn(format!("not verified: {about}; {}", first.trim_end_matches(':'))),
            }
        }
        if let Some(proposal) = &step.proposal {
            let settled = match &proven {
                // Done is merged: who started this worker confirms it then.
                Ok(()) if self.run.task.is_some() => self.run_store.mark_proven(proposal),
                Ok(()) => self.run_store.confirm(proposal),
                Err(end) => self.run_store.refute(proposal, end),
            };
            if let Err(error) = settled {
                self.warn(format!("{about} could not be settled, its lease will lapse: {error}"));
            }
        }
        match (proven, &self.proving.result) {
            (Err(end), _) => self.proving.result = Some(ProofResult::Failed { end }),
            (Ok(()), None) => self.proving.result = Some(ProofResult::Passed),
            (Ok(()), Some(_)) => {}
        }
    }
}
