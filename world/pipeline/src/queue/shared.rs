//! What becomes of the claims of a queue on a server: written here first, with the word that is owed, then said there. So
//! a process or a server may die between any two steps, and nothing is lost. A lease is the one thing that is said first.

use super::settle::{Wish, mine, report};
use super::shared_round::SharedRound;
use super::shared_word::unheard;
use super::{Queue, QueueError, Settled, proof, refused, write};
use engine::queue::{self, Actor, SettleResult, TaskAction};
use engine::redact;
use model::Ms;
use model::task::{AttemptOutcome, ClockReading, Queued, Task, TaskStatus, TaskTransition};
use serde_json::Value;
use store::{
    AttemptKey, BootTime, Durability, LeaseNeed, OwedTurn, QueuePlace, RefusedTurn, Renewal, Renewed, ServerError,
    ServerTurn, TaskStanding, TurnAnswer,
};

const SWAPPED: &str = "another server than the one it was claimed from answers at its address";

/// What came of a wish, decided over the copy of the task that is kept here.
enum Here {
    /// The attempt has ended here, and the server is owed the word of this claim.
    Ended(Box<Queued>, String),
    /// The lease of this claim is to go on, which the server is told before it is written here.
    Renews(Box<TaskTransition>, String),
    Settled(Settled),
    Refused(QueueError),
    /// No attempt of this actor is known here.
    Unknown,
}

/// Now, on the clock that goes on while the machine sleeps.
pub(super) fn boot_moment() -> BootTime {
    BootTime { ms: sys::clock::since_boot_ms(), boot: sys::clock::boot().to_owned() }
}

