//! Accounts: what one session wrote down for the next of the same agent. The newest
//! one stands until a newer takes its place, somebody closes it, or its effort ends.

use model::Ms;
use model::effort::{EffortLineage, StoredHandOver};
use model::session::Session;
use rusqlite::{Connection, OptionalExtension, Params, Row, params};

/// With the end of the effort that it was written for, last.
macro_rules! select {
    ($($rest:literal),*) => {
        concat!(
            "SELECT agent, session, effort, line, at, body, project, conversation, title, told_in, unfinished,
               (SELECT finished_at FROM efforts WHERE efforts.id = accounts.effort) FROM accounts ",
            $($rest),*
        )
    };
}

/// Written by a session that speaks this dialect, as far as that is known. Empty: of any.
macro_rules! speaks {
    ($dialect:literal) => {
        concat!(
            "AND (",
            $dialect,
            " = '' OR COALESCE((SELECT memo ->> '$.dialect' FROM sessions WHERE sessions.id = accounts.session), ",
            $dialect,
            ") = ",
            $dialect,
            ") "
        )
    };
}

/// Of the agent itself, in one project: a name may be used in many, and by more than one kind of agent. What a child
/// under its name wrote is the child's. The oldest notes say no project.
pub(crate) const NEWEST: &str = concat!(
    select!("WHERE agent = ?1 AND line = 'agent' AND closed_at IS NULL AND COALESCE(project, ?2) IN (?2, '') "),
    speaks!("?3"),
    "ORDER BY seq DESC LIMIT 1"
);

pub(crate) const NEWEST_BUT: &str = concat!(
    select!("WHERE agent = ?1 AND line = 'agent' AND closed_at IS NULL AND COALESCE(project, ?2) IN (?2, '') "),
    "AND session != ?4 ",
    speaks!("?3"),
    "ORDER BY seq DESC LIMIT 1"
);

/// Of a child: only what its own line of sessions wrote.
pub(crate) const OF_CHILD: &str = select!(
    "WHERE agent = ?1 AND line = 'child' AND closed_at IS NULL AND session IN (?2, ?3) AND session != ?4 ",
    "ORDER BY seq DESC LIMIT 1"
);

const PUT: &str =
    "INSERT INTO accounts (agent, session, effort, line, at, body, project, conversation, title, unfinished)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";

/// A session has one account: a newer one of its own takes the place of the older.
pub(crate) const REPLACED: &str = "DELETE FROM accounts
    WHERE seq = (SELECT MAX(seq) FROM accounts WHERE agent = ?1 AND project IS ?3) AND session = ?2";

pub(crate) const TOLD: &str = concat!(
    "UPDATE accounts SET told_in = ?2
    WHERE agent = ?1 AND seq = (SELECT MAX(seq) FROM accounts WHERE agent = ?1 AND line = ?3
      AND COALESCE(project, ?4) IN (?4, '') ",
    speaks!("?5"),
    ") AND told_in IS NULL"
);

pub(super) fn newest(
    conn: &Connection,
    agent: &str,
    project: &str,
    dialect: &str,
) -> rusqlite::Result<Option<StoredHandOver>> {
    one(conn, NEWEST, [agent, project, dialect])
}

/// The newest before that of one session.
pub(super) fn newest_but(conn: &Connection, of: &Session, but: &str) -> rusqlite::Result<Option<StoredHandOver>> {
    one(conn, NEWEST_BUT, [&of.agent, &of.project, dialect_of(of), but])
}

pub(super) fn of_child(conn: &Connection, child: &Session, but: &str) -> rusqlite::Result<Option<StoredHandOver>> {
    one(conn, OF_CHILD, params![child.agent, child.id, child.prev, but])
}

pub(crate) use select;

fn one(conn: &Connection, sql: &str, of: impl Params) -> rusqlite::Result<Option<StoredHandOver>> {
    Ok(conn.prepare_cached(sql)?.query_row(of, read).optional()?.flatten())
}

/// `None` where the effort that it was written for is over.
pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<Option<StoredHandOver>> {
    let over = row.get::<_, Option<i64>>(11)?.is_some();
    if over { Ok(None) } else { whole(row).map(Some) }
}

/// Whatever became of its effort.
pub(super) fn whole(row: &Row<'_>) -> rusqlite::Result<StoredHandOver> {
    let body: String = row.get(5)?;
    let text = |at: usize| row.get::<_, Option<String>>(at).map(Option::unwrap_or_default);
    Ok(StoredHandOver {
        agent: row.get(0)?,
        session: row.get(1)?,
        effort: row.get(2)?,
        line: EffortLineage::parse(row.get_ref(3)?.as_str()?),
        at: Ms(row.get(4)?),
        project: text(6)?,
        conversation: text(7)?,
        title: text(8)?,
        told: row.get::<_, Option<String>>(9)?.is_some(),
        unfinished: row.get(10)?,
        hand_over: serde_json::from_str(&body).unwrap_or_default(),
    })
}

pub(super) fn put(conn: &Connection, stored: &StoredHandOver) -> rusqlite::Result<()> {
    conn.prepare_cached(REPLACED)?.execute([&stored.agent, &stored.session, &stored.project])?;
    let body = serde_json::to_string(&stored.hand_over).unwrap_or_default();
    let row = params![
        stored.agent,
        stored.session,
        stored.effort,
        stored.line.name(),
        stored.at.0,
        body,
        stored.project,
        stored.conversation,
        stored.title,
        stored.unfinished
    ];
    conn.prepare_cached(PUT)?.execute(row).map(drop)
}

/// Where it was first told.
pub(super) fn mark_shown(conn: &Connection, to: &Session, line: EffortLineage) -> rusqlite::Result<()> {
    conn.prepare_cached(TOLD)?.execute([&to.agent, &to.id, line.name(), &to.project, dialect_of(to)]).map(drop)
}

fn dialect_of(session: &Session) -> &str {
    session.memo.dialect.as_deref().unwrap_or_default()
}
