//! Words whose end this process does not see: another process of this machine said them, or their answer got lost.

use super::shared::lost;
use super::{Queue, QueueError, Settled};
use engine::queue::Actor;
use model::task::{Attempt, AttemptOutcome, ClockReading, Queued};
use store::{AttemptKey, ServerError, TaskStanding};

/// Of what is done in one flight, commit and all, nobody knows where no answer came.
pub(super) const NOT_KNOWN: &str = "is not known";

impl<C: Fn() -> ClockReading> Queue<'_, C> {
    /// The end of this attempt is owed no more, though nobody said it here: what another process, such as the daemon, heard of
    /// it shows in what is kept of the attempt.
    pub(super) fn said_by_another(
        &mut self,
        actor: &Actor,
        (task, claim): (&Queued, &str),
    ) -> Result<Settled, QueueError> {
        match self.kept_of(task)? {
            Some(Attempt { outcome: Some(AttemptOutcome::Expired), .. }) => Err(self.over(actor, (task, claim))?),
            _ => Ok(Settled::Now),
        }
    }

    /// Why the attempt is over which another process of this machine has ended meanwhile, or heard to be over: as the server
    /// has it, and where that is away or was not told yet, as it is kept here.
    pub(super) fn over(&mut self, actor: &Actor, (task, claim): (&Queued, &str)) -> Result<QueueError, QueueError> {
        let mine = self.kept_of(task)?;
        let kept = self.store.task(&task.project, &task.slug)?;
        let here = kept.map(|kept| TaskStanding { task: kept.queued, claim: None, machine: None, mine });
        let there = self.ask(|server| server.standing(&task.slug, AttemptKey::Claim(claim)));
        let lives = |there: &TaskStanding| there.claim.as_deref() == Some(claim);
        let standing = there.ok().filter(|there| !there.as_ref().is_some_and(lives)).unwrap_or(here);
        Ok(lost(&task.slug, standing.as_ref(), actor, (self.clock)().now))
    }

    fn kept_of(&self, task: &Queued) -> Result<Option<Attempt>, QueueError> {
        Ok(self.store.attempts(task)?.into_iter().find(|attempt| attempt.number == task.attempt))
    }
}

/// What is said of a word to which there was no answer. Said again it does no harm, but it may be refused for what it did.
pub(super) fn unheard(slug: &str, error: QueueError) -> QueueError {
    match error {
        QueueError::Server { queue, shown, error: ServerError::Away(why) } => {
            let why = format!(
                "{why}; whether it was done {NOT_KNOWN}: `taut task show {slug}` shows it once the server answers"
            );
            QueueError::Server { queue, shown, error: ServerError::Away(why) }
        }
        other => other,
    }
}
