//! Whose helper a session is, where an agent gives its helpers sessions of their own.

use crate::sessions;
use model::Who;
use model::session::Session;
use model::who::KnownHelper;
use rusqlite::Connection;

pub(crate) const HELPER: &str = "SELECT session, kind, ended_at IS NOT NULL
    FROM sub_sessions INDEXED BY sub_sessions_by_helper WHERE sub_agent = ?1 ORDER BY started_at DESC LIMIT 8";

/// The helper whose session this is: told by an earlier event of the same agent, and within the same client or
/// project. A session that is open under that id is one of its own.
pub(crate) fn find(conn: &Connection, who: &Who) -> rusqlite::Result<Option<KnownHelper>> {
    let Some(id) = &who.host_session else { return Ok(None) };
    let told: Vec<(String, String, bool)> = conn
        .prepare_cached(HELPER)?
        .query_map([id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<Result<_, _>>()?;
    if told.is_empty() || sessions::open_of_id(conn, id)?.iter().any(|session| who.speaks_as(session)) {
        return Ok(None);
    }
    for (session, kind, ended) in told {
        let Some(parent) = sessions::by_id(conn, &session)?.filter(|parent| who.speaks_as(parent)) else { continue };
        let parent = going_on(conn, parent)?;
        let same_client = parent.client.is_some() && parent.client == who.client;
        if same_client || parent.open() && parent.project == who.project {
            return Ok(Some(KnownHelper { id: id.clone(), kind, parent, ended }));
        }
    }
    Ok(None)
}

/// The open session in which a helper begins, of the same agent and within the same client or project.
pub(crate) fn parent_of_helper(conn: &Connection, who: &Who) -> rusqlite::Result<Option<Session>> {
    if who.helper.is_none() {
        return Ok(None);
    }
    let is_parent = |session: &Session| {
        let same_client = session.client.is_some() && session.client == who.client;
        session.host_session == who.host_session
            && who.speaks_as(session)
            && (same_client || session.project == who.project)
    };
    Ok(sessions::open_of_id(conn, &who.logical_id)?.into_iter().find(is_parent))
}

/// The session that goes on with the context of one that has ended, else that one.
fn going_on(conn: &Connection, session: Session) -> rusqlite::Result<Session> {
    if session.open() {
        return Ok(session);
    }
    let open = sessions::of_rows(conn, sessions::OPEN_OF_CONVERSATION, &session.conversation)?;
    let next = open.into_iter().find(|next| next.agent == session.agent && next.memo.dialect == session.memo.dialect);
    Ok(next.unwrap_or(session))
}
