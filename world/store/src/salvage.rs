//! What is still readable in a file that was moved aside, brought back.

use crate::{Durability, Error, Store, check};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};
use std::path::PathBuf;

/// What came back from one damaged file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Salvaged {
    pub from: PathBuf,
    pub rows: usize,
    /// Tables that could not be read to their end.
    pub cut_short: Vec<String>,
}

/// Each table with the order it lies in, so that reading it needs no index.
const TABLES: &[(&str, &str)] = &[
    ("projects", "path"),
    ("agents", "id"),
    ("sessions", "row"),
    ("strikes", "session"),
    ("injections", "seq"),
    ("messages", "seq"),
    ("events", "seq"),
];

/// Recovered events keep their order and lie before all that came since.
const BEFORE_ALL: i64 = 1_000_000_000_000;

const BATCH: usize = 500;

impl Store {
    /// Brings back what is readable in damaged files, each once. Takes as long
    /// as there is to read, in short transactions: for the daemon and commands.
    /// A row that is here already is kept as it is.
    pub fn salvage(&mut self) -> Result<Vec<Salvaged>, Error> {
        let mut done = Vec::new();
        for from in check::aside(&self.place) {
            let name = format!("salvaged:{}", from.file_name().unwrap_or_default().display());
            if self.meta(&name)?.is_none() {
                let salvaged = self.salvage_one(from)?;
                self.set_meta(&name, &salvaged.rows.to_string())?;
                done.push(salvaged);
            }
        }
        Ok(done)
    }

    fn salvage_one(&mut self, from: PathBuf) -> Result<Salvaged, Error> {
        let mut salvaged = Salvaged { from, rows: 0, cut_short: Vec::new() };
        let Ok(source) = Connection::open(&salvaged.from) else {
            return Ok(salvaged);
        };
        for (table, order) in TABLES {
            let columns = self.shared_columns(&source, table)?;
            if columns.is_empty() {
                salvaged.cut_short.push((*table).to_owned());
                continue;
            }
            // What lies behind a damaged page is reached from the other end.
            let forward = format!("SELECT {} FROM {table} ORDER BY {order}", selected(&columns));
            let (rows, whole) = self.copy_rows(&source, table, &columns, &forward)?;
            salvaged.rows += rows;
            if !whole {
                let (rows, _) = self.copy_rows(&source, table, &columns, &format!("{forward} DESC"))?;
                salvaged.rows += rows;
                salvaged.cut_short.push((*table).to_owned());
            }
        }
        Ok(salvaged)
    }

    /// The rows that were new here, and whether the source was read to its end.
    fn copy_rows(
        &mut self,
        source: &Connection,
        table: &str,
        columns: &[String],
        select: &str,
    ) -> Result<(usize, bool), Error> {
        let marks = vec!["?"; columns.len()].join(", ");
        let insert = format!("INSERT OR IGNORE INTO {table} ({}) VALUES ({marks})", columns.join(", "));
        let Ok(mut statement) = source.prepare(select) else {
            return Ok((0, false));
        };
        let Ok(mut rows) = statement.query([]) else {
            return Ok((0, false));
        };
        let mut copied = 0;
        loop {
            let mut batch: Vec<Vec<Value>> = Vec::new();
            let end = loop {
                match rows.next() {
                    Ok(Some(row)) => batch.extend((0..columns.len()).map(|n| row.get(n)).collect::<Result<_, _>>()),
                    Ok(None) => break Some(true),
                    Err(_) => break Some(false),
                }
                if batch.len() == BATCH {
                    break None;
                }
            };
            copied += self.insert_all(&insert, batch)?;
            if let Some(whole) = end {
                return Ok((copied, whole));
            }
        }
    }

    fn insert_all(&mut self, insert: &str, batch: Vec<Vec<Value>>) -> Result<usize, Error> {
        self.transact(Durability::Normal, |tx| {
            // A row that no longer fits is left out; the others are not lost for it.
            let kept = batch.into_iter().filter_map(|row| {
                tx.savepoint(|tx| tx.verb(|conn| conn.prepare_cached(insert)?.execute(params_from_iter(row)))).ok()
            });
            Ok(kept.sum())
        })
    }

    /// Columns that both have. Row numbers are given anew, except to events:
    /// theirs are the order of what happened.
    fn shared_columns(&self, source: &Connection, table: &str) -> Result<Vec<String>, Error> {
        let here = self.read(|conn| columns(conn, table))?;
        let there = columns(source, table).unwrap_or_default();
        let numbered = |name: &String| name == "row" || (name == "seq" && table != "events");
        Ok(here.into_iter().filter(|name| there.contains(name) && !numbered(name)).collect())
    }
}

fn columns(conn: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    conn.prepare("SELECT name FROM pragma_table_info(?1)")?.query_map([table], |row| row.get(0))?.collect()
}

fn selected(columns: &[String]) -> String {
    let one = |name: &String| if name == "seq" { format!("seq - {BEFORE_ALL}") } else { name.clone() };
    columns.iter().map(one).collect::<Vec<_>>().join(", ")
}
