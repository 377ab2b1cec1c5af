//! Sessions as people look for them, those of the past too: chosen by what they are and by what happened in them, in one
//! order with the fleet, page by page. Only views and commands ask this: it reads every session's row, and no index is
//! kept for it, since each would cost every hook a page.

use crate::session_look_back::{self, LookBack};
use crate::{Error, Store, session_facts, sessions};
use model::Ms;
use model::row::AgentStatus;
use model::session::{Session, SessionState};
use model::session_facts::SessionFacts;
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

/// Which sessions, in which order, and which page of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionQuery {
    pub agent: Option<String>,
    pub project: Option<String>,
    pub standing: Option<SessionStanding>,
    /// Those in which this tool was called.
    pub tool: Option<String>,
    /// Those in which this rule stopped or warned.
    pub rule: Option<String>,
    /// Those that were there at this moment or later.
    pub since: Option<Ms>,
    /// Those that had begun before this moment.
    pub until: Option<Ms>,
    /// Only these, by our id: what a search found.
    pub ids: Option<Vec<String>>,
    pub order: SessionOrder,
    pub reversed: bool,
    /// Sessions of a project stand together.
    pub by_project: bool,
    /// What `SessionPage::next` said.
    pub after: Option<String>,
    /// At most so many; zero means all.
    pub limit: usize,
}

/// How a session stands: whether it is over, what its client does, or what its agent's owner sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionStanding {
    Open,
    State(SessionState),
    Status(AgentStatus),
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SessionOrder {
    /// As the fleet: who needs somebody first, and what is over last.
    #[default]
    Urgency,
    /// What was seen last first.
    Seen,
    Started,
    Agent,
    Cost,
}

/// One session of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedSession {
    pub session: Session,
    /// Of the agent whose current session this is, or whose client died in it.
    pub status: Option<AgentStatus>,
    pub facts: SessionFacts,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionPage {
    pub sessions: Vec<ListedSession>,
    /// How many there are on all pages, and how many of those are not over.
    pub total: u64,
    pub open: u64,
    /// Where the next page begins.
    pub next: Option<String>,
    /// How far events were looked through, where they were.
    pub looked: Option<LookBack>,
}

/// A session that goes with another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelatedSession {
    pub id: String,
    pub agent: String,
    /// It follows the other; else it was started from within it.
    pub follows: bool,
    pub started_at: Ms,
}

/// What a filter can be set to, and how many sessions each has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionChoices {
    pub projects: Vec<(String, u64)>,
    pub agents: Vec<(String, u64)>,
    pub tools: Vec<String>,
}

impl SessionQuery {
    /// Whether a page can begin after this.
    pub fn is_place(after: &str) -> bool {
        key_of(after).is_some()
    }
}

impl SessionStanding {
    pub fn parse(text: &str) -> Option<Self> {
        if text == "open" {
            return Some(Self::Open);
        }
        AgentStatus::parse(text).map(Self::Status).or_else(|| SessionState::parse(text).map(Self::State))
    }
}

impl SessionOrder {
    pub const NAMES: [(&'static str, Self); 5] = [
        ("urgency", Self::Urgency),
        ("seen", Self::Seen),
        ("started", Self::Started),
        ("agent", Self::Agent),
        ("cost", Self::Cost),
    ];

    pub fn parse(text: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(name, _)| *name == text).map(|(_, order)| *order)
    }

    /// Rank, name and number that are compared one after the other; within the same, the newest first.
    fn key(self) -> [&'static str; 3] {
        // As the fleet's views have it: who waits longest first, those at work by name so that they stay where they
        // are, and what is over with the latest first.
        const RANK: &str = "CASE agents.status WHEN 'error' THEN 0 WHEN 'attention' THEN 1 WHEN 'working' THEN 2
            WHEN 'checked' THEN 3 WHEN 'done' THEN 4 ELSE CASE WHEN sessions.ended_at IS NULL THEN 5 ELSE 6 END END";
        const NAME: &str = "CASE agents.status WHEN 'working' THEN sessions.agent ELSE '' END";
        const SINCE: &str = "CASE WHEN agents.status IN ('error', 'attention', 'checked')
            THEN agents.since ELSE -coalesce(sessions.ended_at, sessions.last_seen_at) END";
        match self {
            Self::Urgency => [RANK, NAME, SINCE],
            Self::Seen => ["0", "''", "-sessions.last_seen_at"],
            Self::Started => ["0", "''", "-sessions.started_at"],
            Self::Agent => ["0", "sessions.agent", "-sessions.last_seen_at"],
            Self::Cost => ["0", "''", "-CAST(coalesce(session_facts.cost_usd, -1) * 1000000 AS INTEGER)"],
        }
    }
}

