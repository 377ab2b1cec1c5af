//! Idle sessions that messages wait for, and how often they were woken.

use crate::{Durability, Error, Store, agents, sessions};
use model::Ms;
use model::fleet::WORKER_NOTICES;
use model::row::AgentStatus;
use model::session::{Session, Woken};
use rusqlite::{Connection, params};
use std::collections::HashSet;

/// A session that could be woken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WakeCandidate {
    pub session: Session,
    pub status: Option<AgentStatus>,
    /// How many messages wait for it.
    pub messages: u64,
    /// When it was last woken for any of them.
    pub woken_at: Option<Ms>,
    /// How often it was woken for the one it was woken for least.
    pub wakes: u32,
}

/// Open sessions at rest for whose agent or conversation something waits. Whether its terminal can be typed into is found out
/// by whoever does it.
/// A second client under a name is never woken: what waits is the first's.
const CANDIDATES: &str = "SELECT id FROM sessions
    WHERE ended_at IS NULL AND state = 'idle' AND parent IS NULL
      AND (agent IN (SELECT to_agent FROM messages WHERE delivered_at IS NULL)
        OR conversation IN (SELECT to_conversation FROM messages
          WHERE delivered_at IS NULL AND to_conversation IS NOT NULL))
    ORDER BY row DESC";

const WAITING: &str = "SELECT count(*), max(woken_at), coalesce(min(wakes), 0) FROM messages
    WHERE delivered_at IS NULL AND (to_agent = ?1 OR to_conversation = ?2) AND instr(?3, ' ' || kind || ' ') = 0
      AND COALESCE(dialect, ?4, '') = COALESCE(?4, dialect, '')";

const WOKEN: &str = "UPDATE messages SET woken_at = ?3, wakes = wakes + 1
    WHERE delivered_at IS NULL AND (to_agent = ?1 OR to_conversation = ?2)
      AND COALESCE(dialect, ?4, '') = COALESCE(?4, dialect, '')";

impl Store {
    /// Sessions that are open and idle while messages wait for them.
    /// Of several that carry one conversation, the newest.
    pub fn wakeable(&self) -> Result<Vec<WakeCandidate>, Error> {
        self.read(|conn| {
            let ids: Vec<String> =
                conn.prepare_cached(CANDIDATES)?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
            let candidates = ids.iter().map(|id| match sessions::by_id(conn, id)? {
                Some(session) => candidate(conn, session).map(Some),
                None => Ok(None),
            });
            let mut found: Vec<WakeCandidate> = candidates.filter_map(Result::transpose).collect::<Result<_, _>>()?;
            found.retain(|one| one.messages > 0);
            let mut seen = HashSet::new();
            found.retain(|one| seen.insert(one.session.conversation.clone()));
            Ok(found)
        })
    }

    /// Its session was woken for everything that waits for it now. The session
    /// remembers it too: the messages forget it with their delivery.
    pub fn woken(&mut self, session: &Session, woken: Woken) -> Result<(), Error> {
        self.transact(Durability::Normal, |tx| {
            tx.verb(|conn| {
                let Session { agent, conversation, memo, .. } = session;
                conn.prepare_cached(WOKEN)?.execute(params![agent, conversation, woken.at.0, memo.dialect])?;
                let Some(mut stored) = sessions::by_id(conn, &session.id)? else { return Ok(()) };
                stored.memo.woken = Some(woken);
                sessions::put(conn, &stored)
            })
        })
    }
}

/// A session in the background is not woken for what came of its workers: it is not shown that.
fn candidate(conn: &Connection, session: Session) -> rusqlite::Result<WakeCandidate> {
    let background = session.mode.as_deref() == Some("background");
    let unshown = if background { format!(" {} ", WORKER_NOTICES.join(" ")) } else { String::new() };
    let status = agents::load(conn, &session.agent)?.map(|agent| agent.status);
    let waits = params![session.agent, session.conversation, unshown, session.memo.dialect];
    let (messages, woken_at, wakes) = conn.prepare_cached(WAITING)?.query_row(waits, |row| {
        Ok((row.get::<_, i64>(0)?.cast_unsigned(), row.get::<_, Option<i64>>(1)?.map(Ms), row.get(2)?))
    })?;
    Ok(WakeCandidate { session, status, messages, woken_at, wakes })
}
