//! What is still readable in a file that was moved aside, brought back.

use crate::{Durability, Error, Store, check, lock};
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

/// How a table is brought back. The order it lies in is named, so that reading
/// it needs no index; those that others refer to come before them.
struct Table {
    name: &'static str,
    order: &'static str,
    /// Row numbers that mean nothing, and are given anew.
    anew: &'static str,
    /// Row numbers that are an order or that others refer to: kept, but moved
    /// out of the way of those that were given since.
    moved: &'static [&'static str],
}

const fn table(name: &'static str, order: &'static str, anew: &'static str, moved: &'static [&'static str]) -> Table {
    Table { name, order, anew, moved }
}

const TABLES: &[Table] = &[
    table("projects", "path", "", &[]),
    table("agents", "id", "", &[]),
    table("sessions", "row", "row", &[]),
    table("strikes", "session", "", &[]),
    table("injections", "seq", "seq", &[]),
    table("messages", "seq", "seq", &[]),
    table("workers", "id", "", &[]),
    table("tasks", "row", "", &["row"]),
    table("task_deps", "task", "", &["task", "blocker"]),
    table("task_steps", "task", "", &["task"]),
    table("attempts", "task", "", &["task"]),
    table("efforts", "row", "row", &["task"]),
    table("phase_history", "seq", "seq", &[]),
    table("directives", "effort", "", &[]),
    table("accounts", "seq", "seq", &[]),
    table("counters", "session", "", &[]),
    table("sub_sessions", "session", "", &[]),
    table("errands", "seq", "seq", &[]),
    table("runs", "id", "", &[]),
    table("iterations", "seq", "seq", &[]),
    table("events", "seq", "", &["seq"]),
];

/// What is recovered keeps its order and lies before all that came since.
const BEFORE_ALL: i64 = 1_000_000_000_000;

const BATCH: usize = 500;

impl Store {
    /// Brings back what is readable in damaged files, each once. Takes as long
    /// as there is to read, in short transactions: for the daemon and commands.
    /// A row that is here already is kept as it is.
    pub fn salvage(&mut self) -> Result<Vec<Salvaged>, Error> {
        let aside = check::aside(&self.place);
        if aside.is_empty() {
            return Ok(Vec::new());
        }
        let _held = lock::hold(&self.place, self.patience)?;
        let mut done = Vec::new();
        for from in aside {
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
        for table in TABLES {
            let columns = self.shared_columns(&source, table)?;
            if columns.is_empty() {
                salvaged.cut_short.push(table.name.to_owned());
                continue;
            }
            // What lies behind a damaged page is reached from the other end.
            let forward = table.select(&columns);
            let (rows, whole) = self.copy_rows(&source, table.name, &columns, &forward)?;
            salvaged.rows += rows;
            if !whole {
                let (rows, _) = self.copy_rows(&source, table.name, &columns, &format!("{forward} DESC"))?;
                salvaged.rows += rows;
                salvaged.cut_short.push(table.name.to_owned());
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

    /// Columns that both have, without the numbers that are given anew.
    fn shared_columns(&self, source: &Connection, table: &Table) -> Result<Vec<String>, Error> {
        let here = self.read(|conn| columns(conn, table.name))?;
        let there = columns(source, table.name).unwrap_or_default();
        Ok(here.into_iter().filter(|name| there.contains(name) && name != table.anew).collect())
    }
}

impl Table {
    fn select(&self, columns: &[String]) -> String {
        let one = |name: &String| {
            let moved = self.moved.contains(&name.as_str());
            if moved { format!("{name} - {BEFORE_ALL}") } else { name.clone() }
        };
        let columns = columns.iter().map(one).collect::<Vec<_>>().join(", ");
        format!("SELECT {columns} FROM {} ORDER BY {}.{}", self.name, self.name, self.order)
    }
}

fn columns(conn: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    conn.prepare("SELECT name FROM pragma_table_info(?1)")?.query_map([table], |row| row.get(0))?.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn task(store: &Store, row: i64, slug: &str) {
        store
            .conn
            .execute(
                "INSERT INTO tasks (row, project, slug, title, priority, status, created_at, updated_at)
                 VALUES (?1, '/p', ?2, ?2, 1, 'open', 1, 1)",
                rusqlite::params![row, slug],
            )
            .unwrap();
    }

    #[test]
    fn every_table_is_brought_back() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::open(home.path(), Duration::ZERO).unwrap();
        let all = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name != 'meta'";
        let names: Vec<String> =
            store.read(|conn| conn.prepare(all)?.query_map([], |row| row.get(0))?.collect()).unwrap();
        for name in names {
            assert!(TABLES.iter().any(|table| table.name == name), "{name} would be lost with a damaged file");
        }
    }

    #[test]
    fn tasks_come_back_with_what_refers_to_them_beside_those_made_since() {
        let home = tempfile::tempdir().unwrap();
        let aside = home.path().join("taut.db.corrupt-1");
        let old = tempfile::tempdir().unwrap();
        let before = Store::open(old.path(), Duration::ZERO).unwrap();
        before.conn.execute("INSERT INTO projects VALUES ('/p', 1)", []).unwrap();
        task(&before, 1, "first");
        task(&before, 2, "second");
        before.conn.execute("INSERT INTO task_deps VALUES (2, 1)", []).unwrap();
        before.conn.execute("INSERT INTO task_steps VALUES (2, 7, 'step', 0)", []).unwrap();
        before.backup(&aside).unwrap();

        let mut store = Store::open(home.path(), Duration::ZERO).unwrap();
        store.conn.execute("INSERT INTO projects VALUES ('/p', 1)", []).unwrap();
        task(&store, 1, "since");
        let salvaged = store.salvage().unwrap();
        assert_eq!(salvaged[0].cut_short, Vec::<String>::new());
        let joined = "SELECT a.slug || ' waits for ' || b.slug || ', step ' || s.seq FROM task_deps d
            JOIN tasks a ON a.row = d.task JOIN tasks b ON b.row = d.blocker JOIN task_steps s ON s.task = a.row";
        let found: String = store.conn.query_row(joined, [], |row| row.get(0)).unwrap();
        assert_eq!(found, "second waits for first, step 7");
        let tasks: i64 = store.conn.query_row("SELECT count(*) FROM tasks", [], |row| row.get(0)).unwrap();
        assert_eq!(tasks, 3);
    }
}
