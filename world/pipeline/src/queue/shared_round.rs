//! What keeps this machine and its server of one mind: words that are owed are said, leases renewed, what was lost or is
//! unsure told to its agent, and what lapsed anywhere is ended. Any number of machines may do this at once.

use super::reap::mind_clocks;
use super::shared::{boot_moment, where_it_is};
use super::{Queue, QueueError, lives};
use engine::fleet::messages::SHARED_TASK;
use engine::queue::{self, HolderSign};
use model::Ms;
use model::effect::Write;
use model::effort::{Addressee, MemoryWrite, Message};
use model::task::{AttemptOutcome, ClockReading, Queued, TaskStatus};
use policy::config::sections::OnUnsure;
use std::time::Duration;
use store::{
    BootTime, Durability, HeldThere, LeaseNeed, OwedTurn, Renewal, ServerError, ServerTurn, SharedHold, TaskStanding,
};

/// What a round did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SharedRound {
    /// Words that were said, and taken.
    pub said: usize,
    /// Results that came too late, by slug.
    pub refused: Vec<String>,
    pub renewed: usize,
    /// Tasks of this machine that another has now, or may have.
    pub lost: Vec<String>,
    /// Leases that ended, wherever they were held.
    pub expired: Vec<String>,
}

const MOST: usize = 100;
/// Of so many words a round finds out that their rows are locked. Each takes seconds, in which no lease is renewed.
const MOST_LOCKED: usize = 3;
/// A server that does not answer holds a round up for so long at most.
const LONGEST_ROUND_MS: i64 = 15_000;
/// A claim that nobody here knows of is left alone for so long: whoever made it may be about to write it down.
const UNKNOWN_MS: i64 = 60_000;
/// How long a group we started gets to end by itself.
pub(super) const GRACE: Duration = Duration::from_secs(2);

