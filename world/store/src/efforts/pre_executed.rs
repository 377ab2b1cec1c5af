//! `taut` lines that a hook carried out before the process of that
//! line ran. The process finds its own words here and does nothing again.

use crate::{Durability, Error, Store};
use model::Ms;
use model::effort::{PreExecuted, Refused};
use rusqlite::{Connection, OptionalExtension, params};

/// A person may take this long to answer the client's own permission prompt.
const LIFE_MS: i64 = 10 * 60 * 1000;

const PUT: &str = "INSERT INTO errands (agent, project, words, at, said, refused, not_found)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";

/// Few at a time: forgetting is part of remembering the next.
const FORGET: &str = "DELETE FROM errands WHERE seq IN (SELECT seq FROM errands WHERE at < ?1 ORDER BY at LIMIT 8)";

const FIND: &str = "SELECT seq, said, refused, not_found FROM errands
    WHERE words = ?1 AND at >= ?2 AND collected = 0 AND project = ?3 AND (?4 IS NULL OR agent = ?4)
    ORDER BY at DESC, seq DESC LIMIT 1";

/// What was asked before and never collected is not to be found by a later process.
const COLLECT: &str = "UPDATE errands SET collected = 1
    WHERE words = (SELECT words FROM errands WHERE seq = ?1) AND seq <= ?1";

/// What a hook answered in a process's place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collected {
    pub output: String,
    pub refused: Option<Refused>,
}

pub(super) fn put(conn: &Connection, pre_executed: &PreExecuted) -> rusqlite::Result<()> {
    conn.prepare_cached(FORGET)?.execute([pre_executed.at.plus(-2 * LIFE_MS).0])?;
    let words = mark(&pre_executed.words, pre_executed.session.as_deref());
    let refused = pre_executed.refused.as_ref().map(Refused::why);
    let not_found = matches!(pre_executed.refused, Some(Refused::NotFound(_)));
    let row = params![
        pre_executed.agent, pre_executed.project, words, pre_executed.at.0, pre_executed.output, refused, not_found
    ];
    conn.prepare_cached(PUT)?.execute(row).map(drop)
}

/// A mark of the words and of the session that they were said in: they may hold
/// what must not be kept, and need only be told apart. FNV-1a from both ends.
fn mark(words: &[String], session: Option<&str>) -> String {
    let text = format!("{}\0\0{}", words.join("\0"), session.unwrap_or_default());
    let fold = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    let (ahead, back) =
        (text.bytes().fold(0xcbf2_9ce4_8422_2325, fold), text.bytes().rev().fold(0x8422_2325_cbf2_9ce4, fold));
    format!("{ahead:016x}{back:016x}")
}

fn find(
    conn: &Connection,
    words: &[String],
    whose: &PreExecutedKey<'_>,
    now: Ms,
) -> rusqlite::Result<Option<(i64, Collected)>> {
    conn.prepare_cached(FIND)?
        .query_row(params![mark(words, whose.session), now.plus(-LIFE_MS).0, whose.project, whose.agent], |row| {
            let refused: Option<String> = row.get(2)?;
            let kind = if row.get(3)? { Refused::NotFound } else { Refused::Failed };
            Ok((row.get(0)?, Collected { output: row.get(1)?, refused: refused.map(kind) }))
        })
        .optional()
}

/// The ids of the messages that a `taut inbox` has listed: kept, like what a process finds done, under its words.
pub(crate) fn listed(conn: &Connection, words: &[String], project: &str, now: Ms) -> rusqlite::Result<Vec<String>> {
    // The session is one of these words.
    let found = find(conn, words, &PreExecutedKey { project, agent: None, session: None }, now)?;
    Ok(found.map(|(_, listed)| listed.output.lines().map(str::to_string).collect()).unwrap_or_default())
}

impl Store {
    /// The newest pre_executed of these words that no process has collected yet. Where
    /// nothing can be written, as in a client's sandbox, it can still be read: the
    /// newest is then the one of the call that runs, and older ones are stale.
    pub fn collect_pre_executed(
        &mut self,
        words: &[String],
        whose: &PreExecutedKey<'_>,
        now: Ms,
    ) -> Result<Option<Collected>, Error> {
        let Some((seq, collected)) = self.read(|conn| find(conn, words, whose, now))? else { return Ok(None) };
        let _ = self
            .transact(Durability::Normal, |tx| tx.verb(|conn| conn.prepare_cached(COLLECT)?.execute([seq]).map(drop)));
        Ok(Some(collected))
    }
}

/// Whose pre_executed a process looks for.
#[derive(Debug, Clone, Copy)]
pub struct PreExecutedKey<'a> {
    pub project: &'a str,
    /// `None` where the process cannot tell: a sandbox may hide its client.
    pub agent: Option<&'a str>,
    /// The host's id of the session that the process runs in.
    pub session: Option<&'a str>,
}
