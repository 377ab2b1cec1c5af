//! Tasks of a queue on a server that agents of this machine hold: the copy a claim leaves here, where its attempt stands
//! there, and the word that is owed to the server when that attempt ends. Hooks see an ordinary task of an agent.

use crate::outbox::OwedTurn;
use crate::task_server::{LeaseNeed, QueuePlace, ServerClaim, ServerTurn};
use crate::tasks::{self, queued};
use crate::{Durability, Error, Store, Tx, outbox, projects};
use model::task::{AttemptChange, NEVER_HERE, Queued, TaskStatus, TaskTransition};
use model::{ClientProcess, Ms};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::Value;

/// Copies that nobody holds and that were left alone for so long are forgotten: the task itself is on the server.
const KEPT_MS: i64 = 30 * 24 * 3_600_000;

/// A moment on the clock that goes on while the machine sleeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BootTime {
    pub ms: i64,
    pub boot: String,
}

/// A claim as it is kept here.
#[derive(Debug, Clone, Copy)]
pub struct ClaimCopy<'a> {
    /// The path of the project on this machine.
    pub project: &'a str,
    pub place: &'a QueuePlace,
    pub claim: &'a ServerClaim,
    pub agent: &'a str,
    pub session: Option<&'a str>,
    pub token: &'a str,
    /// When the claim was sent.
    pub sent: &'a BootTime,
}

/// Where a held task stands on its server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedHold {
    /// The row of the copy.
    pub task: i64,
    pub project: String,
    pub slug: String,
    pub server: String,
    pub queue: String,
    /// The server's id of the task.
    pub id: i64,
    pub attempt: i64,
    pub claim: String,
    pub agent: String,
    pub session: Option<String>,
    /// As the server last said.
    pub lease_ms: i64,
    /// As its holder wants it: the server is told with the next renewal.
    pub wanted_ms: i64,
    /// The last sign of life of the agent.
    pub renewed_at: Ms,
    /// When the last claim or renewal that the server confirmed was sent.
    pub confirmed: BootTime,
    /// Its agent was told that the lease may be over: 1, or 2 where it was to be stopped for that. 3: it was to be stopped
    /// because the lease was over.
    pub told: bool,
    /// The client of its session, where that has a tool in flight: a long test run says nothing.
    pub tool_of: Option<ClientProcess>,
    /// The leader of the process group that Taut started for it.
    pub group: Option<ClientProcess>,
}

impl SharedHold {
    /// Until when nobody else can have been given the task, on the clock of `confirmed`: the lease, less a margin for
    /// clocks that go at different speeds.
    pub fn sure_until(&self) -> i64 {
        self.confirmed.ms + self.lease_ms - self.lease_ms / 20 - 1_000
    }

    pub fn is_sure(&self, now: &BootTime) -> bool {
        self.is_of_this_boot(now) && now.ms < self.sure_until()
    }

    /// Not every system names its boots; a clock that stands before what it showed earlier has begun anew.
    fn is_of_this_boot(&self, now: &BootTime) -> bool {
        now.boot == self.confirmed.boot && now.ms >= self.confirmed.ms
    }

    /// A quarter of the lease has passed since the server last confirmed it, or a longer one is wanted.
    pub fn is_renewal_due(&self, now: &BootTime) -> bool {
        self.wanted_ms > self.lease_ms || !self.is_of_this_boot(now) || now.ms >= self.confirmed.ms + self.lease_ms / 4
    }
}

/// What became of a claim that was to be kept here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimKept {
    Kept,
    /// The local queue has an unfinished task of this name: nothing is kept.
    QueuedHere,
    /// It was given back meanwhile, as one that nobody wrote down: nothing is kept.
    GivenBack,
}

/// The task for whose lease an agent was stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoppedFor {
    pub slug: String,
    pub queue: String,
    /// The server said that the lease was over; else nobody knew, because it was not reached.
    pub is_lost: bool,
}

