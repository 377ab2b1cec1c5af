//! Claims on a server: drawn here, made there, then kept here. Whoever dies between any two of these leaves nothing that is
//! not found again.

use super::shared::boot_moment;
use super::{Claimed, Queue, QueueError, refused, token};
use engine::queue::{self, Claimant};
use model::task::{ClockReading, Queued, Task};
use store::{
    AttemptKey, BootTime, ClaimCopy, ClaimKept, ClaimWish, Durability, LeaseNeed, ServerClaim, ServerError, ServerTurn,
    TaskStanding,
};

impl<C: Fn() -> ClockReading> Queue<'_, C> {
    /// `own`: the claimant was started for this task alone, and may have been given it before.
    pub(super) fn claim_shared(
        &mut self,
        project: &str,
        slug: Option<&str>,
        (claimant, own): (&Claimant, bool),
    ) -> Result<Claimed, QueueError> {
        if let (true, Some(slug)) = (own, slug)
            && let Some(claimed) = self.claimed_here(project, slug, claimant)?
        {
            return Ok(claimed);
        }
        let token = token::draw()?;
        let wish = ClaimWish {
            slug: slug.map(str::to_string),
            agent: claimant.agent.clone(),
            session: claimant.session.clone(),
            lease_ms: claimant.lease_ms,
            claim: host::clock::uuid((self.clock)().now),
        };
        let place = self.met()?;
        self.store.draw_claim(&wish.claim, &place, (self.clock)().now)?;
        let mut sent = boot_moment();
        let mut claim = self.ask(|server| server.claim(&wish))?;
        if claim.is_none() && !self.reap_server_if_it_lets()?.is_empty() {
            sent = boot_moment();
            claim = self.ask(|server| server.claim(&wish))?;
        }
        let Some(claim) = claim else {
            self.store.forget_drawn(&wish.claim)?;
            return Err(self.not_claimable(slug, claimant)?);
        };
        self.keep_claim(project, claimant, (claim, token), &sent)
    }

    /// The claim that was made for a worker before it was started.
    fn claimed_here(&mut self, project: &str, slug: &str, claimant: &Claimant) -> Result<Option<Claimed>, QueueError> {
        let token = self.transact(Durability::Normal, |tx, _| {
            let held = |task: &Queued| task.hold.as_ref().is_some_and(|hold| hold.agent == claimant.agent);
            let Some((task, _)) = tx.copy_of(project, slug)?.filter(|(task, _)| held(task)) else { return Ok(None) };
            Ok(tx.attempt(&task, task.attempt)?.and_then(|attempt| attempt.token))
        })?;
        let Some(token) = token else { return Ok(None) };
        // What is kept here is enough where the server is away.
        let whole = self.ask(|server| Ok((server.task(slug)?, server.blocker_results(slug)?))).ok();
        let (task, blocker_results) = whole.unwrap_or_default();
        let kept = self.store.task(project, slug)?;
        let task = task.zip(kept.clone()).map(|(task, kept)| as_kept(task, &kept)).or(kept);
        Ok(task.map(|task| Claimed { task, token, blocker_results }))
    }

    fn keep_claim(
        &mut self,
        project: &str,
        claimant: &Claimant,
        (claim, token): (ServerClaim, String),
        sent: &BootTime,
    ) -> Result<Claimed, QueueError> {
        let place = self.place()?;
        // Who stood still till its claim was given back has nothing, and takes nothing from who has the task since.
        if self.store.is_own_claim(&claim.claim)? {
            self.lose_earlier(&claim, &claimant.agent)?;
        }
        let kept = self.transact(Durability::Full, |tx, moment| {
            let copy = ClaimCopy {
                project,
                place: &place,
                claim: &claim,
                agent: &claimant.agent,
                session: claimant.session.as_deref(),
                token: &token,
                sent,
            };
            tx.copy_claim(&copy, moment.now)
        });
        if !matches!(kept, Ok(ClaimKept::Kept)) {
            // Nobody here would renew it; where this does not get through either, its lease ends it.
            let back = queue::hand_back(&claim.task.queued, "its claim could not be kept", (self.clock)().now);
            let turn = ServerTurn::of(&back, claim.task.queued.row, Some(claim.claim.clone()), Some(LeaseNeed::Live));
            let _ = self.ask(|server| server.settle(&turn));
        }
        let slug = &claim.task.plan.slug;
        match kept? {
            ClaimKept::Kept => {}
            ClaimKept::QueuedHere => {
                return Err(QueueError::Wrong(format!(
                    "task '{slug}' is also in this machine's own queue of the project, and unfinished there; nothing was \
                     claimed. `taut shared import` moves the local tasks to the server"
                )));
            }
            ClaimKept::GivenBack => {
                return Err(QueueError::Wrong(format!(
                    "task '{slug}' was claimed, but this process stood still before it could write that down, and the claim \
                     was given back; nothing is held. `taut task claim` claims anew"
                )));
            }
        }
        let ServerClaim { task, blocker_results, .. } = claim;
        let task = match self.store.task(project, &task.plan.slug)? {
            Some(kept) => as_kept(task, &kept),
            None => task,
        };
        Ok(Claimed { task, token, blocker_results })
    }

    /// Whoever had the task here before this claim of it has lost it, and may not have heard of that yet.
    fn lose_earlier(&mut self, claim: &ServerClaim, claimant: &str) -> Result<(), QueueError> {
        let server = self.place()?.server;
        for hold in self.store.shared_holds(&server)? {
            if hold.id != claim.task.queued.row || hold.claim == claim.claim {
                continue;
            }
            // Who has it again need not be told to claim it.
            if hold.agent == claimant { self.end_lost(&hold).map(drop)? } else { self.lose_to_another(&hold)? }
        }
        Ok(())
    }

    /// Why there is nothing, or why not this one.
    fn not_claimable(&mut self, slug: Option<&str>, claimant: &Claimant) -> Result<QueueError, QueueError> {
        let Some(slug) = slug else { return Ok(QueueError::NotFound { slug: String::new() }) };
        let standing = self.ask(|server| server.standing(slug, AttemptKey::Agent(&claimant.agent)))?;
        let Some(TaskStanding { task, .. }) = standing else { return Ok(QueueError::NotFound { slug: slug.into() }) };
        Ok(match queue::claim(&task, claimant, "", (self.clock)().now) {
            Err(refusal) => refused(&task, refusal),
            Ok(_) => {
                self.of_server(ServerError::Busy(format!("task '{slug}' was in another's hands just now; try again")))
            }
        })
    }
}

/// A task of a server, by the row and the project of the copy that is kept here.
fn as_kept(mut task: Task, kept: &Task) -> Task {
    (task.queued.row, task.queued.project) = (kept.queued.row, kept.queued.project.clone());
    task
}
