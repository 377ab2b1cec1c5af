//! Messages to agents of other machines that wait to be sent, in the order they were written. They go when the server
//! has them: what is sent twice is one message by its id.

use crate::{Durability, Error, Store};
use model::effort::{MOST_OUTGOING, Message, RemoteAddressee};
use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};

/// A message as the server is told of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OutgoingMessage {
    pub id: String,
    pub kind: String,
    /// What its sender is called on this machine.
    pub from_agent: Option<String>,
    pub to_machine: Option<String>,
    pub to_agent: Option<String>,
    pub to_conversation: Option<String>,
    pub body: String,
}

const PUT: &str =
    "INSERT INTO outbox (server, queue, kind, key, body, agent, at) VALUES (?1, '', 'message', ?2, ?3, ?4, ?5)
    ON CONFLICT DO NOTHING";

const WAITING: &str = "SELECT body FROM outbox WHERE kind = 'message' AND server = ?1 ORDER BY seq LIMIT ?2";

const SENT: &str = "DELETE FROM outbox WHERE kind = 'message' AND key = ?1";

const COUNT: &str = "SELECT count(*) FROM outbox WHERE kind = 'message'";

/// Whether as many wait as are kept. Who writes one more is told so.
pub(crate) fn is_full(conn: &Connection) -> rusqlite::Result<bool> {
    Ok(count(conn)? >= MOST_OUTGOING)
}

pub(crate) fn count(conn: &Connection) -> rusqlite::Result<u64> {
    conn.prepare_cached(COUNT)?.query_row([], |row| row.get::<_, i64>(0)).map(i64::cast_unsigned)
}

/// In the transaction of whoever writes it.
pub(crate) fn put(conn: &Connection, message: &Message, to: &RemoteAddressee) -> rusqlite::Result<()> {
    let from_agent = match &message.from_agent {
        Some(agent) => Some(crate::agent_names::own(conn, agent)?.unwrap_or_else(|| agent.clone())),
        None => None,
    };
    let is_agent = to.machine.is_some();
    let outgoing = OutgoingMessage {
        id: message.id.clone(),
        kind: message.kind.clone(),
        from_agent,
        to_machine: to.machine.clone(),
        to_agent: is_agent.then(|| to.name.clone()),
        to_conversation: (!is_agent).then(|| to.name.clone()),
        body: message.body.clone(),
    };
    let body = serde_json::to_string(&outgoing).unwrap_or_default();
    conn.prepare_cached(PUT)?.execute(params![to.server, message.id, body, message.from_agent, message.at.0]).map(drop)
}

impl Store {
    /// The oldest that wait for a server.
    pub fn outgoing_messages(&self, server: &str, most: usize) -> Result<Vec<OutgoingMessage>, Error> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let texts: Vec<String> = self
            .read(|conn| conn.prepare_cached(WAITING)?.query_map(params![server, most], |row| row.get(0))?.collect())?;
        Ok(texts.iter().filter_map(|text| serde_json::from_str(text).ok()).collect())
    }

    /// The server has them.
    pub fn messages_sent(&mut self, ids: &[String]) -> Result<(), Error> {
        self.transact(Durability::Normal, |tx| {
            tx.verb(|conn| {
                let mut sent = conn.prepare_cached(SENT)?;
                ids.iter().try_for_each(|id| sent.execute([id]).map(drop))
            })
        })
    }

    /// How many wait, for whichever server.
    pub fn outgoing_message_count(&self) -> Result<u64, Error> {
        self.read(count)
    }

    /// Whether as many wait as are kept.
    pub fn outbox_is_full(&self) -> Result<bool, Error> {
        self.read(is_full)
    }
}

#[cfg(test)]
mod tests;