/// What of the copy of a task, and of its hold, is read together.
macro_rules! holds {
    () => {
        "SELECT shared_holds.task, tasks.project, tasks.slug, shared_holds.server, shared_holds.queue, shared_holds.id,
           shared_holds.attempt, shared_holds.claim, tasks.agent, tasks.session, shared_holds.lease_ms, tasks.renewed_at,
           shared_holds.confirmed, shared_holds.boot, shared_holds.told,
           iif(sessions.state = 'tool_active', sessions.client_pid, NULL), sessions.client_started,
           attempts.group_pid, attempts.group_started, tasks.lease_ms
         FROM shared_holds JOIN tasks ON tasks.row = shared_holds.task
           LEFT JOIN sessions ON sessions.id = tasks.session
           LEFT JOIN attempts ON attempts.task = tasks.row AND attempts.number = tasks.attempt
         WHERE shared_holds.state = 'held' AND tasks.status = 'active'"
    };
}

/// A task of the local queue is not written over: only what was never queued, or is a copy itself. One that was done here and
/// can be claimed was planned anew, or that it was done did not count: what is done of it from now on is another matter.
const COPY: &str = "INSERT INTO tasks (project, slug, title, description, category, priority, status, spec, ref,
      agent, session, lease_until, lease_ms, renewed_at, attempt, retry_count, failures, releases, fail_reason,
      created_at, updated_at, shared)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'active', ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?13, ?13, 1)
    ON CONFLICT (project, slug) DO UPDATE SET title = excluded.title, description = excluded.description,
      category = excluded.category, priority = excluded.priority, status = 'active', spec = excluded.spec,
      ref = excluded.ref, verify = NULL, agent = excluded.agent, session = excluded.session,
      lease_until = excluded.lease_until, lease_ms = excluded.lease_ms, renewed_at = excluded.renewed_at,
      attempt = excluded.attempt, retry_count = excluded.retry_count, failures = excluded.failures,
      releases = excluded.releases, fail_reason = excluded.fail_reason, updated_at = excluded.updated_at, result = NULL,
      created_at = iif(tasks.status = 'done', excluded.created_at, tasks.created_at),
      ready_at = 0, open_blockers = 0, deleted_at = NULL, proposed_at = NULL, proposed_result = NULL, proven = 0,
      shared = 1
    WHERE shared = 1 OR status IS NULL";

/// What this machine's own queue had finished under that name keeps its result and its attempts, under another.
const ASIDE: &str = "UPDATE tasks SET slug = slug || '~' || row
    WHERE project = ?1 AND slug = ?2 AND shared = 0 AND status IN ('done', 'deleted')";

const BEGIN: &str = "INSERT OR REPLACE INTO attempts (task, number, agent, session, claimed_at, token)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

const HOLD: &str =
    "INSERT OR REPLACE INTO shared_holds (task, server, queue, id, attempt, claim, confirmed, boot, lease_ms, state)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 'held')";

const UNDRAWN: &str = "DELETE FROM drawn_claims WHERE claim = ?1";

/// A copy that was taken into this machine's own queue since then owes nobody anything, nor does its server end it.
const OF_TASK: &str = "SELECT server, queue, id, shared_holds.attempt, claim FROM shared_holds
    JOIN tasks ON tasks.row = task WHERE task = ?1 AND shared = 1";

