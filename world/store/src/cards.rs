//! Cards: what agents ask of a person while a process holds it open. A card goes
//! forward only, each step under a comparison: of two who answer, one is told
//! that it was answered.

use crate::{Durability, Error, Store, Tx};
use model::card::{ActionPlace, AnsweredBy, Card, CardAnswer, CardKind, CardState};
use model::{ClientProcess, Ms};
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::Serialize;

/// Which cards to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CardFilter {
    pub agent: Option<String>,
    pub session: Option<String>,
    /// Those that are over too.
    pub over: bool,
    /// At most so many, the newest; zero means all.
    pub limit: usize,
}

const COLUMNS: &str =
    "id, at, session, agent, project, dialect, client_pid, client_started, holder_pid, holder_started,
    kind, tool, digest, shown, state, answer, answered_by, answered_where, answered_at, ended_at";

const PUT: &str = "INSERT INTO cards (id, at, session, agent, project, dialect, client_pid, client_started, holder_pid,
      holder_started, kind, tool, digest, shown, state)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, 'open')";

const ANSWER: &str = "UPDATE cards SET state = 'answered', answer = ?3, answered_by = ?4, answered_where = ?5,
      answered_at = ?6 WHERE id = ?1 AND state = 'open' AND digest = ?2";

const STEP: &str = "UPDATE cards SET state = ?3, ended_at = ?4 WHERE id = ?1 AND state = ?2";

impl Store {
    pub fn open_card(&mut self, card: &Card) -> Result<(), Error> {
        self.transact(Durability::Normal, |tx| tx.verb(|conn| put(conn, card)))
    }

    pub fn card(&self, id: &str) -> Result<Option<Card>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM cards WHERE id = ?1");
        self.read(|conn| conn.prepare_cached(&sql)?.query_row([id], read).optional())
    }

    /// The oldest first: who waits longest is answered first.
    pub fn cards(&self, wanted: &CardFilter) -> Result<Vec<Card>, Error> {
        // Named, so that the many that are over are not looked at by who wants those that are not.
        let which = if wanted.over { "1" } else { "ended_at IS NULL" };
        let sql = format!(
            "SELECT * FROM (SELECT {COLUMNS} FROM cards WHERE {which} AND (?1 IS NULL OR agent = ?1)
             AND (?2 IS NULL OR session = ?2) ORDER BY at DESC, id DESC LIMIT ?3) ORDER BY at, id"
        );
        let most = if wanted.limit == 0 { i64::MAX } else { i64::try_from(wanted.limit).unwrap_or(i64::MAX) };
        let values = params![wanted.agent, wanted.session, most];
        self.read(|conn| conn.prepare_cached(&sql)?.query_map(values, read)?.collect())
    }

    /// Whether the answer is the one that counts: the card was open, and is of this input.
    pub fn answer_card(
        &mut self,
        (id, digest): (&str, &str),
        answer: &CardAnswer,
        by: &AnsweredBy,
    ) -> Result<bool, Error> {
        self.transact(Durability::Full, |tx| tx.answer_card((id, digest), answer, by))
    }

    /// Whether the card went from the one state to the other, by this call and no other.
    pub fn step_card(&mut self, id: &str, from: CardState, to: CardState, now: Ms) -> Result<bool, Error> {
        self.transact(Durability::Normal, |tx| tx.verb(|conn| step(conn, id, (from, to), now)))
    }
}

impl Tx<'_> {
    /// Like [`Store::answer_card`], together with what else the answer writes.
    pub fn answer_card(&self, (id, digest): (&str, &str), answer: &CardAnswer, by: &AnsweredBy) -> Result<bool, Error> {
        let values = params![id, digest, text(answer), by.user, by.place.name(), by.at.0];
        self.verb(|conn| Ok(conn.prepare_cached(ANSWER)?.execute(values)? == 1))
    }
}

/// Those of a session that are not over, the oldest first: for a session without any, one look into an index.
pub(crate) fn waiting(conn: &Connection, session: &str) -> rusqlite::Result<Vec<Card>> {
    let sql = format!("SELECT {COLUMNS} FROM cards WHERE ended_at IS NULL AND session = ?1 ORDER BY at, id");
    conn.prepare_cached(&sql)?.query_map([session], read)?.collect()
}

pub(crate) fn step(conn: &Connection, id: &str, (from, to): (CardState, CardState), now: Ms) -> rusqlite::Result<bool> {
    let ended = to.is_over().then_some(now.0);
    Ok(conn.prepare_cached(STEP)?.execute(params![id, from.name(), to.name(), ended])? == 1)
}

fn put(conn: &Connection, card: &Card) -> rusqlite::Result<()> {
    let values = params![
        card.id,
        card.at.0,
        card.session,
        card.agent,
        card.project,
        card.dialect,
        card.client.pid,
        card.client.started.cast_signed(),
        card.holder.pid,
        card.holder.started.cast_signed(),
        card.kind.name(),
        card.tool,
        card.digest,
        text(&card.shown),
    ];
    conn.prepare_cached(PUT)?.execute(values).map(drop)
}

fn read(row: &Row<'_>) -> rusqlite::Result<Card> {
    let process = |pid: usize| {
        Ok::<_, rusqlite::Error>(ClientProcess {
            pid: row.get(pid)?,
            started: row.get::<_, i64>(pid + 1)?.cast_unsigned(),
        })
    };
    let column = |at: usize| row.get::<_, String>(at);
    let unknown = |at: usize, what: String| {
        rusqlite::Error::FromSqlConversionFailure(at, Type::Text, format!("unknown: {what}").into())
    };
    let place = row.get::<_, Option<String>>(17)?;
    let answered = match (row.get::<_, Option<String>>(16)?, place, row.get::<_, Option<i64>>(18)?) {
        (Some(user), Some(place), Some(at)) => {
            Some(AnsweredBy { user, place: ActionPlace::parse(&place).ok_or_else(|| unknown(17, place))?, at: Ms(at) })
        }
        _ => None,
    };
    Ok(Card {
        id: column(0)?,
        at: Ms(row.get(1)?),
        session: column(2)?,
        agent: column(3)?,
        project: row.get(4)?,
        dialect: column(5)?,
        client: process(6)?,
        holder: process(8)?,
        kind: CardKind::parse(&column(10)?).ok_or_else(|| unknown(10, column(10).unwrap_or_default()))?,
        tool: column(11)?,
        digest: column(12)?,
        shown: serde_json::from_str(&column(13)?).unwrap_or_default(),
        state: CardState::parse(&column(14)?).ok_or_else(|| unknown(14, column(14).unwrap_or_default()))?,
        answer: row.get::<_, Option<String>>(15)?.and_then(|text| serde_json::from_str(&text).ok()),
        answered,
        ended_at: row.get::<_, Option<i64>>(19)?.map(Ms),
    })
}

fn text(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
