//! Looking the memory over, and copying it, while others work with it.

use crate::folder::StoreFolder;
use crate::migrate::{self, SCHEMA};
use crate::{Aside, Error, Store, spool, tasks, unstored};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The state of the memory. It is sound where `problems` is empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckReport {
    pub path: PathBuf,
    pub schema: i64,
    pub sqlite: &'static str,
    pub bytes: u64,
    pub log_bytes: u64,
    pub spool_bytes: u64,
    pub projects: u64,
    pub agents: u64,
    pub sessions: u64,
    pub events: u64,
    /// Each one sentence.
    pub problems: Vec<String>,
    /// What is no problem of this file, and is to be known: each one sentence.
    pub notes: Vec<String>,
}

impl Store {
    /// Reads the whole file: for `taut db check`, never on the way of an event.
    pub fn check(&self) -> Result<CheckReport, Error> {
        let mut problems = self.structure()?;
        problems.extend(self.circumstances()?);
        let count = |table: &str| {
            let sql = format!("SELECT count(*) FROM {table}");
            let rows = self.read(|conn| conn.query_row(&sql, [], |row| row.get::<_, i64>(0)));
            // A damaged table is among the problems already.
            rows.map(i64::cast_unsigned).unwrap_or_default()
        };
        Ok(CheckReport {
            path: self.place.database.clone(),
            schema: SCHEMA,
            sqlite: rusqlite::version(),
            bytes: bytes(&self.place.database),
            log_bytes: self.log_bytes(),
            spool_bytes: bytes(&self.place.folder.join(spool::SPOOL)),
            projects: count("projects"),
            agents: count("agents"),
            sessions: count("sessions"),
            events: count("events"),
            problems,
            notes: self.set_aside()?.iter().map(note).collect(),
        })
    }

    /// A consistent copy in one private file; `to` must not exist.
    pub fn backup(&self, to: &Path) -> Result<(), Error> {
        migrate::copy(&self.conn, to)
    }

    /// What a person ought to know of the record until it is seen to, each one
    /// sentence with the command that helps. Cheap: every view shows it.
    pub fn warnings(&self) -> Result<Vec<String>, Error> {
        let waits = self.set_aside()?.into_iter().filter(|aside| aside.salvaged.is_none());
        let asides = waits.map(|aside| note(&aside));
        Ok(unstored::warning(&self.place.folder).into_iter().chain(asides).collect())
    }

    fn structure(&self) -> Result<Vec<String>, Error> {
        let mut problems = match self.read(|conn| quick_check(conn, 20)) {
            Err(cause @ Error::Corrupt { .. }) => vec![cause.to_string()],
            other => other?,
        };
        let orphans = self.read(|conn| {
            conn.query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |row| row.get::<_, i64>(0))
        });
        if let Ok(rows @ 1..) = orphans {
            problems.push(format!("{rows} rows refer to a project that is not stored"));
        }
        // A damaged table is among the problems already.
        problems.extend(self.read(tasks::problems).unwrap_or_default());
        Ok(problems)
    }

    fn circumstances(&self) -> Result<Vec<String>, Error> {
        let mut problems = Vec::new();
        let mode: String = self.read(|conn| conn.query_row("PRAGMA journal_mode", [], |row| row.get(0)))?;
        if mode != "wal" {
            problems.push(format!("the journal mode is {mode} and not wal: something else than taut changed it"));
        }
        for (path, allowed) in [(&self.place.database, "0600"), (&self.place.folder, "0700")] {
            if let Ok(found) = std::fs::metadata(path)
                && found.mode() & 0o077 != 0
            {
                let mode = found.mode() & 0o777;
                problems.push(format!(
                    "{} has mode {mode:04o}, so others may read it: `chmod {allowed} {}`",
                    path.display(),
                    path.display()
                ));
            }
        }
        Ok(problems)
    }
}

/// Deleting is spoken of only where nothing is in the file that is not here.
fn note(aside: &Aside) -> String {
    match &aside.salvaged {
        None => format!(
            "{} is a damaged database that was moved aside, and what is readable of it is not back yet: \
             `taut db check` brings it back",
            aside.path.display()
        ),
        Some(salvaged) if salvaged.is_whole() => format!("{salvaged}; nothing in it is missing here, so it may go"),
        Some(salvaged) => format!("{salvaged}; it is kept, in case you need the rest"),
    }
}

/// What SQLite finds wrong with the file; nothing where it is sound.
pub(crate) fn quick_check(conn: &rusqlite::Connection, most: u32) -> rusqlite::Result<Vec<String>> {
    let mut statement = conn.prepare(&format!("PRAGMA quick_check({most})"))?;
    let found: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(found.into_iter().filter(|line| line != "ok").collect())
}

/// The damaged files that were moved aside, oldest first.
pub(crate) fn aside(place: &StoreFolder) -> Vec<PathBuf> {
    let prefix = format!("{}.corrupt-", crate::DATABASE);
    let is_one =
        |name: &str| name.strip_prefix(&prefix).is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
    let mut found: Vec<PathBuf> = std::fs::read_dir(&place.folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_name().to_str().is_some_and(is_one))
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found
}

fn bytes(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |file| file.len())
}