impl<C: Fn() -> ClockReading> Queue<'_, C> {
    /// Acts on a claim of a shared queue.
    pub(super) fn act_shared<'r>(
        &mut self,
        project: &str,
        slug: &str,
        actor: &Actor,
        wish: Wish<'_, 'r>,
    ) -> Result<Settled, QueueError> {
        let place = self.place()?;
        // Two folders may have one queue: it is acted on where it is held, and proven there.
        let held_in = self.store.project_that_holds(&place, project, slug)?;
        let project = held_in.as_deref().unwrap_or(project);
        let mut wish = Some(wish);
        let here = self.transact(Durability::Full, |tx, moment| {
            let Some((mut task, claim)) = tx.copy_of(project, slug)? else { return Ok(Here::Unknown) };
            let mine = mine(tx, &task, actor)?;
            let known = task.hold.is_some() || mine.is_some();
            let Some(wish) = wish.take_if(|_| known) else { return Ok(Here::Unknown) };
            // Whether the lease is over is the server's to say.
            task.hold.iter_mut().for_each(|hold| hold.lease_until = hold.lease_until.max(moment.now.plus(1)));
            let proof = proof::proof(tx, &task, &actor.speaker, None)?;
            match wish(proof, TaskAction { task: &task, actor, mine: mine.as_ref(), now: moment.now }) {
                Ok((SettleResult::Turn(turn), _)) if turn.after.status == TaskStatus::Active => {
                    Ok(Here::Renews(turn, claim))
                }
                Ok((SettleResult::Turn(turn), told)) => {
                    let message = told.map(|told| report(tx, &task, told, moment.now)).transpose()?.flatten();
                    let ended = Box::new(turn.after.clone());
                    write(tx, *turn)?;
                    if let Some(message) = message {
                        tx.report_when_heard(&task, &message)?;
                    }
                    Ok(Here::Ended(ended, claim))
                }
                Ok((SettleResult::Proposed(turn), _)) => {
                    turn.map_or(Ok(()), |turn| write(tx, *turn))?;
                    Ok(Here::Settled(Settled::Proposed { verify: None }))
                }
                Ok((SettleResult::Already(note), _)) => Ok(Here::Settled(Settled::Already(note))),
                Err(refusal) => Ok(Here::Refused(refused(&task, refusal))),
            }
        })?;
        match (here, wish) {
            (Here::Ended(task, claim), _) => self.say(actor, (&task, &claim)),
            (Here::Renews(turn, claim), _) => self.renew_held(actor, (*turn, claim)),
            (Here::Settled(settled), _) => Ok(settled),
            (Here::Refused(why), _) => Err(why),
            (Here::Unknown, Some(wish)) => self.act_there(slug, actor, wish),
            (Here::Unknown, None) => Err(QueueError::NotFound { slug: slug.to_string() }),
        }
    }

    /// No attempt of this actor is known here: a person ends another machine's, or is told why not.
    fn act_there(&mut self, slug: &str, actor: &Actor, wish: Wish<'_, '_>) -> Result<Settled, QueueError> {
        let key = actor.attempt.map_or(AttemptKey::Agent(&actor.agent), AttemptKey::Number);
        let standing = self.ask(|server| server.standing(slug, key))?;
        let Some(TaskStanding { task, claim, mine, .. }) = standing else {
            return Err(QueueError::NotFound { slug: slug.to_string() });
        };
        let proves = |agent: &str| self.store.run_proves(agent);
        let holder = task.hold.as_ref().map(|hold| hold.agent.as_str());
        let proof = proof::proof_for(&proves, holder.into_iter().chain(actor.speaker.agents()), None)?;
        let action = TaskAction { task: &task, actor, mine: mine.as_ref(), now: (self.clock)().now };
        let (settled, _) = wish(proof, action).map_err(|refusal| refused(&task, refusal))?;
        let turn = match settled {
            SettleResult::Turn(turn) => engine::redact::turn(*turn),
            SettleResult::Already(note) => return Ok(Settled::Already(note)),
            // No proposal of another machine's attempt is kept anywhere.
            SettleResult::Proposed(_) => {
                return Err(QueueError::Wrong(format!(
                    "a loop proves what its agents do, and task '{slug}' is not held on this machine: it is not done by this \
                     word; say it where it was claimed"
                )));
            }
        };
        if turn.after.status == TaskStatus::Active {
            return self.renew_there(&turn, claim);
        }
        let need = claim.as_ref().map(|_| LeaseNeed::Live);
        let turn = ServerTurn::of(&turn, task.row, claim, need);
        match self.ask(|server| server.settle(&turn)).map_err(|error| unheard(slug, error))? {
            TurnAnswer::Written | TurnAnswer::Already => Ok(Settled::Now),
            TurnAnswer::Lost(standing) => Err(lost(slug, standing.as_deref(), actor, (self.clock)().now)),
        }
    }

    fn renew_there(&mut self, turn: &TaskTransition, claim: Option<String>) -> Result<Settled, QueueError> {
        let lease_ms = turn.after.hold.as_ref().map(|hold| hold.lease_ms);
        let (id, attempt, claim) = (turn.after.row, turn.after.attempt, claim.unwrap_or_default());
        let slug = &turn.after.slug;
        let renewed = self.renewed(&Renewal { id, attempt, claim, age_ms: 0, lease_ms });
        match renewed.map_err(|error| unheard(slug, error))? {
            Some(_) => Ok(Settled::Now),
            None => Err(QueueError::Wrong(format!("the lease of task '{slug}' is over: another has it"))),
        }
    }

    /// For how long it goes on; `None` where it is lost.
    fn renewed(&mut self, renewal: &Renewal) -> Result<Option<i64>, QueueError> {
        let renewed: Renewed = self.ask(|server| server.renew(std::slice::from_ref(renewal)))?;
        if renewed.locked.contains(&renewal.id) {
            let why =
                "another session of the server holds the task in an open transaction; it was not renewed, try again";
            return Err(self.of_server(ServerError::Busy(why.to_string())));
        }
        Ok(renewed.lease_of(renewal.id))
    }

    /// What is held here is renewed there first: until the server has heard of it, nobody here counts on it.
    fn renew_held(&mut self, actor: &Actor, (turn, claim): (TaskTransition, String)) -> Result<Settled, QueueError> {
        let slug = &turn.after.slug;
        let met = self.met()?;
        let held = self.store.all_shared_holds()?;
        let Some(hold) = held.into_iter().find(|hold| hold.claim == claim) else {
            return Err(self.over(actor, (&turn.after, &claim))?);
        };
        // To another server it would be an attempt that nobody holds.
        if met.server != hold.server {
            let why = format!("{SWAPPED}; the lease of task '{slug}' was not renewed");
            return Err(self.of_server(ServerError::Refused(why)));
        }
        let sent = boot_moment();
        let renewal = Renewal {
            id: hold.id,
            attempt: hold.attempt,
            claim,
            age_ms: 0,
            lease_ms: turn.after.hold.as_ref().map(|hold| hold.lease_ms),
        };
        let Some(lease_ms) = self.renewed(&renewal)? else {
            let standing = self.ask(|server| server.standing(slug, AttemptKey::Claim(&hold.claim)))?;
            self.lose_ended(&hold, &mut SharedRound::default())?;
            return Err(lost(slug, standing.as_ref(), actor, (self.clock)().now));
        };
        self.transact(Durability::Full, |tx, _| {
            tx.confirm_holds(&[(&hold.claim, lease_ms)], &sent)?;
            write(tx, turn.clone())
        })?;
        Ok(Settled::Now)
    }

    /// A renewal counts when the server has heard it.
    pub(super) fn renew_shared(
        &mut self,
        project: &str,
        slug: &str,
        actor: &Actor,
        lease_ms: i64,
    ) -> Result<Task, QueueError> {
        self.act_shared(
            project,
            slug,
            actor,
            Box::new(move |_, act| Ok((SettleResult::Turn(Box::new(act.renew(lease_ms)?)), None))),
        )?;
        self.task(project, slug)?.ok_or_else(|| QueueError::NotFound { slug: slug.to_string() })
    }

    /// Says the end of an attempt to the server, now; where that is away it is said later.
    fn say(&mut self, actor: &Actor, (task, claim): (&Queued, &str)) -> Result<Settled, QueueError> {
        let met = self.met();
        let Some(owed) = self.store.owed_for(claim)? else { return self.said_by_another(actor, (task, claim)) };
        if let Ok(place) = &met
            && place.server != owed.server
        {
            return Ok(Settled::Kept { shown: place.shown.clone(), why: SWAPPED.to_string() });
        }
        match met.and_then(|_| self.settle_owed(&owed)) {
            Ok(answer) => {
                let standing = self.heard(&owed, answer)?;
                match standing {
                    None => Ok(Settled::Now),
                    Some(standing) => Err(lost(&owed.turn.slug, standing.as_deref(), actor, (self.clock)().now)),
                }
            }
            // Also one that refuses now, as after a change of its password: the word is owed, and said when it is let in.
            Err(QueueError::Server {
                error: ServerError::Away(why) | ServerError::Refused(why) | ServerError::Busy(why),
                shown,
                ..
            }) => {
                let why = super::cause(&why, &shown).to_string();
                Ok(Settled::Kept { shown, why })
            }
            Err(other) => Err(other),
        }
    }

    /// An older program may have written down what the one of today takes out.
    pub(super) fn settle_owed(&mut self, owed: &OwedTurn) -> Result<TurnAnswer, QueueError> {
        let mut turn = owed.turn.clone();
        redact::change(&mut turn.fail_reason);
        redact::change(&mut turn.reason);
        turn.result = turn.result.as_ref().map(redact::whole);
        self.ask(|server| server.settle(&turn))
    }

    /// Writes down what the server made of it. Where it was refused: how the task stands there.
    pub(super) fn heard(
        &mut self,
        owed: &OwedTurn,
        answer: TurnAnswer,
    ) -> Result<Option<Option<Box<TaskStanding>>>, QueueError> {
        let status = owed.turn.status();
        self.transact(Durability::Full, |tx, moment| {
            let end = |status| match &owed.turn.claim {
                Some(claim) => tx.end_hold(claim, status, "heard by the server", moment.now).map(drop),
                None => Ok(()),
            };
            match answer {
                TurnAnswer::Written | TurnAnswer::Already => {
                    tx.turn_heard(owed.seq)?;
                    end(status)?;
                    Ok(None)
                }
                TurnAnswer::Lost(standing) => {
                    let there = standing.as_ref().map_or(TaskStatus::Deleted, |standing| standing.task.status);
                    let why = standing.as_ref().map_or("the task is not there any more".to_string(), |standing| {
                        format!("the task is now {}", where_it_is(standing))
                    });
                    tx.turn_refused(owed, &why, moment.now)?;
                    let there = if there == TaskStatus::Active { TaskStatus::Open } else { there };
                    tx.undo_end(owed, there, &why, moment.now)?;
                    Ok(Some(standing))
                }
            }
        })
        .map_err(QueueError::from)
    }

    /// What is asked of the server; its errors name it.
    pub(super) fn ask<T>(
        &mut self,
        work: impl FnOnce(&mut dyn store::TaskServer) -> Result<T, ServerError>,
    ) -> Result<T, QueueError> {
        let Some(server) = self.server.as_deref_mut() else {
            return Err(QueueError::Wrong("this queue is on no server".into()));
        };
        work(server).map_err(|error| self.of_server(error))
    }

    /// Which server answers now, and not which one was met last: what is owed to one is never said to another.
    pub(super) fn met(&mut self) -> Result<QueuePlace, QueueError> {
        self.ask(|server| server.meet())?;
        self.place()
    }

    /// A result that came behind a lease which is known here to be over is kept as readable as one that the server refused.
    pub(super) fn keep_late(
        &mut self,
        (project, slug): (&str, &str),
        actor: &Actor,
        (result, why): (Value, String),
    ) -> Result<(), QueueError> {
        let queue = self.place()?.queue;
        Ok(self.transact(Durability::Full, |tx, moment| {
            let Some((task, _)) = tx.copy_of(project, slug)? else { return Ok(()) };
            let Some(mine) = mine(tx, &task, actor)? else { return Ok(()) };
            tx.keep_refused(&RefusedTurn {
                at: moment.now,
                queue: queue.clone(),
                slug: slug.to_string(),
                agent: Some(mine.agent),
                attempt: mine.number,
                outcome: Some(AttemptOutcome::Done.name().to_string()),
                result: Some(result).filter(|result| !result.is_null()).map(|result| redact(&result)),
                why,
            })
        })?)
    }

    pub(super) fn place(&self) -> Result<QueuePlace, QueueError> {
        let place = self.server.as_ref().map(|server| server.place().clone());
        place.ok_or_else(|| QueueError::Wrong("this queue is on no server".into()))
    }
}

/// Who has a task that another lost.
pub(super) fn where_it_is(standing: &TaskStanding) -> String {
    match &standing.task.hold {
        Some(hold) => format!("attempt {} of agent {}", hold.attempt, hold.agent),
        None => standing.task.status.name().to_string(),
    }
}

/// Why a word came too late, in the words of the queue.
pub(super) fn lost(slug: &str, standing: Option<&TaskStanding>, actor: &Actor, now: Ms) -> QueueError {
    let Some(standing) = standing else { return QueueError::NotFound { slug: slug.to_string() } };
    // The token was this machine's to look at, and was.
    let attempt = standing.mine.as_ref().map(|mine| mine.number).or(actor.attempt);
    let speaker = queue::Speaker::Person;
    let actor = Actor { agent: actor.agent.clone(), attempt, token: None, speaker };
    let action = TaskAction { task: &standing.task, actor: &actor, mine: standing.mine.as_ref(), now };
    match action.renew(0) {
        Err(refusal) => refused(&standing.task, refusal),
        Ok(_) => QueueError::Wrong(format!(
            "the lease of task '{slug}' was over when the server heard of it; the task is now {}",
            where_it_is(standing)
        )),
    }
}
