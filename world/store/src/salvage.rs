//! What is still readable in a file that was moved aside, brought back.

use crate::{Durability, Error, Store, Tx, check, lock};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};
use serde_json::json;
use std::fmt;
use std::path::{Path, PathBuf};

/// What came back from one damaged file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Salvaged {
    pub from: PathBuf,
    pub rows: usize,
    /// Rows that were readable and fit nowhere.
    pub left_out: usize,
    /// Tables that could not be read to their end.
    pub cut_short: Vec<String>,
}

/// A damaged file that was moved aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Aside {
    pub path: PathBuf,
    /// What came back from it; `None` where nobody has looked yet.
    pub salvaged: Option<Salvaged>,
}

/// One sentence without an end.
impl fmt::Display for Salvaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = if self.rows == 1 { "1 row".to_owned() } else { format!("{} rows", self.rows) };
        write!(f, "{rows} of the damaged {} came back", self.from.display())?;
        if self.left_out > 0 {
            write!(f, ", {} fit nowhere", self.left_out)?;
        }
        if !self.cut_short.is_empty() {
            write!(f, ", and not all could be read of: {}", self.cut_short.join(", "))?;
        }
        Ok(())
    }
}

impl Salvaged {
    /// Nothing is in the file any more that is not here.
    pub fn is_whole(&self) -> bool {
        self.left_out == 0 && self.cut_short.is_empty()
    }
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
    table("agent_names", "agent", "", &[]),
    table("sessions", "row", "row", &[]),
    table("strikes", "session", "", &[]),
    table("allowances", "what", "", &[]),
    table("session_facts", "session", "", &[]),
    table("cards", "id", "", &[]),
    table("drawn_claims", "claim", "", &[]),
    table("injections", "seq", "seq", &[]),
    table("messages", "seq", "seq", &[]),
    table("workers", "id", "", &[]),
    table("tasks", "row", "", &["row"]),
    table("task_deps", "task", "", &["task", "blocker"]),
    table("task_steps", "task", "", &["task"]),
    table("attempts", "task", "", &["task"]),
    table("task_branches", "task", "", &["task"]),
    table("shared_holds", "task", "", &["task"]),
    table("outbox", "seq", "seq", &[]),
    table("refused_turns", "seq", "seq", &[]),
    table("arriving_messages", "seq", "seq", &[]),
    table("remote_agents", "server", "", &[]),
    table("settled_answers", "seq", "seq", &[]),
    table("sent_answers", "nonce", "", &[]),
    table("trusted_machines", "machine", "", &[]),
    table("efforts", "row", "row", &["task"]),
    table("phase_history", "seq", "seq", &[]),
    table("directives", "effort", "", &[]),
    table("accounts", "seq", "seq", &[]),
    table("counters", "session", "", &[]),
    table("sub_sessions", "session", "", &[]),
    table("errands", "seq", "seq", &[]),
    table("runs", "id", "", &[]),
    table("iterations", "seq", "seq", &[]),
    table("event_sums", "row", "row", &[]),
    table("policy_log", "seq", "seq", &[]),
    table("events", "seq", "", &["seq"]),
];

/// What is recovered keeps its order and lies before all that came since, what
/// was recovered of a later file included.
const BEFORE_ALL: i64 = 1_000_000_000_000;

/// The lowest number that was given so far.
const LOWEST: &str = "SELECT min(ifnull((SELECT min(seq) FROM events), 0), ifnull((SELECT min(row) FROM tasks), 0))";

const BATCH: usize = 500;

