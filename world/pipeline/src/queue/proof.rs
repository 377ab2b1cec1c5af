//! Done is proven: what agents said to be done, and what became of the proof.

use super::settle::jitter;
use super::{Queue, QueueError, write};
use engine::fleet::reports::WorkerResult;
use engine::queue::{self, Actor, Proof, SettleResult, Speaker};
use model::task::{ClockReading, Queued, TaskProposal};
use store::{Error, Tx};

impl<C: Fn() -> ClockReading> Queue<'_, C> {
    /// What this agent said to be done and is still to be proven, the oldest first.
    pub fn proposals(&self, agent: &str) -> Result<Vec<TaskProposal>, QueueError> {
        Ok(self.store.proposals(agent)?)
    }

    /// The same of every agent in a project, in the order of the queue: for whoever merges their work.
    pub fn proposals_in(&self, project: &str) -> Result<Vec<TaskProposal>, QueueError> {
        Ok(self.store.proposals_in(project)?)
    }

    /// The proof passed: the task is done with the result its agent gave, and
    /// what waits for it may go on. Refused where this agent's attempt is over.
    pub fn confirm(&mut self, project: &str, slug: &str, agent: &str) -> Result<(), QueueError> {
        self.act(project, slug, &prover(agent), |_, act| {
            Ok((SettleResult::Turn(Box::new(act.confirm()?)), Some(WorkerResult::Done)))
        })?;
        Ok(())
    }

    /// The proof failed: counts and rests as a failure that the agent reports,
    /// with the end of the reason kept for the next attempt.
    pub fn refute(&mut self, project: &str, slug: &str, agent: &str, reason: &str) -> Result<(), QueueError> {
        let jitter = jitter();
        self.act(project, slug, &prover(agent), |_, act| {
            let turn = Box::new(act.refute(reason, jitter)?);
            Ok((SettleResult::Turn(turn), Some(WorkerResult::Failed { reason })))
        })?;
        Ok(())
    }

    /// The proof passed, and another confirms it once the work is merged. Such
    /// a proposal outlives the worker; whoever confirms it keeps its lease.
    pub fn proposal_proven(&mut self, project: &str, slug: &str, agent: &str) -> Result<(), QueueError> {
        self.act(project, slug, &prover(agent), |_, act| Ok((SettleResult::Turn(Box::new(act.proven()?)), None)))?;
        Ok(())
    }

    /// Renews what this agent said to be done, while the proof or the merge takes its time. Gives how many there are.
    pub fn keep_proposals(&mut self, agent: &str) -> Result<usize, QueueError> {
        let kept = self.all_or_nothing(|tx, moment| {
            let proposed: Vec<Queued> = tx.held_by(agent)?.into_iter().filter(Queued::is_proposed).collect();
            for turn in proposed.iter().filter_map(|task| queue::kept(task, moment.now)) {
                write(tx, turn)?;
            }
            Ok(proposed.len())
        })?;
        self.renew_soon();
        Ok(kept)
    }
}

/// Whether a "done" on this task counts at once. A name is a word: below the agent of a loop that proves, what is held
/// in any other is proven too.
pub(super) fn proof(tx: &Tx<'_>, task: &Queued, speaker: &Speaker, verify: Option<&str>) -> Result<Proof, Error> {
    let holder = task.hold.as_ref().map(|hold| hold.agent.as_str());
    proof_for(&|agent| tx.run_proves(agent), holder.into_iter().chain(speaker.agents()), verify)
}

/// The first of these agents whose loop proves what it does.
pub(super) fn proof_for<'a>(
    proves: &dyn Fn(&str) -> Result<Option<bool>, Error>,
    agents: impl Iterator<Item = &'a str>,
    verify: Option<&str>,
) -> Result<Proof, Error> {
    for agent in agents {
        let proof = Proof::of(agent, proves(agent)?, verify);
        if proof != Proof::None {
            return Ok(proof);
        }
    }
    Ok(Proof::None)
}

fn prover(agent: &str) -> Actor {
    Actor { agent: agent.to_string(), attempt: None, token: None, speaker: Speaker::agent(agent) }
}
