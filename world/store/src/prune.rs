//! Retention: what is old is forgotten in small steps, off the way of an event,
//! and never more of the history in a day than a bounded share.

use crate::retention_clock::{Believed, Clocks};
use crate::retention_day::{Day, HistoryKind};
use crate::{Durability, Error, Store, event_cursor, strikes};
use model::Ms;
use rusqlite::{Connection, OptionalExtension, Params, params};

const DAY_MS: i64 = 86_400_000;

/// How much is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retention {
    pub events_ms: i64,
    /// Above this size of the database the oldest events go, however young.
    pub bytes: u64,
    pub ended_sessions_ms: i64,
    pub delivered_messages_ms: i64,
    /// Unnamed agents without an open session.
    pub unnamed_agents_ms: i64,
    /// At most so many rows of each kind in one step.
    pub rows: u32,
    /// At most so much of each kind of history goes in one day for its age.
    pub percent_a_day: u32,
    /// So many rows may go in a day however few there are.
    pub rows_a_day: u32,
    /// Events that a server is still to be sent are left so long, where that is longer.
    pub unsent_ms: i64,
    /// And so far above the size.
    pub unsent_bytes: u64,
    /// Of those that were stopped so many stay, whatever the size.
    pub unsent_denied: i64,
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            events_ms: 30 * DAY_MS,
            bytes: 2 * 1024 * 1024 * 1024,
            ended_sessions_ms: 90 * DAY_MS,
            delivered_messages_ms: 30 * DAY_MS,
            unnamed_agents_ms: DAY_MS,
            rows: 500,
            percent_a_day: 10,
            rows_a_day: 100,
            unsent_ms: 7 * DAY_MS,
            unsent_bytes: 500 * 1024 * 1024,
            unsent_denied: MOST_DENIED,
        }
    }
}

/// What one step forgot.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pruned {
    pub events: usize,
    pub sessions: usize,
    pub agents: usize,
    pub strikes: usize,
    pub messages: usize,
    /// A step was full: there may be more to forget.
    pub more: bool,
}

/// The first that were stored are the oldest, but for a clock that was set back. Of those that are still to be sent there
/// are none here.
pub(crate) const OLD_EVENTS: &str = "DELETE FROM events WHERE seq IN
    (SELECT seq FROM events WHERE seq < (SELECT min(seq) FROM events) + ?2 AND at < ?1 AND seq <= ?3)";

/// Those: what was stopped stays, however old.
const OLD_UNSENT: &str = "DELETE FROM events WHERE seq IN
    (SELECT seq FROM events WHERE seq > ?3 AND at < ?1 AND verdict <> 'deny'
       AND seq < (SELECT seq FROM events WHERE seq > ?3 AND verdict <> 'deny' ORDER BY seq LIMIT 1) + ?2)";

/// The time of the first event that is not in the future. Those before it were
/// stored by a clock far ahead, and are as old as it.
const FIRST_TIMELY: &str = "SELECT seq, at FROM events WHERE at <= ?1 AND (verdict <> 'deny' OR seq <= ?2)
    ORDER BY seq LIMIT 1";

const UNTIMELY_EVENTS: &str = "DELETE FROM events WHERE seq IN
    (SELECT seq FROM events WHERE seq < ?1 AND (verdict <> 'deny' OR seq <= ?3) ORDER BY seq LIMIT ?2)";

pub(crate) const FIRST_EVENTS: &str = "DELETE FROM events WHERE seq IN (SELECT seq FROM events ORDER BY seq LIMIT ?1)";

/// Those that a server has.
const FIRST_SENT: &str =
    "DELETE FROM events WHERE seq IN (SELECT seq FROM events WHERE seq <= ?2 ORDER BY seq LIMIT ?1)";

/// What was stopped is kept.
const FIRST_UNDENIED: &str =
    "DELETE FROM events WHERE seq IN (SELECT seq FROM events WHERE verdict <> 'deny' ORDER BY seq LIMIT ?1)";

/// Where more than so many were stopped and not sent, somebody fills the disk with them: the oldest of those go.
const MOST_DENIED: i64 = 1_000_000;

const FIRST_DENIED: &str = "DELETE FROM events WHERE seq IN
    (SELECT seq FROM events ORDER BY seq LIMIT max(0, min(?1, (SELECT count(*) FROM events) - ?2)))";

pub(crate) const OLD_INJECTIONS: &str = "DELETE FROM injections WHERE session IN
    (SELECT id FROM sessions WHERE ended_at < ?1 ORDER BY ended_at LIMIT ?2)";

pub(crate) const OLD_FACTS: &str = "DELETE FROM session_facts WHERE session IN
    (SELECT id FROM sessions WHERE ended_at < ?1 ORDER BY ended_at LIMIT ?2)";

pub(crate) const OLD_SESSIONS: &str = "DELETE FROM sessions WHERE row IN
    (SELECT row FROM sessions WHERE ended_at < ?1 ORDER BY ended_at LIMIT ?2)";