/// Statuses are those of agents whose current session it is, or whose client died in it as long ago as the fleet shows.
const FROM: &str = " FROM sessions LEFT JOIN agents ON agents.id = sessions.agent AND CASE
      WHEN sessions.ended_at IS NULL THEN agents.session = sessions.id
      ELSE agents.session IS NULL AND agents.status = 'error' AND agents.since = sessions.ended_at
        AND agents.since >= (SELECT max(since) FROM agents) - 86400000 END
    LEFT JOIN session_facts ON session_facts.session = sessions.id
    WHERE ifnull(sessions.host_session, '') NOT LIKE 'taut-proof-%'";

/// Candidates for a beginning of an id: more than anybody reads.
const CANDIDATES: i64 = 10;

impl Store {
    /// The proofs of `taut init` and `taut doctor` are nobody's sessions.
    pub fn session_page(&self, query: &SessionQuery) -> Result<SessionPage, Error> {
        self.read(|conn| page(conn, query))
    }

    /// Those whose id begins so, ours or the one a client or a script calls it by; the newest first.
    pub fn sessions_called(&self, letters: &str) -> Result<Vec<Session>, Error> {
        const CALLED: &str = "SELECT row FROM sessions WHERE substr(id, 1, length(?1)) = ?1
              OR substr(logical_id, 1, length(?1)) = ?1 OR substr(host_session, 1, length(?1)) = ?1
            ORDER BY row DESC LIMIT ?2";
        self.read(|conn| {
            let rows: Vec<i64> = conn
                .prepare_cached(CALLED)?
                .query_map(rusqlite::params![letters, CANDIDATES], |row| row.get(0))?
                .collect::<Result<_, _>>()?;
            rows.into_iter().map(|row| sessions::fetch(conn, row)).collect()
        })
    }

    /// The sessions that follow this one or were started from within it, the oldest first.
    pub fn related_sessions(&self, id: &str) -> Result<Vec<RelatedSession>, Error> {
        const RELATED: &str = "SELECT id, agent, prev IS ?1, started_at FROM sessions WHERE prev = ?1 OR parent = ?1
            ORDER BY row LIMIT 100";
        let read = |row: &rusqlite::Row<'_>| {
            Ok(RelatedSession {
                id: row.get(0)?,
                agent: row.get(1)?,
                follows: row.get(2)?,
                started_at: Ms(row.get(3)?),
            })
        };
        self.read(|conn| conn.prepare_cached(RELATED)?.query_map([id], read)?.collect())
    }

    /// What there is to choose from; of tools those of the latest events.
    pub fn session_choices(&self) -> Result<SessionChoices, Error> {
        let counted = |column: &str| {
            let sql = format!(
                "SELECT {column}, count(*) FROM sessions WHERE {column} IS NOT NULL
                 AND ifnull(host_session, '') NOT LIKE 'taut-proof-%' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 200"
            );
            let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned()));
            self.read(|conn| conn.prepare_cached(&sql)?.query_map([], read)?.collect())
        };
        const TOOLS: &str = "SELECT DISTINCT tool FROM (SELECT tool FROM events ORDER BY seq DESC LIMIT 5000)
            WHERE tool IS NOT NULL ORDER BY 1 LIMIT 100";
        let tools = self.read(|conn| conn.prepare_cached(TOOLS)?.query_map([], |row| row.get(0))?.collect())?;
        Ok(SessionChoices { projects: counted("project")?, agents: counted("agent")?, tools })
    }

    /// The tasks that were claimed in a session, with their projects and how that ended.
    pub fn tasks_of_session(&self, id: &str) -> Result<Vec<(String, String, Option<String>)>, Error> {
        const TASKS: &str = "SELECT tasks.project, tasks.slug, attempts.outcome FROM attempts
            JOIN tasks ON tasks.row = attempts.task WHERE attempts.session = ?1 ORDER BY attempts.claimed_at LIMIT 50";
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        self.read(|conn| conn.prepare_cached(TASKS)?.query_map([id], read)?.collect())
    }
}

