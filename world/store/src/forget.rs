//! Forgetting on a person's word: rows go, and with them every trace in the file.

use crate::{Durability, Error, Store, reserve};
use model::Ms;
use rusqlite::types::Value;
use rusqlite::{Connection, params, params_from_iter};
use std::path::PathBuf;
use std::time::Duration;

/// What is to be forgotten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ForgetScope {
    /// All of a project, by its path.
    Project(String),
    /// All of a session, by our id of it.
    Session(String),
    /// All that is older than this.
    Before(Ms),
}

/// What there is of it, or was.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ForgetCount {
    pub events: u64,
    pub messages: u64,
    pub notes: u64,
    pub efforts: u64,
    pub sessions: u64,
    /// Folders of artifacts that nothing needs any longer.
    pub folders: Vec<PathBuf>,
    /// Sessions that still run keep their row; what they did is forgotten.
    pub open_sessions: u64,
    /// Efforts that a running session carries.
    pub open_efforts: u64,
    /// Tasks of the queue, which are not memory.
    pub tasks: u64,
}

/// Rows in one transaction: a hook that comes meanwhile waits for no more.
const STEP: usize = 500;

/// Hooks that cannot write while the file is written anew keep their events aside.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is deleted of one table. The key of each row that goes is found first, and then deleted in steps.
struct Part {
    table: &'static str,
    key: &'static str,
    /// By project, by session, by time; ?1 is what the scope names. An empty one matches nothing.
    clauses: [&'static str; 3],
}

const OPEN_EFFORT: &str = "finished_at IS NULL AND session IN (SELECT id FROM sessions WHERE ended_at IS NULL)";

macro_rules! of_project {
    ($session:literal, $agent:literal) => {
        concat!(
            $session,
            " IN (SELECT id FROM sessions WHERE project = ?1) OR (",
            $session,
            " IS NULL OR NOT EXISTS (SELECT 1 FROM sessions WHERE sessions.id = ",
            $session,
            ")) AND ",
            $agent,
            " IN (SELECT id FROM agents WHERE project = ?1)"
        )
    };
}

/// In this order: sessions are asked for what belongs to them until they go.
const PARTS: &[Part] = &[
    Part {
        table: "events",
        key: "seq",
        clauses: [of_project!("events.session", "events.agent"), "session = ?1", "at < ?1"],
    },
    Part {
        table: "messages",
        key: "seq",
        clauses: [of_project!("messages.session", "messages.from_agent"), "session = ?1", "at < ?1"],
    },
    Part {
        table: "accounts",
        key: "seq",
        clauses: ["project = ?1 OR session IN (SELECT id FROM sessions WHERE project = ?1)", "session = ?1", "at < ?1"],
    },
    Part {
        table: "efforts",
        key: "row",
        clauses: [
            "task IN (SELECT row FROM tasks WHERE project = ?1)",
            "session = ?1",
            "finished_at < ?1 OR finished_at IS NULL AND started_at < ?1",
        ],
    },
    Part {
        table: "injections",
        key: "seq",
        clauses: ["session IN (SELECT id FROM sessions WHERE project = ?1)", "session = ?1", ""],
    },
    Part {
        table: "errands",
        key: "seq",
        clauses: ["project = ?1", "agent = (SELECT agent FROM sessions WHERE id = ?1)", "at < ?1"],
    },
    Part {
        table: "strikes",
        key: "session",
        clauses: [
            "session IN (SELECT host_session FROM sessions WHERE project = ?1 AND ended_at IS NOT NULL)",
            "session IN (SELECT host_session FROM sessions WHERE id = ?1 AND ended_at IS NOT NULL)",
            "at < ?1",
        ],
    },
    Part {
        table: "sessions",
        key: "row",
        clauses: ["project = ?1 AND ended_at IS NOT NULL", "id = ?1 AND ended_at IS NOT NULL", "ended_at < ?1"],
    },
];

impl ForgetScope {
    fn value(&self) -> Value {
        match self {
            Self::Project(name) | Self::Session(name) => name.clone().into(),
            Self::Before(at) => at.0.into(),
        }
    }

    fn clause(&self, part: &Part) -> Option<String> {
        let [project, session, before] = part.clauses;
        let clause = match self {
            Self::Project(_) => project,
            Self::Session(_) => session,
            Self::Before(_) => before,
        };
        let but = if part.table == "efforts" { format!(" AND NOT ({OPEN_EFFORT})") } else { String::new() };
        (!clause.is_empty()).then(|| format!("({clause}){but}"))
    }
}

impl Store {
    /// Our ids of the sessions that a name stands for.
    pub fn session_ids(&self, name: &str) -> Result<Vec<String>, Error> {
        const FIND: &str = "SELECT id FROM sessions WHERE id = ?1 OR logical_id = ?1 OR host_session = ?1 LIMIT 1000";
        self.read(|conn| conn.prepare(FIND)?.query_map([name], |row| row.get(0))?.collect())
    }

    /// Our ids of the sessions whose own id begins so, each with that id. A beginning has at least four characters.
    pub fn sessions_beginning(&self, begin: &str) -> Result<Vec<(String, String)>, Error> {
        const FIND: &str = "SELECT id, logical_id FROM sessions
            WHERE length(?1) >= 4 AND substr(logical_id, 1, length(?1)) = ?1 LIMIT 1000";
        self.read(|conn| conn.prepare(FIND)?.query_map([begin], |row| Ok((row.get(0)?, row.get(1)?)))?.collect())
    }