/// A day is over when the next has begun.
pub(crate) const OLD_SUMS: &str = "DELETE FROM event_sums WHERE row IN
    (SELECT row FROM event_sums WHERE day < ?1 / 86400000 - 1 ORDER BY day LIMIT ?2)";

pub(crate) const OLD_MESSAGES: &str = "DELETE FROM messages WHERE seq IN
    (SELECT seq FROM messages WHERE delivered_at < ?1 ORDER BY delivered_at LIMIT ?2)";

/// For somebody who never came back for it.
pub(crate) const UNCLAIMED_MESSAGES: &str = "DELETE FROM messages WHERE seq IN
    (SELECT seq FROM messages WHERE delivered_at IS NULL AND seq < (SELECT min(seq) FROM messages) + ?2 AND at < ?1)";

/// Runs are few: one for each time a loop was started.
const OLD_ITERATIONS: &str = "DELETE FROM iterations WHERE seq IN
    (SELECT seq FROM iterations WHERE run IN (SELECT id FROM runs WHERE finished_at < ?1) LIMIT ?2)";

const OLD_RUNS: &str = "DELETE FROM runs WHERE id IN
    (SELECT id FROM runs WHERE finished_at < ?1 AND NOT EXISTS
      (SELECT 1 FROM iterations WHERE iterations.run = runs.id) LIMIT ?2)";

/// Few enough to be looked through: strikes live half an hour, and unnamed
/// agents are forgotten here.
const OLD_STRIKES: &str = "DELETE FROM strikes WHERE (session, rule, what, target, denied_to) IN
    (SELECT session, rule, what, target, denied_to FROM strikes WHERE at < ?1 LIMIT ?2)";

const OLD_ALLOWANCES: &str =
    "DELETE FROM allowances WHERE what IN (SELECT what FROM allowances WHERE at < ?1 LIMIT ?2)";

pub(crate) const OLD_CARDS: &str = "DELETE FROM cards WHERE id IN
    (SELECT id FROM cards WHERE ended_at < ?1 ORDER BY ended_at LIMIT ?2)";

const OLD_AGENTS: &str = "DELETE FROM agents WHERE id IN
    (SELECT id FROM agents WHERE named = 0 AND since < ?1 AND NOT EXISTS
      (SELECT 1 FROM sessions WHERE sessions.agent = agents.id AND ended_at IS NULL) LIMIT ?2)";

/// A name is remembered while anything that its agent did is listed by sessions.
const OLD_NAMES: &str = "DELETE FROM agent_names WHERE agent IN
    (SELECT agent FROM agent_names WHERE at < ?1
       AND NOT EXISTS (SELECT 1 FROM agents WHERE agents.id = agent_names.agent)
       AND NOT EXISTS (SELECT 1 FROM sessions WHERE sessions.agent = agent_names.agent) LIMIT ?2)";

impl Store {
    /// One step: one short transaction. Call again while `more`.
    pub fn prune(&mut self, now: Ms, keep: &Retention) -> Result<Pruned, Error> {
        self.prune_by(&Clocks::at(now), keep)
    }

    /// The same by clocks that are told.
    pub fn prune_by(&mut self, clocks: &Clocks, keep: &Retention) -> Result<Pruned, Error> {
        self.transact(Durability::Normal, |tx| {
            tx.verb(|conn| {
                let before = Believed::find(conn)?;
                let believed = match before.clone() {
                    Some(before) => before.advanced(clocks),
                    None => Believed::first(conn, clocks, keep.events_ms)?,
                };
                let mut day = Day::of(conn, believed.time(), keep)?;
                let pruned = step(conn, believed.reference(), keep, &mut day)?;
                if pruned != Pruned::default() || believed.is_worth_writing(before.as_ref()) {
                    believed.put(conn)?;
                    day.put(conn)?;
                }
                Ok(pruned)
            })
        })
    }
}