/// What a copy owes its server once a turn of it is written: the end of its attempt, or a correction of one that ended.
pub(crate) fn tell_server(conn: &Connection, turn: &TaskTransition) -> rusqlite::Result<()> {
    let ends = matches!(turn.attempt, AttemptChange::Ended { .. });
    let corrects = turn.attempt == AttemptChange::None && turn.before.0 != TaskStatus::Active;
    if !ends && !corrects {
        return Ok(());
    }
    let place = |row: &Row<'_>| {
        let place: (String, String) = (row.get(0)?, row.get(1)?);
        Ok((place, row.get::<_, i64>(2)?, row.get::<_, i64>(3)?, row.get::<_, String>(4)?))
    };
    let found = conn.prepare_cached(OF_TASK)?.query_row([turn.after.row], place).optional()?;
    let Some(((server, queue), id, attempt, claim)) = found else { return Ok(()) };
    if attempt != turn.before.1 {
        return Ok(());
    }
    let (key, live) = if ends { (claim.clone(), Some(claim)) } else { (format!("{claim} corrected"), None) };
    let need = live.as_ref().map(|_| LeaseNeed::Live);
    let mut body = ServerTurn::of(turn, id, live, need);
    if turn.after.status == TaskStatus::Done && body.result.is_none() {
        body.result = proven_result(conn, turn.after.row)?;
    }
    outbox::put_turn(conn, (&server, &queue), (&key, agent_of(conn, turn)?), (&body, turn.at))?;
    // A correction is of an attempt that is over: nobody waits for what becomes of it.
    if ends {
        conn.prepare_cached("UPDATE shared_holds SET state = 'leaving' WHERE task = ?1")?.execute([turn.after.row])?;
    }
    Ok(())
}

/// Whoever confirms a proposal gives no result: what its agent had given is the task's since that turn was written, and a
/// claim begins without any.
fn proven_result(conn: &Connection, task: i64) -> rusqlite::Result<Option<Value>> {
    let kept: Option<String> =
        conn.prepare_cached("SELECT result FROM tasks WHERE row = ?1")?.query_row([task], |row| row.get(0))?;
    Ok(kept.and_then(|text| serde_json::from_str(&text).ok()))
}

/// Who had the attempt: its row tells, since the task itself forgets with the turn.
fn agent_of(conn: &Connection, turn: &TaskTransition) -> rusqlite::Result<Option<String>> {
    conn.prepare_cached("SELECT agent FROM attempts WHERE task = ?1 AND number = ?2")?
        .query_row(params![turn.after.row, turn.before.1], |row| row.get(0))
        .optional()
}

