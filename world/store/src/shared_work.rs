//! What a round with a server has to know of this machine: who is at work where, which queues are owed a word, and which
//! messages wait here for a conversation that is carried elsewhere.

use crate::messages::{self, columns};
use crate::outbox_messages::OutgoingMessage;
use crate::task_server::ServerTurn;
use crate::{Durability, Error, OutboxStanding, Store, Tx, outbox_messages};
use model::Ms;
use model::effort::{Addressee, MOST_OUTGOING, Message, RemoteAddressee};
use rusqlite::params;

/// A project in which a session is open, and the conversation that it carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenPlace {
    pub project: String,
    pub conversation: String,
}

/// What waits to be said, seen from one server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OwedAt {
    /// For this server.
    pub standing: OutboxStanding,
    /// Also for it, written by another version of Taut and to be said by that one.
    pub unreadable: i64,
    /// For other servers, whenever they are configured again.
    pub elsewhere: i64,
}

/// Somebody sends so many in one go at the most.
const MOST: usize = 1_000;

impl Store {
    /// A session in a folder that belongs to no project is in none of them.
    pub fn open_places(&self) -> Result<Vec<OpenPlace>, Error> {
        const OPEN: &str = "SELECT DISTINCT project, conversation FROM sessions
            WHERE ended_at IS NULL AND project IS NOT NULL LIMIT 1000";
        self.read(|conn| {
            let place = |row: &rusqlite::Row<'_>| Ok(OpenPlace { project: row.get(0)?, conversation: row.get(1)? });
            conn.prepare_cached(OPEN)?.query_map([], place)?.collect()
        })
    }

    /// Queues of this server in which agents of this machine hold something, or claimed something of which nobody heard, or
    /// of which a word is owed.
    pub fn queues_in_hand(&self, server: &str) -> Result<Vec<String>, Error> {
        const QUEUES: &str = "SELECT queue FROM shared_holds JOIN tasks ON tasks.row = task
              WHERE server = ?1 AND state = 'held' AND status = 'active'
            UNION SELECT queue FROM drawn_claims WHERE server = ?1
            UNION SELECT queue FROM outbox WHERE server = ?1 AND kind = 'turn' LIMIT 1000";
        self.read(|conn| conn.prepare_cached(QUEUES)?.query_map([server], |row| row.get(0))?.collect())
    }

    /// How many words wait for another server than this one.
    pub fn owed_elsewhere(&self, server: &str) -> Result<i64, Error> {
        const COUNT: &str = "SELECT count(*) FROM outbox WHERE server <> ?1";
        self.read(|conn| conn.prepare_cached(COUNT)?.query_row([server], |row| row.get(0)))
    }

    pub fn owed_at(&self, server: &str) -> Result<OwedAt, Error> {
        const ROWS: &str = "SELECT kind = 'turn', body, at FROM outbox WHERE server = ?1";
        let mut owed = OwedAt { elsewhere: self.owed_elsewhere(server)?, ..OwedAt::default() };
        self.read(|conn| {
            let mut statement = conn.prepare_cached(ROWS)?;
            let mut rows = statement.query([server])?;
            while let Some(row) = rows.next()? {
                let (is_turn, body): (bool, String) = (row.get(0)?, row.get(1)?);
                let standing = &mut owed.standing;
                let is_readable = match is_turn {
                    true => serde_json::from_str::<ServerTurn>(&body).is_ok(),
                    false => serde_json::from_str::<OutgoingMessage>(&body).is_ok(),
                };
                match (is_readable, is_turn) {
                    (false, _) => owed.unreadable += 1,
                    (true, true) => standing.turns += 1,
                    (true, false) => standing.messages += 1,
                }
                if is_readable {
                    let at = Ms(row.get(2)?);
                    standing.oldest = Some(standing.oldest.map_or(at, |oldest| oldest.min(at)));
                }
            }
            Ok(())
        })?;
        Ok(owed)
    }

