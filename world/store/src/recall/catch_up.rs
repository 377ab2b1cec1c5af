//! Catching up: rows that were stored since the last look become entries, in
//! steps that each stand for themselves. Who is killed in between, or works beside
//! another, repeats at most a step, and a row that was read twice is one entry.

use super::RecallIndex;
use super::entry::{Entry, RecallKind, digest};
use super::identifier;
use super::open::is_unusable;
use super::sources::{SOURCES, SourceBatch};
use crate::{Error, Store};
use model::Ms;
use rusqlite::{Connection, OptionalExtension, params};
use std::time::{Duration, Instant};

/// What stands for no project where it is asked whether the memory of one is on.
const NO_PROJECT: &str = "/";

/// The word for what holds in every project.
pub(super) const FOR_ALL: &str = "pall";

/// So many entries at once are forgotten for their age.
const FORGET_STEP: i64 = 500;

/// What came of catching up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CatchUp {
    pub added: u64,
    /// Rows that are not yet read: time was up, or somebody else is at it.
    pub behind: u64,
    /// Of a search: older texts were not looked through letter by letter.
    pub scanned_in_part: bool,
}

impl RecallIndex {
    /// Reads what was stored since the last time, for so long at the most. `is_on` says of
    /// a project's path, or of `/` for what belongs to none, whether its memory is on.
    pub fn catch_up(
        &mut self,
        store: &Store,
        is_on: &mut dyn FnMut(&str) -> bool,
        limit: Duration,
    ) -> Result<CatchUp, Error> {
        match self.try_catch_up(store, is_on, limit) {
            Err(error) if is_unusable(&error) => {
                self.start_over()?;
                self.try_catch_up(store, is_on, limit)
            }
            other => other,
        }
    }

    /// Forgets entries older than that, in small steps, for so long at the most. Whether none is left.
    /// A fact holds as long as it stands in its file.
    pub fn forget_older(&mut self, than: Ms, limit: Duration) -> Result<bool, Error> {
        const OLD: &str = "SELECT id FROM entries WHERE at < ?1 AND kind <> 'fact' ORDER BY at LIMIT ?2";
        let until = Instant::now() + limit;
        loop {
            let gone = self.write(|conn| {
                let old: Vec<i64> = conn
                    .prepare_cached(OLD)?
                    .query_map([than.0, FORGET_STEP], |row| row.get(0))?
                    .collect::<Result<_, _>>()?;
                old.iter().try_for_each(|id| remove(conn, *id))?;
                Ok(old.len())
            })?;
            if gone == 0 {
                return Ok(true);
            }
            if Instant::now() >= until {
                return Ok(false);
            }
        }
    }

    fn try_catch_up(
        &mut self,
        store: &Store,
        is_on: &mut dyn FnMut(&str) -> bool,
        limit: Duration,
    ) -> Result<CatchUp, Error> {
        let until = Instant::now() + limit;
        let mut done = CatchUp::default();
        if self.read_only {
            return Ok(CatchUp { behind: self.behind(store)?, ..done });
        }
        match self.read_all(store, is_on, until, &mut done) {
            // Somebody else is at it.
            Ok(()) | Err(Error::Busy { .. }) => {}
            Err(error) => return Err(error),
        }
        done.behind = self.behind(store)?;
        Ok(done)
    }

    fn read_all(
        &self,
        store: &Store,
        is_on: &mut dyn FnMut(&str) -> bool,
        until: Instant,
        done: &mut CatchUp,
    ) -> Result<(), Error> {
        self.switch_projects(is_on)?;
        for source in SOURCES {
            let again = source.changed(store)?;
            done.added += self.write(|conn| put_all(conn, &again, is_on))?;
            while Instant::now() < until {
                let from = self.read(|conn| cursor(conn, source.name))?;
                let batch = source.after(store, from.clone())?;
                let Some((seq, mark)) = batch.last.clone() else { break };
                done.added += self.write(|conn| {
                    // Another process has read them meanwhile: its cursor stands, and the same rows are not gone through twice.
                    if cursor(conn, source.name)? != from {
                        return Ok(0);
                    }
                    let added = put_all(conn, &batch, is_on)?;
                    move_cursor(conn, source.name, (seq, &mark))?;
                    Ok(added)
                })?;
                if !batch.full {
                    break;
                }
            }
        }
        Ok(())
    }

    /// How many rows of the memory have not been read yet.
    pub fn behind(&self, store: &Store) -> Result<u64, Error> {
        let mut behind = 0;
        for source in SOURCES {
            let from = self.read(|conn| cursor(conn, source.name))?;
            behind += source.behind(store, from.map_or(0, |(seq, _)| seq))?;
        }
        Ok(behind)
    }

