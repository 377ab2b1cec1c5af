//! What is to be said to a server and was not heard there yet: turns of tasks, in the order they were decided.

use crate::task_server::ServerTurn;
use crate::{Error, Store, Tx, messages};
use model::Ms;
use model::effort::{Addressee, Message};
use model::task::Queued;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::{Value, json};

/// A turn that waits to be sent.
#[derive(Debug, Clone, PartialEq)]
pub struct OwedTurn {
    pub seq: i64,
    /// The server's own id: no other is said it.
    pub server: String,
    pub queue: String,
    /// The claim whose attempt ends; with a word behind it for a correction.
    pub key: String,
    pub turn: ServerTurn,
    pub agent: Option<String>,
    pub at: Ms,
    pub tries: i64,
}

/// How much waits to be said, to whatever server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OutboxStanding {
    pub turns: i64,
    pub messages: i64,
    /// When the oldest of them was written.
    pub oldest: Option<Ms>,
}

/// A result that a server would not take.
#[derive(Debug, Clone, PartialEq)]
pub struct RefusedTurn {
    pub at: Ms,
    pub queue: String,
    pub slug: String,
    pub agent: Option<String>,
    pub attempt: i64,
    /// What the agent had said: done, failed, released.
    pub outcome: Option<String>,
    pub result: Option<Value>,
    pub why: String,
}

const PUT: &str =
    "INSERT INTO outbox (server, queue, kind, key, body, agent, at) VALUES (?1, ?2, 'turn', ?3, ?4, ?5, ?6)
    ON CONFLICT (kind, key) DO NOTHING";

/// Of one task in their order; else those first that were in vain least often, so that what cannot be said now is not what
/// every round begins with.
const IN_TURN: &str = "SELECT seq FROM (
      SELECT seq, max(tries) OVER (PARTITION BY iif(json_valid(body), body ->> '$.id', NULL) ORDER BY seq) AS tried
      FROM outbox WHERE server = ?1 AND queue = ?2 AND kind = 'turn')
    ORDER BY tried, seq";

// By number and not by age: a clock that jumps must not lose what somebody has still to read.
const BOUND: &str = "DELETE FROM refused_turns WHERE seq <= (SELECT max(seq) FROM refused_turns) - 1000";

pub(crate) fn put_turn(
    conn: &Connection,
    (server, queue): (&str, &str),
    (key, agent): (&str, Option<String>),
    (turn, at): (&ServerTurn, Ms),
) -> rusqlite::Result<()> {
    let body = serde_json::to_string(turn).unwrap_or_default();
    conn.prepare_cached(PUT)?.execute(params![server, queue, key, body, agent, at.0]).map(drop)
}

impl Tx<'_> {
    /// What is due to be said on this machine when the server has agreed to the end of the attempt that holds the task.
    /// Whether there is such a turn: the task may be one of this machine's own queue.
    pub fn report_when_heard(&self, task: &Queued, message: &Message) -> Result<bool, Error> {
        const REPORT: &str = "UPDATE outbox SET report = ?2 WHERE kind = 'turn'
            AND key = (SELECT claim FROM shared_holds WHERE task = ?1)";
        let text = to_text(message);
        self.verb(|conn| conn.prepare_cached(REPORT)?.execute(params![task.row, text]).map(|rows| rows == 1))
    }

    /// The server has taken the turn: it is owed no more, and what was due then is said.
    pub fn turn_heard(&self, seq: i64) -> Result<(), Error> {
        self.verb(|conn| {
            let report: Option<Option<String>> = conn
                .prepare_cached("DELETE FROM outbox WHERE seq = ?1 RETURNING report")?
                .query_row([seq], |row| row.get(0))
                .optional()?;
            match report.flatten().as_deref().and_then(from_text) {
                Some(message) => messages::put(conn, &message),
                None => Ok(()),
            }
        })
    }

    /// The server will never take it: it is owed no more, and the result stays readable. Whether it was owed still.
    pub fn turn_refused(&self, owed: &OwedTurn, why: &str, now: Ms) -> Result<bool, Error> {
        const KEEP: &str = "INSERT INTO refused_turns (at, queue, slug, agent, attempt, outcome, result, why)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        let OwedTurn { seq, queue, turn, agent, .. } = owed;
        self.verb(|conn| {
            if conn.prepare_cached("DELETE FROM outbox WHERE seq = ?1")?.execute([seq])? == 0 {
                return Ok(false);
            }
            let result = turn.result.as_ref().map(ToString::to_string);
            let row = params![now.0, queue, turn.slug, agent, turn.attempt, turn.outcome, result, why];
            conn.prepare_cached(KEEP)?.execute(row)?;
            conn.prepare_cached(BOUND)?.execute([])?;
            Ok(true)
        })
    }

    /// A result that was refused before the server was asked, because its lease was known to be over. Kept once.
    pub fn keep_refused(&self, late: &RefusedTurn) -> Result<(), Error> {
        const KEEP: &str = "INSERT INTO refused_turns (at, queue, slug, agent, attempt, outcome, result, why)
            SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8 WHERE NOT EXISTS
              (SELECT 1 FROM refused_turns WHERE queue = ?2 AND slug = ?3 AND attempt = ?5 AND outcome IS ?6)";
        let RefusedTurn { at, queue, slug, agent, attempt, outcome, result, why } = late;
        let result = result.as_ref().map(ToString::to_string);
        self.verb(|conn| {
            let row = params![at.0, queue, slug, agent, attempt, outcome, result, why];
            conn.prepare_cached(KEEP)?.execute(row)?;
            conn.prepare_cached(BOUND)?.execute([]).map(drop)
        })
    }

    pub fn turn_tried(&self, seq: i64) -> Result<(), Error> {
        const TRIED: &str = "UPDATE outbox SET tries = tries + 1 WHERE seq = ?1";
        self.verb(|conn| conn.prepare_cached(TRIED)?.execute([seq]).map(drop))
    }
}

