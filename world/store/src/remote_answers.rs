//! Answers to cards over machines: those that came and are to be judged, those that were sent from here and what became of
//! them, and the machines whose answers count.

use crate::{Durability, Error, Store, Tx};
use model::Ms;
use model::remote_card::AnswerFate;
use rusqlite::{Connection, OptionalExtension, Row, params};

/// An answer, or word of one, that is for this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettledAnswer {
    pub id: String,
    /// The server it came over, by that server's own id.
    pub server: String,
    pub kind: String,
    pub body: String,
}

/// An answer that was given here to a card of another machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentAnswer {
    pub nonce: String,
    pub card: String,
    pub machine: String,
    /// As people write it: `api@vm-3`.
    pub agent: String,
    pub at: Ms,
    /// What its machine said: whether it was taken, and in which words. `None` until then.
    pub fate: Option<(bool, String)>,
}

/// A machine whose people's answers count here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedMachine {
    pub machine: String,
    /// What it was called when somebody said so.
    pub label: String,
    /// Its public key.
    pub key: String,
    /// Who said so.
    pub user: String,
    pub at: Ms,
}

/// Nobody looks for an answer of so long ago.
const KEPT_MS: i64 = 30 * 86_400_000;

/// In the transaction in which the message is settled.
pub(crate) fn settle(conn: &Connection, answer: &SettledAnswer) -> rusqlite::Result<()> {
    const PUT: &str =
        "INSERT INTO settled_answers (id, server, kind, body) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING";
    let SettledAnswer { id, server, kind, body } = answer;
    conn.prepare_cached(PUT)?.execute([id, server, kind, body]).map(drop)
}

impl Tx<'_> {
    /// With the message that carries it.
    pub fn note_sent_answer(&self, sent: &SentAnswer) -> Result<(), Error> {
        const PUT: &str = "INSERT INTO sent_answers (nonce, card, machine, agent, at) VALUES (?1, ?2, ?3, ?4, ?5)";
        const OLD: &str = "DELETE FROM sent_answers WHERE at < ?1";
        self.verb(|conn| {
            conn.prepare_cached(OLD)?.execute([sent.at.plus(-KEPT_MS).0])?;
            let row = params![sent.nonce, sent.card, sent.machine, sent.agent, sent.at.0];
            conn.prepare_cached(PUT)?.execute(row).map(drop)
        })
    }

    /// It has been judged.
    pub fn forget_settled_answer(&self, id: &str) -> Result<(), Error> {
        const GONE: &str = "DELETE FROM settled_answers WHERE id = ?1";
        self.verb(|conn| conn.prepare_cached(GONE)?.execute([id]).map(drop))
    }

    /// What another machine says of an answer from here; of one that nobody here gave, nothing.
    pub fn note_answer_fate(&self, fate: &AnswerFate) -> Result<(), Error> {
        const SAID: &str =
            "UPDATE sent_answers SET taken = ?3, said = ?4 WHERE nonce = ?1 AND card = ?2 AND taken IS NULL";
        let row = params![fate.nonce, fate.card, fate.taken, fate.said];
        self.verb(|conn| conn.prepare_cached(SAID)?.execute(row).map(drop))
    }
}

impl Store {
    /// The oldest of what came and is to be judged.
    pub fn settled_answers(&self, most: usize) -> Result<Vec<SettledAnswer>, Error> {
        const LIST: &str = "SELECT id, server, kind, body FROM settled_answers ORDER BY seq LIMIT ?1";
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let read = |row: &Row<'_>| {
            Ok(SettledAnswer { id: row.get(0)?, server: row.get(1)?, kind: row.get(2)?, body: row.get(3)? })
        };
        self.read(|conn| conn.prepare_cached(LIST)?.query_map([most], read)?.collect())
    }

    pub fn sent_answer(&self, nonce: &str) -> Result<Option<SentAnswer>, Error> {
        const FIND: &str = "SELECT nonce, card, machine, agent, at, taken, said FROM sent_answers WHERE nonce = ?1";
        self.read(|conn| conn.prepare_cached(FIND)?.query_row([nonce], sent).optional())
    }

    /// Cards of other machines that were answered from here, and of which nothing was said since.
    pub fn cards_on_their_way(&self) -> Result<Vec<String>, Error> {
        const LIST: &str = "SELECT DISTINCT card FROM sent_answers WHERE taken IS NULL";
        self.read(|conn| conn.prepare_cached(LIST)?.query_map([], |row| row.get(0))?.collect())
    }

    /// By what they are called.
    pub fn trusted_machines(&self) -> Result<Vec<TrustedMachine>, Error> {
        const LIST: &str = "SELECT machine, label, key, user, at FROM trusted_machines ORDER BY label, machine";
        let read = |row: &Row<'_>| {
            let (machine, label, key, user) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
            Ok(TrustedMachine { machine, label, key, user, at: Ms(row.get(4)?) })
        };
        self.read(|conn| conn.prepare_cached(LIST)?.query_map([], read)?.collect())
    }

    /// Its people's answers count from now on.
    pub fn trust_machine(&mut self, one: &TrustedMachine) -> Result<(), Error> {
        const PUT: &str =
            "INSERT OR REPLACE INTO trusted_machines (machine, label, key, user, at) VALUES (?1, ?2, ?3, ?4, ?5)";
        let row = params![one.machine, one.label, one.key, one.user, one.at.0];
        self.transact(Durability::Full, |tx| tx.verb(|conn| conn.execute(PUT, row).map(drop)))
    }

    /// They count no more. Whether they did.
    pub fn distrust_machine(&mut self, machine: &str) -> Result<bool, Error> {
        const GONE: &str = "DELETE FROM trusted_machines WHERE machine = ?1";
        self.transact(Durability::Full, |tx| tx.verb(|conn| Ok(conn.execute(GONE, [machine])? == 1)))
    }
}

fn sent(row: &Row<'_>) -> rusqlite::Result<SentAnswer> {
    let fate = row.get::<_, Option<bool>>(5)?.zip(row.get::<_, Option<String>>(6)?);
    let (nonce, card, machine, agent) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
    Ok(SentAnswer { nonce, card, machine, agent, at: Ms(row.get(4)?), fate })
}