impl Tx<'_> {
    /// After a sleep: of whoever held a task before it something is taken to have been heard so lately that its lease lasts for
    /// so long yet. Never later than now.
    pub fn speak_for_shared(&self, now: Ms, left_ms: i64) -> Result<(), Error> {
        const SPEAK: &str = "UPDATE tasks SET renewed_at = max(renewed_at, min(?1,
            ?1 + ?2 - (SELECT lease_ms FROM shared_holds WHERE task = row)))
            WHERE row IN (SELECT task FROM shared_holds WHERE state = 'held')";
        self.verb(|conn| conn.prepare_cached(SPEAK)?.execute([now.0, left_ms]).map(drop))
    }

    /// Keeps what was claimed.
    pub fn copy_claim(&self, copy: &ClaimCopy<'_>, now: Ms) -> Result<ClaimKept, Error> {
        self.verb(|conn| {
            let ClaimCopy { project, place, claim, agent, session, token, sent } = *copy;
            let (plan, queued) = (&claim.task.plan, &claim.task.queued);
            let lease_ms = queued.hold.as_ref().map_or(model::task::LEASE_MS, |hold| hold.lease_ms);
            if conn.prepare_cached(UNDRAWN)?.execute([&claim.claim])? == 0 {
                return Ok(ClaimKept::GivenBack);
            }
            projects::see(conn, project, now)?;
            conn.prepare_cached(ASIDE)?.execute([project, &plan.slug])?;
            let written = conn.prepare_cached(COPY)?.execute(params![
                project, plan.slug, plan.title, plan.description, plan.category, plan.priority.0, plan.spec,
                plan.reference, agent, session, NEVER_HERE.0, lease_ms, now.0, queued.attempt, queued.retry_count,
                queued.failures, queued.releases, queued.fail_reason
            ])?;
            if written == 0 {
                return Ok(ClaimKept::QueuedHere);
            }
            let row: i64 = conn
                .prepare_cached("SELECT row FROM tasks WHERE project = ?1 AND slug = ?2")?
                .query_row([project, &plan.slug], |row| row.get(0))?;
            conn.prepare_cached("DELETE FROM task_deps WHERE task = ?1")?.execute([row])?;
            conn.prepare_cached(BEGIN)?.execute(params![row, queued.attempt, agent, session, now.0, token])?;
            let (ms, boot) = (sent.ms, &sent.boot);
            conn.prepare_cached(HOLD)?.execute(params![
                row, place.server, place.queue, queued.row, queued.attempt, claim.claim, ms, boot, lease_ms
            ])?;
            Ok(ClaimKept::Kept)
        })
    }

    /// The server has confirmed these claims, each with the length of its lease; the renewal was sent then.
    pub fn confirm_holds(&self, claims: &[(&str, i64)], sent: &BootTime) -> Result<(), Error> {
        // That its agent was stopped stays true, whatever the server says after that.
        const CONFIRM: &str =
            "UPDATE shared_holds SET confirmed = ?2, boot = ?3, lease_ms = ?4, told = iif(told > 1, told, 0)
            WHERE claim = ?1";
        self.verb(|conn| {
            let mut confirm = conn.prepare_cached(CONFIRM)?;
            let mut each = |claim, lease_ms| confirm.execute(params![claim, sent.ms, sent.boot, lease_ms]).map(drop);
            claims.iter().try_for_each(|(claim, lease_ms)| each(claim, lease_ms))
        })
    }

    /// Its agent is told once that the lease may be over. Whether it was not told before.
    pub fn note_unsure(&self, claim: &str) -> Result<bool, Error> {
        const NOTE: &str = "UPDATE shared_holds SET told = 1 WHERE claim = ?1 AND told = 0";
        self.verb(|conn| conn.prepare_cached(NOTE)?.execute([claim]).map(|rows| rows == 1))
    }

    /// Its agent is about to be stopped for that: whoever started it must not blame the task for its end.
    pub fn note_stop(&self, claim: &str) -> Result<(), Error> {
        const NOTE: &str = "UPDATE shared_holds SET told = 2 WHERE claim = ?1 AND told < 2";
        self.verb(|conn| conn.prepare_cached(NOTE)?.execute([claim]).map(drop))
    }

    /// Its agent is about to be stopped because the server has given the task up, or to another. Whether it is held still: who
    /// has claimed it anew meanwhile is not stopped.
    pub fn note_stop_of_lost(&self, claim: &str) -> Result<bool, Error> {
        const NOTE: &str = "UPDATE shared_holds SET told = 3 WHERE claim = ?1 AND state = 'held'";
        self.verb(|conn| conn.prepare_cached(NOTE)?.execute([claim]).map(|rows| rows == 1))
    }

    /// The server has ended the attempt, or heard of its end: the copy stands so, and owes nothing. Whether it still
    /// stood otherwise.
    pub fn end_hold(&self, claim: &str, status: TaskStatus, reason: &str, now: Ms) -> Result<bool, Error> {
        const OVER: &str = "UPDATE shared_holds SET state = 'over' WHERE claim = ?1 AND state <> 'over'";
        const ENDED: &str = "UPDATE tasks SET status = ?2, agent = NULL, session = NULL, lease_until = NULL,
              lease_ms = NULL, renewed_at = NULL, proposed_at = NULL, proposed_result = NULL, proven = 0, updated_at = ?3
            WHERE status = 'active' AND shared = 1 AND row = (SELECT task FROM shared_holds WHERE claim = ?1)";
        const EXPIRED: &str =
            "UPDATE attempts SET ended_at = ?2, outcome = 'expired', reason = ?3 WHERE outcome IS NULL
              AND (task, number) = (SELECT task, attempt FROM shared_holds WHERE claim = ?1)";
        self.verb(|conn| {
            let over = conn.prepare_cached(OVER)?.execute([claim])? == 1;
            if conn.prepare_cached(ENDED)?.execute(params![claim, status.name(), now.0])? == 1 {
                conn.prepare_cached(EXPIRED)?.execute(params![claim, now.0, reason])?;
            }
            Ok(over)
        })
    }

    /// The server would not take the end of the attempt that was written here: it was over before, and the copy stands as
    /// the task does there, unless an agent of this machine has it again. Who says it again is refused again.
    pub fn undo_end(&self, owed: &OwedTurn, status: TaskStatus, reason: &str, now: Ms) -> Result<(), Error> {
        const OVER: &str = "UPDATE shared_holds SET state = 'over' WHERE claim = ?1";
        const STANDS: &str = "UPDATE tasks SET status = ?2, agent = NULL, session = NULL, lease_until = NULL,
              lease_ms = NULL, renewed_at = NULL, proposed_at = NULL, proposed_result = NULL, proven = 0, result = NULL,
              updated_at = ?3
            WHERE shared = 1 AND row = (SELECT task FROM shared_holds WHERE claim = ?1)";
        // Of a number that was given out twice only the claim says whose it is.
        const EXPIRED: &str = "UPDATE attempts SET ended_at = ?2, outcome = 'expired', reason = ?3
            WHERE number = ?4 AND task IN (SELECT task FROM shared_holds JOIN tasks ON tasks.row = task
              WHERE claim = ?1 OR (server = ?5 AND queue = ?6 AND slug = ?7 AND shared_holds.attempt > ?4))";
        let OwedTurn { server, queue, turn, .. } = owed;
        let Some(claim) = &turn.claim else { return Ok(()) };
        self.verb(|conn| {
            conn.prepare_cached(OVER)?.execute([claim])?;
            conn.prepare_cached(STANDS)?.execute(params![claim, status.name(), now.0])?;
            let expired = params![claim, now.0, reason, turn.attempt, server, queue, turn.slug];
            conn.prepare_cached(EXPIRED)?.execute(expired).map(drop)
        })
    }

    /// The copy of a task, held or not, with the claim of its newest attempt here.
    pub fn copy_of(&self, project: &str, slug: &str) -> Result<Option<(Queued, String)>, Error> {
        const COPY: &str = concat!(
            "SELECT ",
            queued!(),
            ", claim FROM tasks JOIN shared_holds ON shared_holds.task = tasks.row
             WHERE tasks.project = ?1 AND tasks.slug = ?2 AND tasks.shared = 1"
        );
        self.verb(|conn| {
            let both = |row: &Row<'_>| Ok((tasks::read(row)?, row.get(tasks::QUEUED)?));
            conn.prepare_cached(COPY)?.query_row([project, slug], both).optional()
        })
    }
}