impl Store {
    /// What of a queue this server is owed, as it is to be said.
    pub fn owed_in_turn(&self, server: &str, queue: &str) -> Result<Vec<i64>, Error> {
        self.read(|conn| conn.prepare_cached(IN_TURN)?.query_map([server, queue], |row| row.get(0))?.collect())
    }

    /// `None` where it is owed no more, or cannot be read here.
    pub fn owed_turn(&self, seq: i64) -> Result<Option<OwedTurn>, Error> {
        const ONE: &str = "SELECT seq, queue, key, body, agent, at, tries, server FROM outbox WHERE seq = ?1";
        self.read(|conn| {
            let found = conn.prepare_cached(ONE)?.query_row([seq], owed);
            if is_unreadable(&found) { Ok(None) } else { found.optional() }
        })
    }

    /// How many turns wait that another version of Taut wrote, and this one cannot read.
    pub fn unreadable_turns(&self) -> Result<usize, Error> {
        const ALL: &str = "SELECT seq, queue, key, body, agent, at, tries, server FROM outbox WHERE kind = 'turn'";
        self.read(|conn| Ok(conn.prepare_cached(ALL)?.query_map([], owed)?.filter(is_unreadable).count()))
    }

    /// The end of this claim's attempt, where the server has not heard of it.
    pub fn owed_for(&self, claim: &str) -> Result<Option<OwedTurn>, Error> {
        const ONE: &str =
            "SELECT seq, queue, key, body, agent, at, tries, server FROM outbox WHERE kind = 'turn' AND key = ?1";
        self.read(|conn| conn.prepare_cached(ONE)?.query_row([claim], owed).optional())
    }

    pub fn outbox_standing(&self) -> Result<OutboxStanding, Error> {
        const STANDING: &str = "SELECT count(*) FILTER (WHERE kind = 'turn'), count(*) FILTER (WHERE kind = 'message'),
            min(at) FROM outbox";
        self.read(|conn| {
            conn.prepare_cached(STANDING)?.query_row([], |row| {
                let oldest = row.get::<_, Option<i64>>(2)?.map(Ms);
                Ok(OutboxStanding { turns: row.get(0)?, messages: row.get(1)?, oldest })
            })
        })
    }

    /// The newest first.
    pub fn refused_turns(&self) -> Result<Vec<RefusedTurn>, Error> {
        const LIST: &str = "SELECT at, queue, slug, agent, attempt, outcome, result, why FROM refused_turns
            ORDER BY seq DESC LIMIT 1000";
        self.read(|conn| {
            let refused = |row: &Row<'_>| {
                Ok(RefusedTurn {
                    at: Ms(row.get(0)?),
                    queue: row.get(1)?,
                    slug: row.get(2)?,
                    agent: row.get(3)?,
                    attempt: row.get(4)?,
                    outcome: row.get(5)?,
                    result: row.get::<_, Option<String>>(6)?.and_then(|text| serde_json::from_str(&text).ok()),
                    why: row.get(7)?,
                })
            };
            conn.prepare_cached(LIST)?.query_map([], refused)?.collect()
        })
    }
}

fn owed(row: &Row<'_>) -> rusqlite::Result<OwedTurn> {
    let body: String = row.get(3)?;
    let turn = serde_json::from_str(&body)
        .map_err(|cause| rusqlite::Error::FromSqlConversionFailure(3, rusqlite::types::Type::Text, Box::new(cause)))?;
    Ok(OwedTurn {
        seq: row.get(0)?,
        queue: row.get(1)?,
        key: row.get(2)?,
        turn,
        agent: row.get(4)?,
        at: Ms(row.get(5)?),
        tries: row.get(6)?,
        server: row.get(7)?,
    })
}

fn is_unreadable(row: &rusqlite::Result<OwedTurn>) -> bool {
    matches!(row, Err(rusqlite::Error::FromSqlConversionFailure(..)))
}

fn to_text(message: &Message) -> String {
    let Message { id, at, kind, from_agent, to, session, body } = message;
    let (agent, conversation) = match to {
        Some(Addressee::Agent(name)) => (Some(name), None),
        Some(Addressee::Conversation(name)) => (None, Some(name)),
        // Reports are to whoever started the worker, which is on this machine.
        Some(Addressee::Remote(_)) | None => (None, None),
    };
    json!({"id": id, "at": at.0, "kind": kind, "from": from_agent, "agent": agent, "conversation": conversation,
        "session": session, "body": body})
    .to_string()
}

fn from_text(text: &str) -> Option<Message> {
    let value: Value = serde_json::from_str(text).ok()?;
    let word = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_string);
    Some(Message {
        id: word("id")?,
        at: Ms(value.get("at")?.as_i64()?),
        kind: word("kind")?,
        from_agent: word("from"),
        to: word("agent").map(Addressee::Agent).or(word("conversation").map(Addressee::Conversation)),
        session: word("session"),
        body: word("body")?,
    })
}

#[cfg(test)]
mod tests;