impl<C: Fn() -> ClockReading> Queue<'_, C> {
    /// Everything of a round that concerns the tasks of this queue, the words that are owed first.
    pub fn shared_round(&mut self, on_unsure: OnUnsure) -> Result<SharedRound, QueueError> {
        let mut round = SharedRound::default();
        self.shared_round_into(on_unsure, &mut round).map(|()| round)
    }

    /// The same, and what it did is known also where something of it could not be done.
    pub fn shared_round_into(&mut self, on_unsure: OnUnsure, round: &mut SharedRound) -> Result<(), QueueError> {
        // Who would be unsure before a round that finds nobody comes to its end is told now: it would be too late then.
        self.tell_unsure(on_unsure, LONGEST_ROUND_MS)?;
        // After a sleep everybody gets a moment to renew, before anything of it lapses by this machine's own word.
        self.transact(Durability::Normal, mind_clocks)?;
        // Leases are renewed whatever becomes of a word.
        let said = self.say_owed(round);
        let renewed = self.renew_due(round);
        // Whether the server was reached or not: that is what makes a lease unsure.
        self.tell_unsure(on_unsure, 0)?;
        let mut held_up = None;
        // A server that is there tells of the others, whatever it does not do for one.
        let mut part = |done: Result<(), QueueError>| match done {
            Err(error) if is_refusal(&error) || is_busy(&error) => {
                held_up.get_or_insert(error);
                Ok(())
            }
            done => done,
        };
        part(said)?;
        part(renewed)?;
        part(self.compare_holds(round))?;
        part(self.reap_server().map(|expired| round.expired = expired))?;
        held_up.map_or(Ok(()), Err)
    }

    /// Says what is owed where there is a server. That is away, or will hear it from the daemon: no matter here.
    pub(super) fn say_soon(&mut self) {
        if self.is_shared() {
            let _ = self.say_owed(&mut SharedRound::default());
        }
    }

    /// The same for leases that are due.
    pub(super) fn renew_soon(&mut self) {
        if self.is_shared() {
            let _ = self.renew_due(&mut SharedRound::default());
        }
    }

    /// What was decided here and not heard there, in its order.
    pub fn say_owed(&mut self, round: &mut SharedRound) -> Result<(), QueueError> {
        let place = self.met()?;
        let (mut refused, mut locked) = (None, Vec::new());
        for seq in self.store.owed_in_turn(&place.server, &place.queue)? {
            let Some(owed) = self.store.owed_turn(seq)?.filter(|owed| !locked.contains(&owed.turn.id)) else {
                continue;
            };
            match self.settle_owed(&owed) {
                Ok(answer) => match self.heard(&owed, answer)? {
                    None => round.said += 1,
                    Some(standing) => self.told_late(&owed, standing.as_deref(), round)?,
                },
                Err(error) => {
                    if is_busy(&error) {
                        // Somebody has that very row locked: it is said again in the next round, behind the others.
                        self.transact(Durability::Normal, |tx, _| tx.turn_tried(owed.seq))?;
                        locked.push(owed.turn.id);
                        if locked.len() == MOST_LOCKED {
                            break;
                        }
                        continue;
                    }
                    if !is_refusal(&error) {
                        return Err(error);
                    }
                    // What is wrong with one holds up none of the others, whose leases run.
                    refused.get_or_insert(error);
                }
            }
        }
        refused.map_or(Ok(()), Err)
    }

    /// A result that came too late is told to whoever gave it. What was let go of came back by its lease: the same end.
    fn told_late(
        &mut self,
        owed: &OwedTurn,
        standing: Option<&TaskStanding>,
        round: &mut SharedRound,
    ) -> Result<(), QueueError> {
        let (slug, outcome) = (&owed.turn.slug, owed.turn.outcome());
        if !matches!(outcome, Some(AttemptOutcome::Done | AttemptOutcome::Failed)) {
            return Ok(());
        }
        round.refused.push(slug.clone());
        let Some(agent) = &owed.agent else { return Ok(()) };
        let now_is = standing.map_or("gone from its queue".to_string(), where_it_is);
        let said = outcome.map_or("done", AttemptOutcome::name);
        let body = format!(
            "task {slug}: that it is {said} reached its server after the lease of attempt {} was over, so it does not \
             count; the task is now {now_is}. What you gave as the result is kept: `taut shared refused` shows it.",
            owed.turn.attempt
        );
        self.tell(agent, &owed.key, body)
    }

    /// Who is alive keeps its tasks; of whom nothing was heard for as long as a lease is not spoken for.
    pub fn renew_due(&mut self, round: &mut SharedRound) -> Result<(), QueueError> {
        let place = self.met()?;
        let (now, sent) = ((self.clock)().now, boot_moment());
        self.store.clamp_shared_holds(now)?;
        let mut due: Vec<(SharedHold, i64)> = Vec::new();
        for hold in self.store.shared_holds(&place.server)? {
            if hold.queue == place.queue && hold.is_renewal_due(&sent) {
                let age = silence(&hold, now);
                due.extend((age < hold.lease_ms).then_some((hold, age)));
            }
        }
        if due.is_empty() {
            return Ok(());
        }
        let wishes: Vec<Renewal> = due.iter().map(|(hold, age)| renewal(hold, *age)).collect();
        let renewed = self.ask(|server| server.renew(&wishes))?;
        // Of what somebody has locked nothing is known: it is renewed in the next round, or its agent is told in time.
        due.retain(|(hold, _)| !renewed.locked.contains(&hold.id));
        for (hold, age) in &due {
            if let Some(lease_ms) = renewed.lease_of(hold.id) {
                round.renewed += 1;
                let since = BootTime { ms: sent.ms - age, boot: sent.boot.clone() };
                self.transact(Durability::Full, |tx, _| tx.confirm_holds(&[(&hold.claim, lease_ms)], &since))?;
            }
        }
        // Behind them, because to stop one takes seconds.
        let mut lost = due.iter().filter(|(hold, _)| renewed.lease_of(hold.id).is_none());
        lost.try_for_each(|(hold, _)| self.lose_ended(hold, round))
    }

    /// Agents whose leases would grow unsure before a round that waits for a server has ended are told so, whatever becomes of
    /// the server. In how many milliseconds the next ones are to be told.
    pub fn tell_unsure_in_time(&mut self, on_unsure: OnUnsure) -> Result<Option<i64>, QueueError> {
        self.tell_unsure(on_unsure, LONGEST_ROUND_MS)?;
        let now = boot_moment();
        let due = |hold: &SharedHold| hold.sure_until() - now.ms - LONGEST_ROUND_MS.min(hold.lease_ms / 4);
        Ok(self.store.all_shared_holds()?.iter().filter(|hold| !hold.told).map(due).min())
    }

    /// Leases that no server has confirmed for so long that another may have been given the task, on any server and of any
    /// queue. `ahead_ms`: those too that will be so long without a word by then; of a short lease never more than a quarter.
    fn tell_unsure(&mut self, on_unsure: OnUnsure, ahead_ms: i64) -> Result<(), QueueError> {
        let holds = self.store.all_shared_holds()?;
        // Read then: what was confirmed meanwhile is not of a later boot.
        let moment = boot_moment();
        for hold in holds {
            let then = BootTime { ms: moment.ms + ahead_ms.min(hold.lease_ms / 4), boot: moment.boot.clone() };
            if hold.is_sure(&then) {
                continue;
            }
            if !hold.told {
                self.warn_of_unsure(&hold)?;
            }
            // In every round until the lease is sure again: whoever was about to stop it may have died before that.
            if on_unsure == OnUnsure::Stop {
                self.stop_unsure(&hold)?;
            }
        }
        Ok(())
    }

    fn warn_of_unsure(&mut self, hold: &SharedHold) -> Result<(), QueueError> {
        let body = format!(
            "task {}: its server was not reached for so long that another agent may have it by now. Commit what you \
             have, publish nothing; your result counts only if nobody has taken the task.",
            hold.slug
        );
        // Once for each absence: a server that came back may go away again.
        let (agent, id) = (hold.agent.clone(), format!("{} unsure {}", hold.claim, hold.confirmed.ms));
        Ok(self.transact(Durability::Full, |tx, moment| match tx.note_unsure(&hold.claim)? {
            true => tx.apply(&[word_to(agent, &id, body, moment.now)]),
            false => Ok(()),
        })?)
    }

    /// That it is stopped is on record before it is: whoever started it reads there why its agent ended.
    fn stop_unsure(&mut self, hold: &SharedHold) -> Result<(), QueueError> {
        if let Some(leader) = hold.group.filter(|leader| lives(*leader) != Some(false)) {
            self.transact(Durability::Full, |tx, _| tx.note_stop(&hold.claim))?;
            // Where it survives, the fence alone must do.
            let _ = host::process_group::stop(leader, GRACE);
        }
        Ok(())
    }

    /// What this machine holds by the server's word, beside what it believes.
    fn compare_holds(&mut self, round: &mut SharedRound) -> Result<(), QueueError> {
        let place = self.place()?;
        // Read first: what is claimed while the server is asked is not among them.
        let believed = self.store.shared_holds(&place.server)?;
        let there = self.ask(|server| server.held())?;
        for held in &there {
            self.give_up_unknown(held)?;
        }
        let made: Vec<&str> = there.iter().map(|held| held.claim.as_str()).collect();
        self.store.forget_unmade(&place, &made, Ms((self.clock)().now.0 - UNKNOWN_MS))?;
        for hold in believed.iter().filter(|hold| hold.queue == place.queue) {
            if !there.iter().any(|held| held.claim == hold.claim) {
                self.lose_ended(hold, round)?;
            }
        }
        Ok(())
    }

    /// A claim by this machine that was never written down here: who made it is gone. Should it be there after all, it keeps
    /// nothing once the drawing is forgotten; and where this process ends before the server has heard, the lease does.
    fn give_up_unknown(&mut self, held: &HeldThere) -> Result<(), QueueError> {
        let is_lost = held.silent_ms >= UNKNOWN_MS && self.store.is_drawn_and_lost(&held.claim)?;
        if !is_lost || !self.store.forget_drawn(&held.claim)? {
            return Ok(());
        }
        let back = queue::hand_back(&as_task(held), "claimed and never heard of", (self.clock)().now);
        let turn = ServerTurn::of(&back, held.id, Some(held.claim.clone()), None);
        self.ask(|server| server.settle(&turn)).map(drop)
    }

    /// Leases of the queue that ran out, wherever they were held. Gives the slugs.
    pub(super) fn reap_server(&mut self) -> Result<Vec<String>, QueueError> {
        let lapsed = self.ask(|server| server.lapsed(MOST))?;
        if lapsed.is_empty() {
            return Ok(Vec::new());
        }
        let now = (self.clock)().now;
        let expire = |standing: &TaskStanding| {
            let turn = queue::expire(&standing.task, HolderSign::Silence, now);
            ServerTurn::of(&turn, standing.task.row, standing.claim.clone(), Some(LeaseNeed::Lapsed))
        };
        let turns: Vec<ServerTurn> = lapsed.iter().map(expire).collect();
        let written = self.ask(|server| server.turns(&turns))?;
        Ok(turns.into_iter().filter(|turn| written.contains(&turn.id)).map(|turn| turn.slug).collect())
    }

    /// The same for who looks or claims: one task that cannot be ended now keeps nobody from the others.
    pub(super) fn reap_server_if_it_lets(&mut self) -> Result<Vec<String>, QueueError> {
        match self.reap_server() {
            Err(error) if is_refusal(&error) || is_busy(&error) => Ok(Vec::new()),
            done => done,
        }
    }

    pub(super) fn tell(&mut self, agent: &str, id: &str, body: String) -> Result<(), QueueError> {
        let agent = agent.to_string();
        Ok(self.transact(Durability::Full, |tx, moment| tx.apply(&[word_to(agent, id, body, moment.now)]))?)
    }
}