impl Store {
    /// A claim is about to be sent: whatever becomes of this process, it is known that it was drawn here, and for which queue.
    pub fn draw_claim(&mut self, claim: &str, place: &QueuePlace, now: Ms) -> Result<(), Error> {
        const DRAWN: &str = "INSERT OR IGNORE INTO drawn_claims (claim, server, queue, at) VALUES (?1, ?2, ?3, ?4)";
        self.transact(Durability::Full, |tx| {
            let values = params![claim, place.server, place.queue, now.0];
            tx.verb(|conn| conn.prepare_cached(DRAWN)?.execute(values).map(drop))
        })
    }

    /// Claims of a queue that were drawn before a moment, and not written down nor made by the word of the server, which tells
    /// those that are made. Whoever drew them is told so, should it still be there.
    pub fn forget_unmade(&mut self, place: &QueuePlace, made: &[&str], before: Ms) -> Result<(), Error> {
        const DRAWN: &str = "SELECT claim FROM drawn_claims WHERE server = ?1 AND queue = ?2 AND at < ?3";
        let drawn: Vec<String> = self.read(|conn| {
            let values = params![place.server, place.queue, before.0];
            conn.prepare_cached(DRAWN)?.query_map(values, |row| row.get(0))?.collect()
        })?;
        drawn
            .iter()
            .filter(|claim| !made.contains(&claim.as_str()))
            .try_for_each(|claim| self.forget_drawn(claim).map(drop))
    }

