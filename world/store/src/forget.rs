//! Forgetting on a person's word: rows go, and with them every trace in the file.

use crate::{Durability, Error, Store, event_sums, reserve};
use model::{ClientProcess, Ms};
use rusqlite::types::Value;
use rusqlite::{Connection, Row, params, params_from_iter};
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
    /// Folders that stay because other sessions worked there, of efforts that the forgotten one began.
    pub shared_folders: Vec<PathBuf>,
    /// Efforts that stay because others, or later days, worked in them.
    pub shared_efforts: u64,
    /// Notes of later sessions into which something of it was carried over.
    pub carried_notes: u64,
    /// The index's names for what it does not know to be part of this.
    pub entries: Vec<String>,
    /// Sessions that still run keep their row; what they did is forgotten.
    pub open_sessions: u64,
    /// Efforts that a running session carries.
    pub open_efforts: u64,
    /// Tasks of the queue, which are not memory.
    pub tasks: u64,
}

/// Rows in one transaction: a hook that comes meanwhile waits for no more.
const STEP: usize = 500;

/// Sessions whose clients are gone without a word, as somebody found out who can look at processes.
const GONE: &str = "CREATE TEMP TABLE IF NOT EXISTS gone_clients (id TEXT PRIMARY KEY)";

/// Hooks that cannot write while the file is written anew keep their events aside.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is deleted of one table. The key of each row that goes is found first, and then deleted in steps.
struct Part {
    table: &'static str,
    key: &'static str,
    /// By project, by session, by time; ?1 is what the scope names. An empty one matches nothing.
    clauses: [&'static str; 3],
}

/// Of a session: it runs, as far as anybody knows.
macro_rules! running {
    () => {
        "(sessions.ended_at IS NULL AND sessions.id NOT IN (SELECT id FROM temp.gone_clients))"
    };
}

const OPEN_EFFORT: &str =
    concat!("finished_at IS NULL AND session IN (SELECT id FROM sessions WHERE ", running!(), ")");

/// Of an effort: the session ?1 began it.
macro_rules! begun {
    () => {
        "EXISTS (SELECT 1 FROM sessions AS began WHERE began.id = ?1 AND began.started_at <= efforts.started_at
           AND efforts.started_at <= ifnull(began.ended_at, began.last_seen_at)
           AND (began.id = efforts.session OR began.agent = efforts.agent))"
    };
}

/// The sessions that follow ?1, and those that follow them.
macro_rules! later {
    () => {
        "(WITH RECURSIVE later (id) AS (SELECT id FROM sessions WHERE prev = ?1
            UNION SELECT sessions.id FROM sessions JOIN later ON sessions.prev = later.id) SELECT id FROM later)"
    };
}

/// Of a message: a person sent it to the project's agents.
macro_rules! to_project {
    () => {
        "NOT EXISTS (SELECT 1 FROM sessions WHERE sessions.id = messages.session)
         AND ifnull(messages.from_agent, '') NOT IN (SELECT id FROM agents)
         AND (messages.to_agent IN (SELECT id FROM agents WHERE project = ?1 UNION SELECT agent FROM sessions WHERE project = ?1)
           OR messages.to_conversation IN (SELECT conversation FROM sessions WHERE project = ?1))"
    };
}