/// A word of Taut's own to an agent of this machine, once.
fn word_to(agent: String, id: &str, body: String, at: Ms) -> Write {
    let (to, kind) = (Some(Addressee::Agent(agent)), SHARED_TASK.to_string());
    Write::Memory(MemoryWrite::Message(Message {
        id: format!("shared {id}"),
        at,
        kind,
        from_agent: None,
        to,
        session: None,
        body,
    }))
}

fn is_refusal(error: &QueueError) -> bool {
    matches!(error, QueueError::Server { error: ServerError::Refused(_), .. })
}

fn is_busy(error: &QueueError) -> bool {
    matches!(error, QueueError::Server { error: ServerError::Busy(_), .. })
}

/// How long ago the agent was last known to be alive. A tool in flight of a living client speaks for it, as long as one of
/// this machine's own queue would.
fn silence(hold: &SharedHold, now: Ms) -> i64 {
    let silent = now.since(hold.renewed_at);
    match hold.tool_of {
        Some(client) if silent < queue::LONGEST_TOOL_MS && lives(client) != Some(false) => 0,
        _ => silent,
    }
}

fn renewal(hold: &SharedHold, age_ms: i64) -> Renewal {
    let (id, attempt, claim) = (hold.id, hold.attempt, hold.claim.clone());
    // A hook or a proposal may have made it longer here, which the server does not know yet.
    Renewal { id, attempt, claim, age_ms, lease_ms: Some(hold.wanted_ms).filter(|wanted| *wanted != hold.lease_ms) }
}