fn step(conn: &Connection, now: Ms, keep: &Retention, day: &mut Day) -> rusqlite::Result<Pruned> {
    let older = |sql: &str, age: i64, most: u32| conn.prepare_cached(sql)?.execute(params![now.plus(-age).0, most]);
    let most = |day: &Day, kind: HistoryKind| day.left(kind).min(keep.rows);
    let cursor = event_cursor::cursor(conn)?;
    let age = if cursor.is_some() { keep.events_ms.max(keep.unsent_ms) } else { keep.events_ms };
    let mut events = old_events(conn, now, age, (most(day, HistoryKind::Events), cursor))?;
    day.count(HistoryKind::Events, events);
    let used = used_bytes(conn)?;
    if events == 0 && used > keep.bytes {
        // The size cannot be tricked by a clock, so it knows no days.
        events = too_many(conn, now, keep, (cursor, used))?;
    }
    let runs = older(OLD_ITERATIONS, keep.ended_sessions_ms, most(day, HistoryKind::Runs))?;
    day.count(HistoryKind::Runs, runs);
    day.count(HistoryKind::Runs, older(OLD_RUNS, keep.ended_sessions_ms, most(day, HistoryKind::Runs))?);
    older(OLD_INJECTIONS, keep.ended_sessions_ms, most(day, HistoryKind::Sessions))?;
    older(OLD_FACTS, keep.ended_sessions_ms, most(day, HistoryKind::Sessions))?;
    older(OLD_SUMS, keep.ended_sessions_ms, most(day, HistoryKind::Sessions))?;
    let sessions = older(OLD_SESSIONS, keep.ended_sessions_ms, most(day, HistoryKind::Sessions))?;
    day.count(HistoryKind::Sessions, sessions);
    let mut messages = older(OLD_MESSAGES, keep.delivered_messages_ms, most(day, HistoryKind::Messages))?;
    day.count(HistoryKind::Messages, messages);
    let unclaimed = older(UNCLAIMED_MESSAGES, keep.ended_sessions_ms, most(day, HistoryKind::Messages))?;
    day.count(HistoryKind::Messages, unclaimed);
    messages += unclaimed;
    older(OLD_ALLOWANCES, strikes::LIFE_MS, keep.rows)?;
    older(OLD_CARDS, keep.events_ms, most(day, HistoryKind::Events))?;
    let mut pruned = Pruned {
        events,
        sessions,
        agents: older(OLD_AGENTS, keep.unnamed_agents_ms, keep.rows)?,
        strikes: older(OLD_STRIKES, strikes::LIFE_MS, keep.rows)?,
        messages,
        more: false,
    };
    older(OLD_NAMES, keep.unnamed_agents_ms, keep.rows)?;
    let full = usize::try_from(keep.rows).unwrap_or(usize::MAX).max(1);
    pruned.more = [pruned.events, pruned.sessions, pruned.agents, pruned.strikes, pruned.messages]
        .iter()
        .any(|rows| *rows >= full);
    Ok(pruned)
}

fn old_events(conn: &Connection, now: Ms, age: i64, (most, cursor): (u32, Option<i64>)) -> rusqlite::Result<usize> {
    let cutoff = now.plus(-age).0;
    let sent = cursor.unwrap_or(i64::MAX);
    for sql in [OLD_EVENTS, OLD_UNSENT] {
        let gone = forget_events(conn, sql, params![cutoff, most, sent], cursor)?;
        if gone > 0 || most == 0 {
            return Ok(gone);
        }
    }
    let timely = conn.prepare_cached(FIRST_TIMELY)?.query_row([now.0, sent], |row| Ok((row.get(0)?, row.get(1)?)));
    match timely.optional()? {
        Some((seq, at)) if at < cutoff => forget_events(conn, UNTIMELY_EVENTS, params![seq, most, sent], cursor),
        Some::<(i64, i64)>(_) | None => Ok(0),
    }
}

/// The database is too large: the oldest events go. Where some are still to be sent, those that were go first, the others
/// only when there is no more room for them or they are old, and of them only those that stopped nobody.
fn too_many(
    conn: &Connection,
    now: Ms,
    keep: &Retention,
    (cursor, used): (Option<i64>, u64),
) -> rusqlite::Result<usize> {
    const OLDEST: &str = "SELECT at FROM events WHERE verdict <> 'deny' ORDER BY seq LIMIT 1";
    if cursor.is_none() {
        return forget_events(conn, FIRST_EVENTS, params![keep.rows], cursor);
    }
    let sent = conn.prepare_cached(FIRST_SENT)?.execute(params![keep.rows, cursor])?;
    if sent > 0 {
        return Ok(sent);
    }
    let oldest: Option<i64> = conn.prepare_cached(OLDEST)?.query_row([], |row| row.get(0)).optional()?;
    let is_old = oldest.is_some_and(|at| at < now.plus(-keep.unsent_ms).0);
    if !is_old && used <= keep.bytes.saturating_add(keep.unsent_bytes) {
        return Ok(0);
    }
    match forget_events(conn, FIRST_UNDENIED, params![keep.rows], cursor)? {
        0 => forget_events(conn, FIRST_DENIED, params![keep.rows, keep.unsent_denied], cursor),
        gone => Ok(gone),
    }
}

/// Those of them that somebody was still to be sent are counted.
fn forget_events(conn: &Connection, sql: &str, values: impl Params, cursor: Option<i64>) -> rusqlite::Result<usize> {
    if cursor.is_none() {
        return conn.prepare_cached(sql)?.execute(values);
    }
    let mut statement = conn.prepare_cached(&format!("{sql} RETURNING seq"))?;
    let gone: Vec<i64> = statement.query_map(values, |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    event_cursor::count_skipped(conn, &gone)?;
    Ok(gone.len())
}

/// Without the free pages, which the file keeps and fills again.
pub(crate) fn used_bytes(conn: &Connection) -> rusqlite::Result<u64> {
    let pragma = |name: &str| conn.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, i64>(0));
    let used = pragma("page_count")?.saturating_sub(pragma("freelist_count")?);
    Ok(used.saturating_mul(pragma("page_size")?).cast_unsigned())
}