impl Store {
    /// Brings back what is readable in damaged files, each once, the latest
    /// first: it knows best how things stood. Takes as long as there is to read,
    /// in short transactions: for the daemon and commands. A row that is here
    /// already is kept as it is.
    pub fn salvage(&mut self) -> Result<Vec<Salvaged>, Error> {
        let waits = |store: &Self| -> Result<Vec<PathBuf>, Error> {
            let new = store.set_aside()?.into_iter().filter(|aside| aside.salvaged.is_none());
            Ok(new.map(|aside| aside.path).collect())
        };
        if waits(self)?.is_empty() {
            return Ok(Vec::new());
        }
        let _held = lock::hold(&self.place, self.patience)?;
        let mut done = Vec::new();
        for from in waits(self)?.into_iter().rev() {
            let salvaged = self.salvage_one(from)?;
            let told = json!({"rows": salvaged.rows, "left_out": salvaged.left_out, "cut_short": salvaged.cut_short});
            self.set_meta(&noted_as(&salvaged.from), &told.to_string())?;
            done.push(salvaged);
        }
        Ok(done)
    }

    /// The damaged files that were moved aside, the oldest first.
    pub fn set_aside(&self) -> Result<Vec<Aside>, Error> {
        let one = |path: PathBuf| {
            let noted = self.meta(&noted_as(&path))?;
            Ok(Aside { salvaged: noted.and_then(|text| noted_of(&path, &text)), path })
        };
        check::aside(&self.place).into_iter().map(one).collect()
    }

    fn salvage_one(&mut self, from: PathBuf) -> Result<Salvaged, Error> {
        let mut salvaged = Salvaged { from, rows: 0, left_out: 0, cut_short: Vec::new() };
        let source = Connection::open(&salvaged.from).map_err(|cause| Error::of(&salvaged.from, cause))?;
        let shift = self.shift_of(&salvaged.from)?;
        self.salvage_machine(&source, shift)?;
        for table in TABLES {
            let columns = self.shared_columns(&source, table)?;
            if columns.is_empty() {
                salvaged.cut_short.push(table.name.to_owned());
                continue;
            }
            // What lies behind a damaged page is reached from the other end.
            let forward = table.select(&columns, shift);
            let whole =
                self.copy_rows(&source, &mut salvaged, &Copied { table, columns: &columns, select: &forward })?;
            if !whole {
                let backward = format!("{forward} DESC");
                self.copy_rows(&source, &mut salvaged, &Copied { table, columns: &columns, select: &backward })?;
                salvaged.cut_short.push(table.name.to_owned());
            }
        }
        // Whoever sent the newest events meanwhile has gone past those that came back.
        self.salvage_cursors(&source, shift)?;
        Ok(salvaged)
    }

    /// How far the numbers of this file are moved. Noted before the first row
    /// is, so that who goes on after an interruption moves them as far.
    fn shift_of(&mut self, from: &Path) -> Result<i64, Error> {
        let name = format!("shift:{}", from.file_name().unwrap_or_default().display());
        if let Some(shift) = self.meta(&name)?.and_then(|text| text.parse().ok()) {
            return Ok(shift);
        }
        let lowest: i64 = self.read(|conn| conn.query_row(LOWEST, [], |row| row.get(0)))?;
        let shift = (1 - lowest.div_euclid(BEFORE_ALL)) * BEFORE_ALL;
        self.set_meta(&name, &shift.to_string())?;
        Ok(shift)
    }

    /// Whether the source was read to its end.
    fn copy_rows(&mut self, source: &Connection, to: &mut Salvaged, copied: &Copied<'_>) -> Result<bool, Error> {
        let Copied { table, columns, select } = copied;
        let marks = vec!["?"; columns.len()].join(", ");
        let insert = format!("INSERT OR IGNORE INTO {} ({}) VALUES ({marks})", table.name, columns.join(", "));
        let mut statement = match source.prepare(select) {
            Ok(statement) => statement,
            Err(cause) => return damage(&to.from, cause),
        };
        let mut rows = match statement.query([]) {
            Ok(rows) => rows,
            Err(cause) => return damage(&to.from, cause),
        };
        loop {
            let mut batch: Vec<Vec<Value>> = Vec::new();
            let end = loop {
                match rows.next() {
                    Ok(Some(row)) => batch.extend((0..columns.len()).map(|n| row.get(n)).collect::<Result<_, _>>()),
                    Ok(None) => break Some(true),
                    Err(cause) => break Some(damage(&to.from, cause)?),
                }
                if batch.len() == BATCH {
                    break None;
                }
            };
            self.insert_all(&insert, batch, to)?;
            if let Some(whole) = end {
                return Ok(whole);
            }
        }
    }

