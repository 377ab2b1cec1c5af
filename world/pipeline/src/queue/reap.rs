//! Leases that ran out: judged outside the transaction, because that takes a
//! look at processes, and ended inside it on condition that nothing changed.

use super::{Queue, QueueError, workers, write};
use engine::queue::{self, GRACE_MS, HolderSign};
use host::process_group;
use model::ClientProcess;
use model::fact::Life;
use model::task::{ClockReading, TaskStatus};
use std::time::Duration;
use store::{Durability, Error, Lapsed, Tx};

/// What a round of reaping did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reaped {
    /// Tasks whose attempts ended.
    pub expired: Vec<String>,
    /// Tasks kept because a tool of their agent is in flight.
    pub kept: Vec<String>,
    /// Workers that died and hold nothing.
    pub workers: Vec<String>,
}

/// Lapsed leases and what was found of who had them.
pub(super) struct JudgedLeases(Vec<(Lapsed, HolderSign)>);

/// So many at once; the others wait for the next round.
const MOST: usize = 100;
/// How long a group we started gets to end by itself.
const GRACE: Duration = Duration::from_secs(2);
/// The moment is not noted more often than this.
const NOTE_EVERY_MS: i64 = 1_000;
/// A clock that was corrected by less was not set back.
const ORDER_MS: i64 = 60_000;

impl<C: Fn() -> ClockReading> Queue<'_, C> {
    /// For the daemon's tick, a supervisor and `plan-status`: recovery needs no
    /// claim and no daemon. Reads only, where nothing has lapsed.
    pub fn reap(&mut self) -> Result<Reaped, QueueError> {
        if self.is_shared() {
            self.reap_server_if_it_lets()?;
        }
        let judged = self.judge()?;
        let dead = workers::dead(self.store)?;
        if judged.0.is_empty() && dead.is_empty() {
            return Ok(Reaped::default());
        }
        Ok(self.transact(Durability::Full, |tx, moment| {
            let mut reaped = judged.expire(tx, moment)?;
            for worker in dead {
                if !tx.holds(&worker)? && tx.end_worker(&worker, moment.now)? {
                    reaped.workers.push(worker);
                }
            }
            Ok(reaped)
        })?)
    }

    /// What lapsed, and whether anything speaks for who had it. After a sleep
    /// everybody gets a moment to renew, so nothing has lapsed then. The clock
    /// is asked for this look alone: what is ended is decided under the lock.
    pub(super) fn judge(&mut self) -> Result<JudgedLeases, QueueError> {
        let lapsed = self.store.lapsed((self.clock)().now, MOST)?;
        if lapsed.is_empty() {
            return Ok(JudgedLeases(Vec::new()));
        }
        let woke = self.transact(Durability::Normal, mind_clocks)?;
        if woke {
            return Ok(JudgedLeases(Vec::new()));
        }
        let judge = |lapsed: Lapsed| {
            let sign = sign(&lapsed);
            if let (HolderSign::Silence, Some(leader)) = (sign, lapsed.group) {
                // Where it survives, fencing alone must do.
                let _ = process_group::stop(leader, GRACE);
            }
            (lapsed, sign)
        };
        Ok(JudgedLeases(lapsed.into_iter().map(judge).collect()))
    }
}

impl JudgedLeases {
    pub(super) fn expire(&self, tx: &Tx<'_>, moment: &ClockReading) -> Result<Reaped, Error> {
        let mut reaped = Reaped::default();
        if mind_clocks(tx, moment)? {
            return Ok(reaped);
        }
        for (lapsed, sign) in &self.0 {
            let Some(task) = tx.queued(&lapsed.task.project, &lapsed.task.slug)? else { continue };
            let still =
                task.attempt == lapsed.task.attempt && task.hold.as_ref().is_some_and(|hold| hold.lapsed(moment.now));
            if !still {
                continue;
            }
            let turn = queue::expire(&task, *sign, moment.now);
            let kept = turn.after.status == TaskStatus::Active;
            write(tx, turn)?;
            if kept { &mut reaped.kept } else { &mut reaped.expired }.push(task.slug);
        }
        Ok(reaped)
    }
}

/// Whether the machine slept or its clock was set forward; then all leases
/// were given a grace. Where the clock was set back they are cut to their length.
pub(super) fn mind_clocks(tx: &Tx<'_>, moment: &ClockReading) -> Result<bool, Error> {
    let last = tx.last_moment()?;
    let woke = queue::woke(last.as_ref(), moment);
    let back = last.as_ref().is_some_and(|last| moment.now.plus(ORDER_MS) < last.now);
    if woke {
        tx.grant_until(moment.now.plus(GRACE_MS))?;
        tx.speak_for_shared(moment.now, GRACE_MS)?;
    }
    if back {
        tx.clamp_leases(moment.now)?;
    }
    let due = last.as_ref().is_none_or(|last| moment.now >= last.now.plus(NOTE_EVERY_MS) || last.boot != moment.boot);
    if woke || back || due {
        tx.note_moment(moment)?;
    }
    Ok(woke)
}

/// A client of which nobody can tell whether it lives gets the benefit of the doubt.
fn sign(lapsed: &Lapsed) -> HolderSign {
    match lapsed.client.filter(|_| lapsed.tool_active) {
        Some(client) if lives(client) != Some(false) => HolderSign::ToolInFlight,
        _ => HolderSign::Silence,
    }
}

pub(crate) fn lives(process: ClientProcess) -> Option<bool> {
    match host::probe::life(process.pid)? {
        Life::Gone => Some(false),
        Life::Alive { started } if process.started == 0 || started == 0 => None,
        Life::Alive { started } => Some(started == process.started),
    }
}