fn page(conn: &Connection, query: &SessionQuery) -> rusqlite::Result<SessionPage> {
    let (chosen, looked) = session_look_back::sessions(conn, query)?;
    let (clauses, values) = clauses(query, chosen);
    let count = format!("SELECT count(*), count(*) FILTER (WHERE sessions.ended_at IS NULL){FROM}{clauses}");
    let (total, open): (i64, i64) = conn
        .prepare_cached(&count)?
        .query_row(params_from_iter(values.iter()), |row| Ok((row.get(0)?, row.get(1)?)))?;
    let [rank, name, number] = query.order.key();
    let group = if query.by_project { "coalesce(sessions.project, '')" } else { "''" };
    // The groups keep their order, whichever way round the sessions within them stand.
    let (compare, way) = if query.reversed { ("<", " DESC") } else { (">", "") };
    let mut sql = format!(
        "SELECT * FROM (SELECT {group} AS g, {rank} AS r, {name} AS n, {number} AS m, -sessions.row AS t, agents.status
         {FROM}{clauses})"
    );
    let mut values = values;
    if let Some(key) = query.after.as_deref().and_then(key_of) {
        sql.push_str(&format!(
            " WHERE (g > ?{0} OR g = ?{0} AND (r, n, m, t) {compare} (?, ?, ?, ?))",
            values.len() + 1
        ));
        values.extend(key);
    }
    sql.push_str(&format!(" ORDER BY g, r{way}, n{way}, m{way}, t{way} LIMIT ?"));
    // One more than is shown tells whether there are more.
    let limit = if query.limit == 0 { i64::MAX } else { i64::try_from(query.limit + 1).unwrap_or(i64::MAX) };
    values.push(limit.into());
    let mut rows: Vec<(i64, String, Option<String>)> = conn
        .prepare_cached(&sql)?
        .query_map(params_from_iter(values), |row| Ok((-row.get::<_, i64>(4)?, cursor(row)?, row.get(5)?)))?
        .collect::<Result<_, _>>()?;
    let more = query.limit > 0 && rows.len() > query.limit;
    if more {
        rows.truncate(query.limit);
    }
    let next = rows.last().filter(|_| more).map(|(_, cursor, _)| cursor.clone());
    let sessions = rows.into_iter().map(|(row, _, status)| listed(conn, row, status)).collect::<Result<_, _>>()?;
    Ok(SessionPage { sessions, total: total.cast_unsigned(), open: open.cast_unsigned(), next, looked })
}

fn listed(conn: &Connection, row: i64, status: Option<String>) -> rusqlite::Result<ListedSession> {
    let session = sessions::fetch(conn, row)?;
    let facts = session_facts::load(conn, &session.id)?.unwrap_or_default();
    let status = status.as_deref().and_then(AgentStatus::parse);
    Ok(ListedSession { session, status, facts })
}

fn clauses(query: &SessionQuery, chosen: Option<String>) -> (String, Vec<Value>) {
    let (mut sql, mut values) = (String::new(), Vec::new());
    let mut also = |clause: &str, value: Option<Value>| {
        if let Some(value) = value {
            sql.push_str(clause);
            values.push(value);
        }
    };
    let text = |text: &Option<String>| text.clone().map(Value::from);
    also(" AND sessions.agent = ?", text(&query.agent));
    also(" AND sessions.project = ?", text(&query.project));
    also(" AND sessions.started_at < ?", query.until.map(|at| at.0.into()));
    also(" AND coalesce(sessions.ended_at, sessions.last_seen_at) >= ?", query.since.map(|at| at.0.into()));
    also(" AND sessions.id IN (SELECT value FROM json_each(?))", chosen.map(Value::from));
    match query.standing {
        Some(SessionStanding::Open) => also(" AND (sessions.ended_at IS NULL) = ?", Some(1.into())),
        Some(SessionStanding::State(SessionState::Ended)) => {
            also(" AND (sessions.ended_at IS NOT NULL) = ?", Some(1.into()));
        }
        Some(SessionStanding::State(state)) => {
            also(" AND sessions.ended_at IS NULL AND sessions.state = ?", Some(state.name().to_owned().into()));
        }
        Some(SessionStanding::Status(status)) => {
            also(" AND agents.status = ?", Some(status.name().to_owned().into()));
        }
        None => {}
    }
    (sql, values)
}

/// Where a row stands in its order. Names are in it, so it is written in digits that stand in an address and on a line.
fn cursor(row: &rusqlite::Row<'_>) -> rusqlite::Result<String> {
    let key = serde_json::json!([
        row.get::<_, String>(0)?,
        row.get::<_, i64>(1)?,
        row.get::<_, String>(2)?,
        row.get::<_, i64>(3)?,
        row.get::<_, i64>(4)?
    ]);
    Ok(key.to_string().bytes().map(|byte| format!("{byte:02x}")).collect())
}

/// Back from a cursor; `None` where it is none of ours.
fn key_of(cursor: &str) -> Option<[Value; 5]> {
    let pairs = cursor.as_bytes().chunks(2);
    let bytes = pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
    let (group, rank, name, number, tie): (String, i64, String, i64, i64) =
        serde_json::from_slice(&bytes.collect::<Option<Vec<u8>>>()?).ok()?;
    Some([group.into(), rank.into(), name.into(), number.into(), tie.into()])
}