    fn insert_all(&mut self, insert: &str, batch: Vec<Vec<Value>>, to: &mut Salvaged) -> Result<(), Error> {
        let (rows, left_out) = self.transact(Durability::Normal, |tx| {
            let (mut rows, mut left_out) = (0, 0);
            for row in batch {
                let put = |tx: &Tx<'_>| tx.verb(|conn| conn.prepare_cached(insert)?.execute(params_from_iter(row)));
                match tx.savepoint(put) {
                    Ok(put) => rows += put,
                    // A row that no longer fits is left out; the others are not lost for it.
                    Err(Error::Sql { .. }) => left_out += 1,
                    Err(cause) => return Err(cause),
                }
            }
            Ok((rows, left_out))
        })?;
        to.rows += rows;
        to.left_out += left_out;
        Ok(())
    }

    /// Columns that both have, without the numbers that are given anew.
    fn shared_columns(&self, source: &Connection, table: &Table) -> Result<Vec<String>, Error> {
        let here = self.read(|conn| columns(conn, table.name))?;
        let there = match columns(source, table.name) {
            Ok(there) => there,
            Err(cause) => damage(&self.place.database, cause).map(|_| Vec::new())?,
        };
        Ok(here.into_iter().filter(|name| there.contains(name) && name != table.anew).collect())
    }
}

/// One way of reading a table.
struct Copied<'a> {
    table: &'a Table,
    columns: &'a [String],
    select: &'a str,
}

/// A file that is damaged here is read no further; one that cannot be read at
/// all for another reason is left for another time, and not taken for empty.
fn damage(from: &Path, cause: rusqlite::Error) -> Result<bool, Error> {
    match Error::of(from, cause) {
        Error::Corrupt { .. } | Error::Sql { .. } => Ok(false),
        other => Err(other),
    }
}

/// What the memory remembers of a file by.
fn noted_as(path: &Path) -> String {
    format!("salvaged:{}", path.file_name().unwrap_or_default().display())
}

fn noted_of(path: &Path, text: &str) -> Option<Salvaged> {
    let value: serde_json::Value = serde_json::from_str(text).ok()?;
    let number = |name: &str| value.get(name).and_then(serde_json::Value::as_u64);
    let tables = value.get("cut_short").and_then(serde_json::Value::as_array);
    let table = |one: &serde_json::Value| one.as_str().map(str::to_owned);
    Some(Salvaged {
        from: path.to_path_buf(),
        // An earlier build noted the number of rows alone.
        rows: usize::try_from(number("rows").or(value.as_u64())?).ok()?,
        left_out: usize::try_from(number("left_out").unwrap_or_default()).ok()?,
        cut_short: tables.into_iter().flatten().filter_map(table).collect(),
    })
}

impl Table {
    fn select(&self, columns: &[String], shift: i64) -> String {
        let one = |name: &String| {
            let moved = self.moved.contains(&name.as_str());
            if moved { format!("{name} - {shift}") } else { name.clone() }
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
        before.conn.execute("INSERT INTO projects (path, first_seen) VALUES ('/p', 1)", []).unwrap();
        task(&before, 1, "first");
        task(&before, 2, "second");
        before.conn.execute("INSERT INTO task_deps VALUES (2, 1)", []).unwrap();
        before.conn.execute("INSERT INTO task_steps VALUES (2, 7, 'step', 0)", []).unwrap();
        before.backup(&aside).unwrap();

        let mut store = Store::open(home.path(), Duration::ZERO).unwrap();
        store.conn.execute("INSERT INTO projects (path, first_seen) VALUES ('/p', 1)", []).unwrap();
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