    /// What there is to forget, and what would stay.
    pub fn forget_count(&self, scope: &ForgetScope) -> Result<ForgetCount, Error> {
        self.read(|conn| {
            let mut count = staying(conn, scope)?;
            for part in PARTS {
                let Some(clause) = scope.clause(part) else { continue };
                let sql = format!("SELECT count(*) FROM {} WHERE {clause}", part.table);
                let rows: i64 = conn.query_row(&sql, [scope.value()], |row| row.get(0))?;
                add(&mut count, part.table, rows.cast_unsigned());
            }
            count.folders = folders(conn, scope)?;
            Ok(count)
        })
    }

    /// Deletes it all and writes the file anew, so that nothing of it is left there.
    /// What was put by is to be taken in before.
    pub fn forget(&mut self, scope: &ForgetScope) -> Result<ForgetCount, Error> {
        self.set_patience(PATIENCE)?;
        self.read(|conn| conn.execute_batch("PRAGMA secure_delete = ON"))?;
        let mut count = self.read(|conn| staying(conn, scope))?;
        count.folders = self.read(|conn| folders(conn, scope))?;
        for part in PARTS {
            let Some(clause) = scope.clause(part) else { continue };
            let keys: Vec<Value> = self.read(|conn| {
                let sql = format!("SELECT DISTINCT {} FROM {} WHERE {clause}", part.key, part.table);
                conn.prepare(&sql)?.query_map([scope.value()], |row| row.get(0))?.collect()
            })?;
            for step in keys.chunks(STEP) {
                let marks = vec!["?"; step.len()].join(",");
                let sql = format!("DELETE FROM {} WHERE {} IN ({marks})", part.table, part.key);
                let gone = self.transact(Durability::Normal, |tx| {
                    tx.verb(|conn| conn.prepare_cached(&sql)?.execute(params_from_iter(step)))
                })?;
                add(&mut count, part.table, gone as u64);
            }
        }
        self.transact(Durability::Full, |tx| {
            tx.verb(|conn| {
                const EMPTY: &str = "DELETE FROM tasks WHERE status IS NULL
                    AND NOT EXISTS (SELECT 1 FROM efforts WHERE efforts.task = tasks.row) AND (?1 IS NULL OR project = ?1)";
                conn.execute(EMPTY, params![project_of(scope)]).map(drop)
            })
        })?;
        self.write_anew()?;
        reserve::wipe(&self.place.folder)?;
        Ok(count)
    }

    /// Deleted words stand in free pages and in the log until both are written anew.
    fn write_anew(&self) -> Result<(), Error> {
        self.read(|conn| conn.execute_batch("VACUUM"))?;
        let busy: i64 = self.read(|conn| conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0)))?;
        if busy != 0 {
            return Err(Error::Refused(format!(
                "the rows are deleted, but somebody reads {}, so its log could not be emptied; run the same command again",
                self.place.database.display()
            )));
        }
        Ok(())
    }
}

fn project_of(scope: &ForgetScope) -> Option<&str> {
    match scope {
        ForgetScope::Project(path) => Some(path),
        ForgetScope::Session(_) | ForgetScope::Before(_) => None,
    }
}

fn add(count: &mut ForgetCount, table: &str, rows: u64) {
    let place = match table {
        "events" => &mut count.events,
        "messages" => &mut count.messages,
        "accounts" => &mut count.notes,
        "efforts" => &mut count.efforts,
        "sessions" => &mut count.sessions,
        _ => return,
    };
    *place += rows;
}

fn staying(conn: &Connection, scope: &ForgetScope) -> rusqlite::Result<ForgetCount> {
    let counted = |sql: &str| conn.query_row(sql, [scope.value()], |row| row.get::<_, i64>(0)).map(i64::cast_unsigned);
    let (sessions, tasks) = match scope {
        ForgetScope::Project(_) => ("project = ?1", "project = ?1"),
        ForgetScope::Session(_) => ("id = ?1", "session = ?1"),
        ForgetScope::Before(_) => ("started_at < ?1", "created_at < ?1"),
    };
    let efforts = PARTS.iter().find(|part| part.table == "efforts").and_then(|part| scope.clause(part));
    let all_efforts = efforts.map(|clause| clause.replace("AND NOT (", "AND (")).unwrap_or_default();
    Ok(ForgetCount {
        open_sessions: counted(&format!("SELECT count(*) FROM sessions WHERE ended_at IS NULL AND {sessions}"))?,
        open_efforts: counted(&format!("SELECT count(*) FROM efforts WHERE {all_efforts}"))?,
        tasks: counted(&format!(
            "SELECT count(*) FROM tasks WHERE status IS NOT NULL AND deleted_at IS NULL AND {tasks}"
        ))?,
        ..ForgetCount::default()
    })
}

/// Of tasks whose efforts all go.
fn folders(conn: &Connection, scope: &ForgetScope) -> rusqlite::Result<Vec<PathBuf>> {
    let efforts = PARTS.iter().find(|part| part.table == "efforts").and_then(|part| scope.clause(part));
    let Some(going) = efforts else { return Ok(Vec::new()) };
    let sql = format!(
        "SELECT DISTINCT folder FROM tasks WHERE folder IS NOT NULL
           AND EXISTS (SELECT 1 FROM efforts WHERE efforts.task = tasks.row)
           AND NOT EXISTS (SELECT 1 FROM efforts WHERE efforts.task = tasks.row AND NOT ifnull({going}, 0))"
    );
    let found = conn
        .prepare(&sql)?
        .query_map([scope.value()], |row| row.get::<_, String>(0))?
        .collect::<Result<Vec<_>, _>>()?;
    Ok(found.into_iter().map(PathBuf::from).collect())
}