/// What later sessions were given of one: composed notes go, of what an agent wrote itself only what was added to it.
const CARRIED_OVER: &[&str] = &[
    concat!("DELETE FROM accounts WHERE ifnull(json_extract(body, '$.mini'), 0) AND session IN ", later!()),
    concat!("UPDATE accounts SET body = json_remove(body, '$.work') WHERE session IN ", later!()),
    concat!("UPDATE events SET answer_stdout = NULL WHERE event = 'SessionStart' AND session IN ", later!()),
    concat!("UPDATE efforts SET title = NULL WHERE ", begun!()),
    // The line of sessions goes on without it.
    "UPDATE sessions SET prev = (SELECT gone.prev FROM sessions AS gone WHERE gone.id = ?1)
     WHERE prev = ?1 AND EXISTS (SELECT 1 FROM sessions AS gone WHERE gone.id = ?1 AND gone.ended_at IS NOT NULL)",
];

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
        table: "event_sums",
        key: "row",
        clauses: [
            "session IN (SELECT id FROM sessions WHERE project = ?1)
             OR session = '' AND agent IN (SELECT id FROM agents WHERE project = ?1)",
            "session = ?1",
            "day < ?1 / 86400000",
        ],
    },
    Part {
        table: "messages",
        key: "seq",
        clauses: [
            concat!(of_project!("messages.session", "messages.from_agent"), " OR ", to_project!()),
            "session = ?1",
            "at < ?1",
        ],
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
            // Others may have gone on with it, or begun it: then it is theirs too.
            concat!(
                "(session = ?1 OR ",
                begun!(),
                ") AND NOT EXISTS (SELECT 1 FROM sessions AS other WHERE other.id <> ?1 AND (other.id = efforts.session
                     OR other.agent = efforts.agent AND ifnull(other.ended_at, other.last_seen_at) >= efforts.started_at
                       AND other.started_at <= ifnull(efforts.finished_at, other.started_at)
                     OR other.project = efforts.project AND other.started_at <= efforts.started_at
                       AND ifnull(other.ended_at, other.last_seen_at) >= efforts.started_at AND NOT ",
                begun!(),
                "))"
            ),
            "finished_at < ?1 OR finished_at IS NULL AND started_at < ?1
             AND NOT EXISTS (SELECT 1 FROM sessions WHERE sessions.id = efforts.session AND last_seen_at >= ?1)
             AND NOT EXISTS (SELECT 1 FROM phase_history WHERE effort = efforts.id AND at >= ?1)
             AND NOT EXISTS (SELECT 1 FROM accounts WHERE effort = efforts.id AND at >= ?1)",
        ],
    },
    Part {
        table: "session_facts",
        key: "session",
        clauses: [
            "session IN (SELECT id FROM sessions WHERE project = ?1)",
            "session = ?1",
            // What a running session said last is as old as it was said.
            "updated_at < ?1 OR session IN (SELECT id FROM sessions WHERE ifnull(ended_at, last_seen_at) < ?1)",
        ],
    },
    Part {
        table: "injections",
        key: "seq",
        clauses: ["session IN (SELECT id FROM sessions WHERE project = ?1)", "session = ?1", ""],
    },
    Part {
        table: "cards",
        key: "id",
        clauses: ["project = ?1 OR session IN (SELECT id FROM sessions WHERE project = ?1)", "session = ?1", "at < ?1"],
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
            concat!("session IN (SELECT host_session FROM sessions WHERE project = ?1 AND NOT ", running!(), ")"),
            concat!("session IN (SELECT host_session FROM sessions WHERE id = ?1 AND NOT ", running!(), ")"),
            "at < ?1",
        ],
    },
    Part {
        table: "sessions",
        key: "row",
        clauses: [
            concat!("project = ?1 AND NOT ", running!()),
            concat!("id = ?1 AND NOT ", running!()),
            concat!("ifnull(ended_at, last_seen_at) < ?1 AND NOT ", running!()),
        ],
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

    /// Sessions whose end is not on record, and their clients.
    pub fn unended_sessions(&self) -> Result<Vec<(String, ClientProcess)>, Error> {
        const OPEN: &str =
            "SELECT id, client_pid, client_started FROM sessions WHERE ended_at IS NULL AND client_pid IS NOT NULL";
        self.read(|conn| {
            let read = |row: &Row<'_>| {
                let started = row.get::<_, Option<i64>>(2)?.unwrap_or_default().cast_unsigned();
                Ok((row.get(0)?, ClientProcess { pid: row.get(1)?, started }))
            };
            conn.prepare(OPEN)?.query_map([], read)?.collect()
        })
    }

    /// From now on these sessions do not count as running where something is forgotten.
    pub fn count_as_ended(&self, sessions: &[String]) -> Result<(), Error> {
        self.read(|conn| {
            conn.execute_batch(GONE)?;
            let mut put = conn.prepare("INSERT OR IGNORE INTO temp.gone_clients VALUES (?1)")?;
            sessions.iter().try_for_each(|id| put.execute([id]).map(drop))
        })
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
            let mut count = around(conn, scope)?;
            for part in PARTS {
                let Some(clause) = scope.clause(part) else { continue };
                let sql = format!("SELECT count(*) FROM {} WHERE {clause}", part.table);
                let rows: i64 = conn.query_row(&sql, [scope.value()], |row| row.get(0))?;
                add(&mut count, part.table, rows.cast_unsigned());
            }
            Ok(count)
        })
    }

    /// Deletes it all and writes the file anew, so that nothing of it is left there.
    /// What was put by is to be taken in before.
    pub fn forget(&mut self, scope: &ForgetScope) -> Result<ForgetCount, Error> {
        self.set_patience(PATIENCE)?;
        self.read(|conn| conn.execute_batch("PRAGMA secure_delete = ON"))?;
        let mut count = self.read(|conn| around(conn, scope))?;
        if let ForgetScope::Session(id) = scope {
            self.transact(Durability::Normal, |tx| {
                tx.verb(|conn| CARRIED_OVER.iter().try_for_each(|sql| conn.execute(sql, [id]).map(drop)))
            })?;
        }
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
                conn.execute(EMPTY, params![project_of(scope)])?;
                event_sums::step_back(conn)
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

/// What goes with the rows, and what stays.
fn around(conn: &Connection, scope: &ForgetScope) -> rusqlite::Result<ForgetCount> {
    conn.execute_batch(GONE)?;
    let texts = |sql: &str| -> rusqlite::Result<Vec<String>> {
        conn.prepare(sql)?.query_map([scope.value()], |row| row.get(0))?.collect()
    };
    let mut count = staying(conn, scope)?;
    count.folders = folders(conn, scope)?;
    let going = PARTS.iter().find(|part| part.table == "efforts").and_then(|part| scope.clause(part));
    let (touched, entries) = match scope {
        ForgetScope::Project(_) => return Ok(ForgetCount { entries: texts(TO_PROJECT)?, ..count }),
        ForgetScope::Session(_) => (concat!("(session = ?1 OR ", begun!(), ")"), texts(CARRIED_ENTRIES)?),
        ForgetScope::Before(_) => ("started_at < ?1 AND finished_at IS NULL", Vec::new()),
    };
    let stays = format!("{touched} AND NOT ifnull({}, 0) AND NOT ({OPEN_EFFORT})", going.unwrap_or_default());
    count.shared_efforts =
        conn.query_row(&format!("SELECT count(*) FROM efforts WHERE {stays}"), [scope.value()], |row| {
            row.get::<_, i64>(0).map(i64::cast_unsigned)
        })?;
    count.entries = entries;
    if matches!(scope, ForgetScope::Session(_)) {
        count.carried_notes = count.entries.iter().filter(|entry| entry.starts_with("note/")).count() as u64;
        let begun = concat!(
            "SELECT DISTINCT tasks.folder FROM efforts JOIN tasks ON tasks.row = efforts.task
             WHERE tasks.folder IS NOT NULL AND ",
            begun!()
        );
        count.shared_folders = texts(begun)?.into_iter().map(PathBuf::from).collect();
        count.shared_folders.retain(|folder| !count.folders.contains(folder));
    }
    Ok(count)
}

/// As the index calls them.
const TO_PROJECT: &str = concat!("SELECT id FROM messages WHERE ", to_project!());
const CARRIED_ENTRIES: &str = concat!(
    "SELECT 'note/' || session || '/' || at FROM accounts WHERE session IN ",
    later!(),
    " UNION ALL SELECT id FROM efforts WHERE ",
    begun!()
);

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
        open_sessions: counted(&format!("SELECT count(*) FROM sessions WHERE {} AND {sessions}", running!()))?,
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