fn as_task(held: &HeldThere) -> Queued {
    Queued {
        row: held.id,
        project: String::new(),
        slug: held.slug.clone(),
        status: TaskStatus::Active,
        hold: None,
        attempt: held.attempt,
        retry_count: held.retry_count,
        failures: held.failures,
        releases: held.releases,
        fail_reason: None,
        ready_at: Ms(0),
        open_blockers: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::ClientProcess;

    #[test]
    fn q4_a_tool_in_flight_speaks_for_its_agent_as_long_as_on_one_machine_and_no_longer() {
        // Of this process it is known that it runs, and not since when.
        let (pid, started) = (std::process::id(), 0);
        let now = host::clock::now();
        let hold = |silent: i64, tool_of: Option<ClientProcess>| SharedHold {
            task: 1,
            project: String::new(),
            slug: "a".into(),
            server: String::new(),
            queue: String::new(),
            id: 1,
            attempt: 1,
            claim: String::new(),
            agent: "ann".into(),
            session: None,
            lease_ms: 600_000,
            wanted_ms: 600_000,
            renewed_at: now.plus(-silent),
            confirmed: boot_moment(),
            told: false,
            tool_of,
            group: None,
        };
        let alive = Some(ClientProcess { pid, started });
        assert_eq!(silence(&hold(queue::LONGEST_TOOL_MS - 1, alive), now), 0);
        assert_eq!(silence(&hold(queue::LONGEST_TOOL_MS, alive), now), queue::LONGEST_TOOL_MS);
        assert_eq!(silence(&hold(900_000, None), now), 900_000);
    }
}
