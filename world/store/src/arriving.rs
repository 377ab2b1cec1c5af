//! Messages on their way in. Each is kept here first, then the server is told that this machine takes it, and only what
//! it says is ours moves on to where hooks tell it: once, on one machine.

use crate::{Durability, Error, SettledAnswer, Store, messages, remote_answers};
use model::Ms;
use model::effort::{Addressee, Message};
use model::remote_card::{ANSWER, ANSWER_FATE};
use rusqlite::{Connection, OptionalExtension, params};
use serde::{Deserialize, Serialize};

/// A message as a server told of it, cleaned and bounded by who asked it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArrivingMessage {
    pub id: String,
    pub kind: String,
    /// Who wrote it, with the machine: `api@vm-3`.
    pub from: String,
    pub to_agent: Option<String>,
    pub to_conversation: Option<String>,
    pub body: String,
}

const PUT: &str = "INSERT INTO arriving_messages (id, server, body) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
const FIND: &str = "SELECT body FROM arriving_messages WHERE id = ?1 AND server = ?2";
const GONE: &str = "DELETE FROM arriving_messages WHERE id = ?1 AND server = ?2";

impl Store {
    /// Keeps what was seen on a server, before that is told that it is taken.
    pub fn put_arriving(&mut self, server: &str, messages: &[ArrivingMessage]) -> Result<(), Error> {
        self.transact(Durability::Full, |tx| {
            tx.verb(|conn| {
                let mut put = conn.prepare_cached(PUT)?;
                for message in messages {
                    put.execute(params![message.id, server, serde_json::to_string(message).unwrap_or_default()])?;
                }
                Ok(())
            })
        })
    }

    /// Those of which it is not known yet whether they are ours.
    pub fn arriving(&self, server: &str, most: usize) -> Result<Vec<String>, Error> {
        const LIST: &str = "SELECT id FROM arriving_messages WHERE server = ?1 ORDER BY seq LIMIT ?2";
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        self.read(|conn| conn.prepare_cached(LIST)?.query_map(params![server, most], |row| row.get(0))?.collect())
    }

    /// Of those that were asked about the server says that these are ours: they wait for whom they are for from now on.
    /// The others went to another machine. How many there are.
    pub fn settle_arriving(
        &mut self,
        server: &str,
        asked: &[String],
        ours: &[String],
        now: Ms,
    ) -> Result<usize, Error> {
        self.transact(Durability::Full, |tx| {
            tx.verb(|conn| {
                let mut moved = 0;
                for id in asked {
                    if ours.contains(id) {
                        moved += usize::from(move_one(conn, server, id, now)?);
                    }
                    conn.prepare_cached(GONE)?.execute([id, server])?;
                }
                Ok(moved)
            })
        })
    }

    /// Conversations that sessions of this machine carry now.
    pub fn open_conversations(&self) -> Result<Vec<String>, Error> {
        const OPEN: &str = "SELECT DISTINCT conversation FROM sessions WHERE ended_at IS NULL LIMIT 1000";
        self.read(|conn| conn.prepare_cached(OPEN)?.query_map([], |row| row.get(0))?.collect())
    }
}

fn move_one(conn: &Connection, server: &str, id: &str, now: Ms) -> rusqlite::Result<bool> {
    let found: Option<String> = conn.prepare_cached(FIND)?.query_row([id, server], |row| row.get(0)).optional()?;
    let Some(one) = found.and_then(|text| serde_json::from_str::<ArrivingMessage>(&text).ok()) else {
        return Ok(false);
    };
    // No message for an agent: a person's answer to what one asks, or word of such.
    if let ANSWER | ANSWER_FATE = one.kind.as_str() {
        let ArrivingMessage { id, kind, body, .. } = one;
        remote_answers::settle(conn, &SettledAnswer { id, server: server.to_string(), kind, body })?;
        return Ok(true);
    }
    let to = one.to_agent.map(Addressee::Agent).or(one.to_conversation.map(Addressee::Conversation));
    let message = Message {
        id: one.id,
        at: now,
        kind: one.kind,
        from_agent: Some(one.from).filter(|from| !from.is_empty()),
        to,
        session: None,
        body: one.body,
    };
    messages::put(conn, &message)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MessageFilter;
    use std::time::Duration;

    fn arriving(id: &str) -> ArrivingMessage {
        ArrivingMessage {
            id: id.into(),
            kind: "note".into(),
            from: "api@vm-3".into(),
            to_agent: Some("web".into()),
            to_conversation: None,
            body: format!("text of {id}"),
        }
    }

    #[test]
    fn f9_a_message_is_moved_once_however_often_it_arrives_and_only_where_it_is_ours() {
        let home = tempfile::tempdir().unwrap();
        let mut store = Store::open(home.path(), Duration::ZERO).unwrap();
        let ids = ["b", "a"].map(String::from);
        for _ in 0..3 {
            // As after a death between any two of these steps.
            store.put_arriving("srv", &[arriving("b"), arriving("a")]).unwrap();
            store.put_arriving("srv", &[arriving("a")]).unwrap();
            assert_eq!(store.arriving("srv", 10).unwrap(), ids, "in the server's order");
            assert!(store.arriving("another", 10).unwrap().is_empty());
            store.settle_arriving("srv", &ids, &ids[1..], Ms(5)).unwrap();
            assert!(store.arriving("srv", 10).unwrap().is_empty());
        }
        let told = store.addressed_messages(&MessageFilter::default()).unwrap();
        let told: Vec<_> = told.iter().map(|row| (&*row.message.id, row.message.from_agent.as_deref())).collect();
        assert_eq!(told, [("a", Some("api@vm-3"))]);
    }
}