    /// How many messages of other machines wait here to be told to this one.
    pub fn waiting_from_afar(&self, to: &Addressee) -> Result<i64, Error> {
        const AGENT: &str = "SELECT count(*) FROM (SELECT 1 FROM messages
            WHERE to_agent = ?1 AND delivered_at IS NULL AND instr(ifnull(from_agent, ''), '@') > 0 LIMIT 2000)";
        const CONVERSATION: &str = "SELECT count(*) FROM (SELECT 1 FROM messages
            WHERE to_conversation = ?1 AND delivered_at IS NULL AND instr(ifnull(from_agent, ''), '@') > 0 LIMIT 2000)";
        let (sql, name) = match to {
            Addressee::Agent(agent) => (AGENT, agent),
            Addressee::Conversation(conversation) => (CONVERSATION, conversation),
            Addressee::Remote(_) => return Ok(0),
        };
        self.read(|conn| conn.prepare_cached(sql)?.query_row([name], |row| row.get(0)))
    }

    /// Messages that wait here for one of these conversations, which no session of this machine carries.
    pub fn stranded_messages(&self, conversations: &[String]) -> Result<Vec<Message>, Error> {
        const FIND: &str = concat!(
            "SELECT ",
            columns!(),
            " FROM messages WHERE to_conversation = ?1 AND delivered_at IS NULL AND instr(ifnull(from_agent, ''), '@') = 0
              AND NOT EXISTS (SELECT 1 FROM sessions WHERE conversation = ?1 AND ended_at IS NULL) ORDER BY seq LIMIT 100"
        );
        self.read(|conn| {
            let mut found = Vec::new();
            let mut statement = conn.prepare_cached(FIND)?;
            for conversation in conversations.iter().take(MOST) {
                for row in statement.query_map([conversation], messages::read)? {
                    found.push(row?.1);
                }
            }
            Ok(found)
        })
    }

    /// They go to whichever machine carries their conversation, and wait here no more. How many.
    pub fn forward_messages(&mut self, server: &str, stranded: &[Message], now: Ms) -> Result<usize, Error> {
        const TAKEN: &str = "UPDATE messages SET delivered_at = ?2 WHERE id = ?1 AND delivered_at IS NULL";
        self.transact(Durability::Full, |tx| {
            tx.verb(|conn| {
                let mut forwarded = 0;
                let room = MOST_OUTGOING.saturating_sub(outbox_messages::count(conn)?);
                // The others wait where they are.
                for message in stranded.iter().take(usize::try_from(room).unwrap_or(usize::MAX)) {
                    let Some(Addressee::Conversation(name)) = &message.to else { continue };
                    if conn.prepare_cached(TAKEN)?.execute(params![message.id, now.0])? == 1 {
                        let (server, name) = (server.to_string(), name.clone());
                        let to = RemoteAddressee { server, machine: None, shown: name.clone(), name };
                        outbox_messages::put(conn, message, &to)?;
                        forwarded += 1;
                    }
                }
                Ok(forwarded)
            })
        })
    }
}

impl Tx<'_> {
    /// Whether anything waits to be said to a server. Costs a look at an empty table.
    pub fn owes_a_server(&self) -> Result<bool, Error> {
        const OWES: &str = "SELECT EXISTS (SELECT 1 FROM outbox)";
        self.verb(|conn| conn.prepare_cached(OWES)?.query_row([], |row| row.get(0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MessageFilter;
    use model::effect::Write;
    use model::effort::MemoryWrite;
    use std::time::Duration;

    fn message(id: &str, to: &str) -> Message {
        Message {
            id: id.into(),
            at: Ms(1),
            kind: "worker_done".into(),
            from_agent: Some("web".into()),
            to: Some(Addressee::Conversation(to.into())),
            session: None,
            body: "done".into(),
        }
    }

    #[test]
    fn f9_a_report_to_a_conversation_of_another_machine_is_sent_on_once_and_waits_here_no_more() {
        let home = tempfile::tempdir().unwrap();
        let mut store = Store::open(home.path(), Duration::ZERO).unwrap();
        let put = ["there", "nowhere"].map(|to| Write::Memory(MemoryWrite::Message(message(to, to))));
        store.transact(Durability::Full, |tx| tx.apply(&put)).unwrap();
        assert!(!store.transact(Durability::Normal, |tx| tx.owes_a_server()).unwrap());
        let stranded = store.stranded_messages(&["there".into()]).unwrap();
        assert_eq!(stranded, [message("there", "there")]);
        assert_eq!(store.forward_messages("srv", &stranded, Ms(5)).unwrap(), 1);
        assert_eq!(store.forward_messages("srv", &stranded, Ms(6)).unwrap(), 0, "once");
        assert!(store.stranded_messages(&["there".into()]).unwrap().is_empty());
        let out = store.outgoing_messages("srv", 10).unwrap();
        assert_eq!((out.len(), out[0].to_conversation.as_deref()), (1, Some("there")));
        let waiting = store.addressed_messages(&MessageFilter::default()).unwrap();
        assert_eq!(waiting.iter().map(|row| &*row.message.id).collect::<Vec<_>>(), ["nowhere"]);
        assert_eq!((store.owed_elsewhere("srv").unwrap(), store.owed_elsewhere("other").unwrap()), (0, 1));
        assert!(store.transact(Durability::Normal, |tx| tx.owes_a_server()).unwrap());
    }
    #[test]
    fn q6_what_is_for_another_server_or_of_another_version_is_counted_apart_from_what_this_one_is_owed() {
        let home = tempfile::tempdir().unwrap();
        let mut store = Store::open(home.path(), Duration::ZERO).unwrap();
        let turn = r#"{"id":1,"slug":"a","was":"active","attempt":1,"status":"done","retry_count":0,"failures":0,
            "releases":0,"step":0}"#;
        let rows = [
            ("srv", "turn", turn, 7),
            ("srv", "message", "{}", 5),
            ("srv", "turn", r#"{"later": 1}"#, 1),
            ("srv", "message", "7", 1),
            ("other", "turn", turn, 1),
        ];
        const PUT: &str = "INSERT INTO outbox (server, queue, kind, key, body, at) VALUES (?1, 'q', ?2, ?3, ?4, ?5)";
        let put = store.transact(Durability::Full, |tx| {
            let each = |(n, (server, kind, body, at)): (usize, (&str, &str, &str, i64))| {
                tx.verb(|conn| conn.execute(PUT, params![server, kind, n.to_string(), body, at]).map(drop))
            };
            rows.into_iter().enumerate().try_for_each(each)
        });
        put.unwrap();
        let standing = OutboxStanding { turns: 1, messages: 1, oldest: Some(Ms(5)) };
        assert_eq!(store.owed_at("srv").unwrap(), OwedAt { standing, unreadable: 2, elsewhere: 1 });
    }
}
