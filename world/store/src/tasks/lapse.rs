//! Leases that ran out, and the clocks they are measured by.

use super::{QUEUED, queued, read};
use crate::{Error, Store, Tx};
use model::session::SessionState;
use model::task::{ClockReading, Queued};
use model::{ClientProcess, Ms};
use rusqlite::{OptionalExtension, params};

/// A task whose lease ran out, and what is known of who had it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lapsed {
    pub task: Queued,
    /// The session has a tool in flight.
    pub tool_active: bool,
    pub client: Option<ClientProcess>,
    /// The leader of the process group that Taut started for it.
    pub group: Option<ClientProcess>,
}

pub(super) const LAPSED: &str = concat!(
    "SELECT ",
    queued!(),
    ", sessions.state, sessions.client_pid, sessions.client_started, attempts.group_pid, attempts.group_started
     FROM tasks INDEXED BY tasks_lapsing
       LEFT JOIN sessions ON sessions.id = tasks.session
       LEFT JOIN attempts ON attempts.task = tasks.row AND attempts.number = tasks.attempt
     WHERE tasks.status = 'active' AND tasks.lease_until <= ?1 ORDER BY tasks.lease_until LIMIT ?2"
);

const CLOCK: &str = "queue.clock";

/// A clock that went back would make a lease last as long as the jump.
const CLAMP: &str = "UPDATE tasks SET lease_until = ?1 + lease_ms, renewed_at = min(renewed_at, ?1)
    WHERE status = 'active' AND lease_until > ?1 + lease_ms AND shared = 0";

const GRANT: &str = "UPDATE tasks SET lease_until = ?1 WHERE status = 'active' AND lease_until < ?1";

impl Store {
    /// Tasks whose leases have run out, the longest ago first. To be judged
    /// outside a transaction: whether a process lives takes a look at the world.
    pub fn lapsed(&self, now: Ms, most: usize) -> Result<Vec<Lapsed>, Error> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let process = |pid: Option<u32>, started: Option<i64>| {
            pid.map(|pid| ClientProcess { pid, started: started.unwrap_or_default().cast_unsigned() })
        };
        self.read(|conn| {
            conn.prepare_cached(LAPSED)?
                .query_map(params![now.0, most], |row| {
                    Ok(Lapsed {
                        task: read(row)?,
                        tool_active: row.get::<_, Option<String>>(QUEUED)?.as_deref()
                            == Some(SessionState::ToolActive.name()),
                        client: process(row.get(QUEUED + 1)?, row.get(QUEUED + 2)?),
                        group: process(row.get(QUEUED + 3)?, row.get(QUEUED + 4)?),
                    })
                })?
                .collect()
        })
    }
}

impl Tx<'_> {
    /// The moment the queue was last looked after.
    pub fn last_moment(&self) -> Result<Option<ClockReading>, Error> {
        let text: Option<String> = self.verb(|conn| {
            conn.prepare_cached("SELECT value FROM meta WHERE name = ?1")?
                .query_row([CLOCK], |row| row.get(0))
                .optional()
        })?;
        Ok(text.and_then(|text| {
            let mut words = text.split(' ');
            let number = |word: Option<&str>| word.and_then(|word| word.parse().ok());
            Some(ClockReading {
                now: Ms(number(words.next())?),
                awake: number(words.next())?,
                boot: words.next().unwrap_or_default().to_string(),
            })
        }))
    }

    pub fn note_moment(&self, moment: &ClockReading) -> Result<(), Error> {
        let text = format!("{} {} {}", moment.now.0, moment.awake, moment.boot);
        self.verb(|conn| {
            conn.prepare_cached("INSERT OR REPLACE INTO meta (name, value) VALUES (?1, ?2)")?
                .execute(params![CLOCK, text])
                .map(drop)
        })
    }

    /// No live lease ends before this moment.
    pub fn grant_until(&self, until: Ms) -> Result<(), Error> {
        self.verb(|conn| conn.prepare_cached(GRANT)?.execute([until.0]).map(drop))
    }

    /// No lease lasts longer than it was given, wherever the clock went.
    pub fn clamp_leases(&self, now: Ms) -> Result<(), Error> {
        self.verb(|conn| conn.prepare_cached(CLAMP)?.execute([now.0]).map(drop))
    }
}