    /// Nothing came of it, or what did is given back: whoever drew it keeps it no more. Whether it was still to be kept.
    pub fn forget_drawn(&mut self, claim: &str) -> Result<bool, Error> {
        let forget = |conn: &Connection| Ok(conn.prepare_cached(UNDRAWN)?.execute([claim])? == 1);
        self.transact(Durability::Normal, |tx| tx.verb(forget))
    }

    /// Whether this claim was made by this machine: one that it holds or held, or is about to write down.
    pub fn is_own_claim(&self, claim: &str) -> Result<bool, Error> {
        const OWN: &str = "SELECT EXISTS (SELECT 1 FROM drawn_claims WHERE claim = ?1)
            OR EXISTS (SELECT 1 FROM shared_holds WHERE claim = ?1)";
        self.read(|conn| conn.prepare_cached(OWN)?.query_row([claim], |row| row.get(0)))
    }

    /// Whether this claim was drawn here and nobody wrote down what came of it: who drew it is gone.
    pub fn is_drawn_and_lost(&self, claim: &str) -> Result<bool, Error> {
        const LOST: &str = "SELECT EXISTS (SELECT 1 FROM drawn_claims WHERE claim = ?1)
            AND NOT EXISTS (SELECT 1 FROM shared_holds WHERE claim = ?1)
            AND NOT EXISTS (SELECT 1 FROM outbox WHERE kind = 'turn' AND key = ?1)";
        self.read(|conn| conn.prepare_cached(LOST)?.query_row([claim], |row| row.get(0)))
    }

    /// The project of this machine in whose folder a task of a queue is held: this one before any other, and of others the
    /// one with the newest attempt.
    pub fn project_that_holds(&self, place: &QueuePlace, project: &str, slug: &str) -> Result<Option<String>, Error> {
        const HELD: &str = "SELECT tasks.project FROM shared_holds JOIN tasks ON tasks.row = shared_holds.task
            WHERE server = ?1 AND queue = ?2 AND tasks.slug = ?3 AND state = 'held' AND tasks.status = 'active'
            ORDER BY tasks.project = ?4 DESC, shared_holds.attempt DESC LIMIT 1";
        let values = [&place.server, &place.queue, slug, project];
        self.read(|conn| conn.prepare_cached(HELD)?.query_row(values, |row| row.get(0)).optional())
    }

    /// Copies that nobody holds and that no branch needs go, after a while. Looks at every task, so it is for now and then.
    pub fn forget_copies(&mut self, now: Ms) -> Result<usize, Error> {
        const FORGET: &str = "DELETE FROM tasks WHERE shared = 1 AND status <> 'active' AND updated_at < ?1
              AND row NOT IN (SELECT task FROM task_branches)
              AND row NOT IN (SELECT task FROM shared_holds WHERE state = 'leaving')";
        self.transact(Durability::Normal, |tx| {
            tx.verb(|conn| {
                conn.execute("DELETE FROM drawn_claims WHERE at < ?1", [now.0 - KEPT_MS])?;
                conn.prepare_cached(FORGET)?.execute([now.0 - KEPT_MS])
            })
        })
    }

    /// Everything that agents of this machine hold on this server.
    pub fn shared_holds(&self, server: &str) -> Result<Vec<SharedHold>, Error> {
        const ALL: &str = concat!(holds!(), " AND shared_holds.server = ?1 ORDER BY shared_holds.task");
        self.read(|conn| conn.prepare_cached(ALL)?.query_map([server], read)?.collect())
    }