    /// What was entered before its project's memory was switched off is not shown while it is.
    fn switch_projects(&self, is_on: &mut dyn FnMut(&str) -> bool) -> Result<(), Error> {
        const ALL: &str = "SELECT id, path, off FROM projects";
        let known: Vec<(i64, String, bool)> = self.read(|conn| {
            conn.prepare_cached(ALL)?.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?.collect()
        })?;
        let turned: Vec<(i64, bool)> = known
            .into_iter()
            .map(|(id, path, was)| (id, was, !is_on(&path)))
            .filter(|(_, was, off)| was != off)
            .map(|(id, _, off)| (id, off))
            .collect();
        if turned.is_empty() {
            return Ok(());
        }
        self.write(|conn| {
            turned.iter().try_for_each(|(id, off)| {
                conn.prepare_cached("UPDATE projects SET off = ?2 WHERE id = ?1")?.execute(params![id, off]).map(drop)
            })
        })
    }
}

pub(super) fn cursor(conn: &Connection, source: &str) -> rusqlite::Result<Option<(i64, String)>> {
    const FIND: &str = "SELECT seq, mark FROM cursors WHERE source = ?1";
    conn.prepare_cached(FIND)?.query_row([source], |row| Ok((row.get(0)?, row.get(1)?))).optional()
}

pub(super) fn move_cursor(conn: &Connection, source: &str, to: (i64, &str)) -> rusqlite::Result<()> {
    const MOVE: &str = "INSERT OR REPLACE INTO cursors (source, seq, mark) VALUES (?1, ?2, ?3)";
    conn.prepare_cached(MOVE)?.execute(params![source, to.0, to.1]).map(drop)
}

fn put_all(conn: &Connection, batch: &SourceBatch, is_on: &mut dyn FnMut(&str) -> bool) -> rusqlite::Result<u64> {
    let mut added = 0;
    for entry in &batch.entries {
        if is_on(entry.project.as_deref().unwrap_or(NO_PROJECT)) {
            added += u64::from(put(conn, entry)?);
        }
    }
    Ok(added)
}

/// Whether it is new, or says something else than before.
pub(super) fn put(conn: &Connection, entry: &Entry) -> rusqlite::Result<bool> {
    const FIND: &str = "SELECT id, digest FROM entries WHERE source = ?1";
    const PUT: &str = "INSERT INTO entries (source, kind, at, project, agent, session, digest)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    const WORDS: &str = "INSERT INTO words (rowid, text, parts, scope) VALUES (?1, ?2, ?3, ?4)";
    let digest = digest(&entry.text);
    let there = conn
        .prepare_cached(FIND)?
        .query_row([&entry.source], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)))
        .optional()?;
    match there {
        Some((_, same)) if same == digest => return Ok(false),
        Some((id, _)) => remove(conn, id)?,
        None => {}
    }
    let project = entry.project.as_deref().map(|path| project_id(conn, path)).transpose()?;
    let kind = entry.kind.name();
    let row = params![entry.source, kind, entry.at.0, project, entry.agent, entry.session, digest];
    conn.prepare_cached(PUT)?.execute(row)?;
    let words = params![conn.last_insert_rowid(), entry.text, identifier::parts(&entry.text), scope(project, kind),];
    conn.prepare_cached(WORDS)?.execute(words)?;
    Ok(true)
}

/// One word for the project and one for the kind; the words of a search never reach them.
fn scope(project: Option<i64>, kind: &str) -> String {
    match project {
        Some(id) => format!("p{id} k{kind}"),
        None if kind == RecallKind::Fact.name() => format!("{FOR_ALL} k{kind}"),
        None => format!("k{kind}"),
    }
}

pub(super) fn project_id(conn: &Connection, path: &str) -> rusqlite::Result<i64> {
    const PUT: &str = "INSERT INTO projects (path) VALUES (?1) ON CONFLICT DO NOTHING";
    conn.prepare_cached(PUT)?.execute([path])?;
    conn.prepare_cached("SELECT id FROM projects WHERE path = ?1")?.query_row([path], |row| row.get(0))
}

pub(super) fn remove(conn: &Connection, id: i64) -> rusqlite::Result<()> {
    conn.prepare_cached("DELETE FROM words WHERE rowid = ?1")?.execute([id])?;
    conn.prepare_cached("DELETE FROM entries WHERE id = ?1")?.execute([id]).map(drop)
}
