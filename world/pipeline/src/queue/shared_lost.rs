//! Leases that are over by the server's word, or that this machine gives up: the copy stands so, the agent is told, and what
//! Taut started for it is stopped where somebody else is to do the task.

use super::shared::where_it_is;
use super::shared_round::{GRACE, SharedRound};
use super::{Queue, QueueError, lives};
use engine::queue;
use host::process_group;
use model::task::{AttemptOutcome, ClockReading, TaskStatus};
use store::{AttemptKey, Durability, SharedHold, TaskStanding, Tx};

impl<C: Fn() -> ClockReading> Queue<'_, C> {
    /// The server has ended it, and here it is held. Who is just finishing has let go of the copy before the server could hear
    /// of it.
    pub(super) fn lose_ended(&mut self, hold: &SharedHold, round: &mut SharedRound) -> Result<(), QueueError> {
        if hold.group.is_some_and(|leader| sys::process::is_in_group(leader.pid)) {
            // A command of that very agent would be stopped in the middle of this: a round of another process finds it out, too.
            return Ok(());
        }
        if self.is_held(hold)? && self.lose_there(hold)? {
            round.lost.push(hold.slug.clone());
        }
        Ok(())
    }

    fn is_held(&mut self, hold: &SharedHold) -> Result<bool, QueueError> {
        Ok(self.transact(Durability::Normal, |tx, _| {
            let copy = tx.copy_of(&hold.project, &hold.slug)?;
            Ok(copy.is_some_and(|(task, claim)| task.hold.is_some() && claim == hold.claim))
        })?)
    }

    /// The server is asked how the task stands: a person may have ended the attempt by their own word. Whether it is over there.
    fn lose_there(&mut self, hold: &SharedHold) -> Result<bool, QueueError> {
        let standing = self.ask(|server| server.standing(&hold.slug, AttemptKey::Claim(&hold.claim)))?;
        if standing.as_ref().is_some_and(|there| there.claim.as_ref() == Some(&hold.claim)) {
            return Ok(false);
        }
        if self.is_for_others(standing.as_ref())? {
            self.stop_lost(hold)?;
        }
        let outcome = |there: &TaskStanding| there.mine.as_ref().and_then(|mine| mine.outcome);
        if matches!(standing.as_ref().map(outcome), Some(None | Some(AttemptOutcome::Expired))) {
            return self.lose(hold).map(|()| true);
        }
        let (status, now_is) = match &standing {
            Some(there) => (there.task.status, where_it_is(there)),
            None => (TaskStatus::Deleted, "gone from its queue".to_string()),
        };
        let status = if status == TaskStatus::Active { TaskStatus::Open } else { status };
        if self.end_as(hold, status, "ended on its server")? {
            let body = format!(
                "task {}: attempt {} was ended on its server, and not by you; the task is now {now_is}. Commit what you \
                 have, publish nothing, and claim what is next: a result of this attempt does not count any more.",
                hold.slug, hold.attempt
            );
            self.tell(&hold.agent, &format!("{} lost", hold.claim), body)?;
        }
        Ok(true)
    }

    /// Whether somebody else does the task now, or a person took it from this agent for another to do: the server must know of
    /// the attempt and say that it is over. Where a person has said that it is done, or that nobody shall do it, and where the
    /// lease ran out and nobody has taken it, as after a sleep, an agent that works on is beside nobody: it is told, and what
    /// it has is not cut off. Nor is one that has claimed the task again, which may not be written down here yet.
    fn is_for_others(&self, standing: Option<&TaskStanding>) -> Result<bool, QueueError> {
        let Some(TaskStanding { task, claim, mine: Some(mine), .. }) = standing else { return Ok(false) };
        Ok(match (task.status, claim) {
            (TaskStatus::Active, Some(claim)) => !self.store.is_own_claim(claim)?,
            (TaskStatus::Open, _) => matches!(mine.outcome, Some(AttemptOutcome::Failed | AttemptOutcome::Released)),
            _ => false,
        })
    }

    /// As the reaper of this machine's own queue does before it ends an attempt: only a group that Taut started, and on record
    /// before it is stopped, so that whoever started it blames no task for that.
    fn stop_lost(&mut self, hold: &SharedHold) -> Result<(), QueueError> {
        let Some(leader) = hold.group.filter(|leader| lives(*leader) != Some(false)) else { return Ok(()) };
        if self.transact(Durability::Full, |tx, _| tx.note_stop_of_lost(&hold.claim))? {
            // Where it survives, the fence alone must do.
            let _ = process_group::stop(leader, GRACE);
        }
        Ok(())
    }

    /// The server has given its task to another agent of this machine.
    pub(super) fn lose_to_another(&mut self, hold: &SharedHold) -> Result<(), QueueError> {
        // One client may speak for several agents: none of them is stopped by a command of its own.
        let is_callers = |leader: u32| {
            sys::process::is_in_group(leader) || host::probe::ancestors(std::process::id()).any(|pid| pid == leader)
        };
        if !hold.group.is_some_and(|leader| is_callers(leader.pid)) {
            self.stop_lost(hold)?;
        }
        self.lose(hold)
    }

    /// The copy is nobody's any more, and its agent is told.
    fn lose(&mut self, hold: &SharedHold) -> Result<(), QueueError> {
        if !self.end_lost(hold)? {
            return Ok(());
        }
        let body = format!(
            "task {}: your lease (attempt {}) is over, and another agent may have the task. Commit what you have, publish \
             nothing, and claim anew: a result of this attempt does not count any more.",
            hold.slug, hold.attempt
        );
        self.tell(&hold.agent, &format!("{} lost", hold.claim), body)
    }

    /// Whether it still stood otherwise.
    pub(super) fn end_lost(&mut self, hold: &SharedHold) -> Result<bool, QueueError> {
        self.end_as(hold, TaskStatus::Open, queue::LAPSED)
    }

    fn end_as(&mut self, hold: &SharedHold, status: TaskStatus, why: &str) -> Result<bool, QueueError> {
        let end = |tx: &Tx<'_>, now| tx.end_hold(&hold.claim, status, why, now);
        Ok(self.transact(Durability::Full, |tx, moment| end(tx, moment.now))?)
    }

    /// This machine is not the one any more that claimed them: what its agents hold on this server is nobody's here, and they
    /// are told. The server is told nothing, because another may hold the same; and nobody is stopped, because another may
    /// have started them: a copy of a home may run beside the original. How many.
    pub fn give_up_holds(&mut self, server: &str) -> Result<usize, QueueError> {
        let holds = self.store.shared_holds(server)?;
        holds.iter().try_for_each(|hold| self.lose(hold))?;
        Ok(holds.len())
    }
}