    /// The same on every server.
    pub fn all_shared_holds(&self) -> Result<Vec<SharedHold>, Error> {
        const ALL: &str = concat!(holds!(), " ORDER BY shared_holds.task");
        self.read(|conn| conn.prepare_cached(ALL)?.query_map([], read)?.collect())
    }

    /// Signs of life from the future are of a clock that was set back since: they are taken for signs of now.
    pub fn clamp_shared_holds(&mut self, now: Ms) -> Result<(), Error> {
        const CLAMP: &str = "UPDATE tasks SET renewed_at = ?1
            WHERE row IN (SELECT task FROM shared_holds WHERE state = 'held') AND renewed_at > ?1";
        if self.all_shared_holds()?.iter().all(|hold| hold.renewed_at <= now) {
            return Ok(());
        }
        self.transact(Durability::Normal, |tx| tx.verb(|conn| conn.execute(CLAMP, [now.0]).map(drop)))
    }

    /// The server that a queue of this name was last met on.
    pub fn server_of(&self, queue: &str) -> Result<Option<String>, Error> {
        const SERVER: &str =
            "SELECT server FROM shared_holds WHERE queue = ?1 ORDER BY state = 'held' DESC, rowid DESC LIMIT 1";
        self.read(|conn| conn.prepare_cached(SERVER)?.query_row([queue], |row| row.get(0)).optional())
    }

    /// For which lease this agent was stopped, where it had that task since then.
    pub fn stopped_for(&self, agent: &str, since: Ms) -> Result<Option<StoppedFor>, Error> {
        const STOPPED: &str = "SELECT tasks.slug, shared_holds.queue, shared_holds.told = 3
            FROM shared_holds JOIN tasks ON tasks.row = shared_holds.task
              JOIN attempts ON attempts.task = shared_holds.task AND attempts.number = shared_holds.attempt
            WHERE shared_holds.told > 1 AND attempts.agent = ?1
              AND (attempts.ended_at IS NULL OR attempts.ended_at >= ?2) LIMIT 1";
        self.read(|conn| {
            let stopped =
                |row: &Row<'_>| Ok(StoppedFor { slug: row.get(0)?, queue: row.get(1)?, is_lost: row.get(2)? });
            conn.prepare_cached(STOPPED)?.query_row(params![agent, since.0], stopped).optional()
        })
    }

    /// How many tasks of any server agents of this machine hold.
    pub fn shared_hold_count(&self) -> Result<i64, Error> {
        const COUNT: &str = "SELECT count(*) FROM shared_holds JOIN tasks ON tasks.row = task
            WHERE state = 'held' AND status = 'active'";
        self.read(|conn| conn.prepare_cached(COUNT)?.query_row([], |row| row.get(0)))
    }
}

fn process(pid: Option<u32>, started: Option<i64>) -> Option<ClientProcess> {
    pid.map(|pid| ClientProcess { pid, started: started.unwrap_or_default().cast_unsigned() })
}

fn read(row: &Row<'_>) -> rusqlite::Result<SharedHold> {
    Ok(SharedHold {
        task: row.get(0)?,
        project: row.get(1)?,
        slug: row.get(2)?,
        server: row.get(3)?,
        queue: row.get(4)?,
        id: row.get(5)?,
        attempt: row.get(6)?,
        claim: row.get(7)?,
        agent: row.get(8)?,
        session: row.get(9)?,
        lease_ms: row.get(10)?,
        renewed_at: Ms(row.get::<_, Option<i64>>(11)?.unwrap_or_default()),
        confirmed: BootTime { ms: row.get(12)?, boot: row.get(13)? },
        told: row.get(14)?,
        tool_of: process(row.get(15)?, row.get(16)?),
        group: process(row.get(17)?, row.get(18)?),
        wanted_ms: row.get::<_, Option<i64>>(19)?.unwrap_or(model::task::LEASE_MS),
    })
}

#[cfg(test)]
mod tests;
