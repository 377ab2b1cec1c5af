//! Writing a decided turn, on condition that the task still stands as it was read.

use super::deps;
use crate::shared_holds;
use model::task::{Attempt, AttemptChange, Hold, Queued, TaskStatus, TaskTransition};
use rusqlite::{Connection, params};

/// A renewal touches the one index it must. The lease of a shared task is the server's to end.
pub(super) const RENEW: &str =
    "UPDATE tasks SET lease_until = iif(shared, lease_until, ?1), renewed_at = ?2, lease_ms = ?3
    WHERE row = ?4 AND status = 'active' AND attempt = ?5 AND session IS ?6";

const HAND_OVER: &str =
    "UPDATE tasks SET lease_until = iif(shared, lease_until, ?1), renewed_at = ?2, lease_ms = ?3, session = ?6
    WHERE row = ?4 AND status = 'active' AND attempt = ?5";

pub(super) const MOVE: &str = "UPDATE tasks SET status = ?1, agent = ?2, session = ?3, lease_until = ?4, lease_ms = ?5,
      renewed_at = ?6, attempt = ?7, retry_count = ?8, failures = ?9, releases = ?10, fail_reason = ?11,
      ready_at = ?12, result = coalesce(?13, CASE ?1 WHEN 'done' THEN proposed_result END, result), updated_at = ?14,
      proposed_at = NULL, proposed_result = NULL, proven = 0,
      deleted_at = CASE ?1 WHEN 'deleted' THEN coalesce(deleted_at, ?14) END
    WHERE row = ?15 AND status = ?16 AND attempt = ?17";

pub(super) const PROPOSE: &str =
    "UPDATE tasks SET lease_until = iif(shared, lease_until, ?1), renewed_at = ?2, proposed_at = ?3, proven = ?4,
      proposed_result = coalesce(?5, proposed_result), updated_at = ?2, agent = ?8, lease_ms = ?9
    WHERE row = ?6 AND status = 'active' AND attempt = ?7";

const BEGIN: &str = "INSERT INTO attempts (task, number, agent, session, claimed_at, token)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

pub(super) const END: &str = "UPDATE attempts SET ended_at = ?1, outcome = ?2, reason = ?3
    WHERE task = ?4 AND number = ?5 AND outcome IS NULL";

/// Whether it was written: `false` when somebody else's turn came first.
pub(crate) fn write(conn: &Connection, turn: &TaskTransition) -> rusqlite::Result<bool> {
    let written = match (&turn.after.hold, turn.before.0) {
        (Some(hold), TaskStatus::Active) if turn.attempt == AttemptChange::Proposed => propose(conn, turn, hold)?,
        (Some(hold), TaskStatus::Active) if turn.attempt == AttemptChange::None => {
            let values = params![
                hold.lease_until.0, hold.renewed_at.0, hold.lease_ms, turn.after.row, hold.attempt, hold.session
            ];
            conn.prepare_cached(RENEW)?.execute(values)? == 1 || conn.prepare_cached(HAND_OVER)?.execute(values)? == 1
        }
        _ => write_move(conn, turn)?,
    };
    if !written {
        return Ok(false);
    }
    match &turn.attempt {
        AttemptChange::None | AttemptChange::Proposed => {}
        AttemptChange::Begun(attempt) => begin(conn, &turn.after, attempt)?,
        AttemptChange::Ended { number, outcome, reason } => {
            let values = params![turn.at.0, outcome.name(), reason, turn.after.row, number];
            conn.prepare_cached(END)?.execute(values)?;
        }
    }
    shared_holds::tell_server(conn, turn)?;
    let (before, after) = (turn.before.0, turn.after.status);
    if before.unblocks() != after.unblocks() {
        deps::tell_dependents(conn, turn.after.row, after)?;
    }
    Ok(true)
}

fn write_move(conn: &Connection, turn: &TaskTransition) -> rusqlite::Result<bool> {
    let task = &turn.after;
    let hold = task.hold.as_ref();
    let changed = conn.prepare_cached(MOVE)?.execute(params![
        task.status.name(),
        hold.map(|hold| &hold.agent),
        hold.and_then(|hold| hold.session.as_ref()),
        hold.map(|hold| hold.lease_until.0),
        hold.map(|hold| hold.lease_ms),
        hold.map(|hold| hold.renewed_at.0),
        task.attempt,
        task.retry_count,
        task.failures,
        task.releases,
        task.fail_reason,
        task.ready_at.0,
        turn.result.as_ref().map(ToString::to_string),
        turn.at.0,
        task.row,
        turn.before.0.name(),
        turn.before.1,
    ])?;
    Ok(changed == 1)
}

fn propose(conn: &Connection, turn: &TaskTransition, hold: &Hold) -> rusqlite::Result<bool> {
    let (at, proven) = hold.proposed.map(|proposed| (proposed.at.0, proposed.proven)).unzip();
    let values = params![
        hold.lease_until.0,
        hold.renewed_at.0,
        at,
        proven.unwrap_or_default(),
        turn.result.as_ref().map(ToString::to_string),
        turn.after.row,
        hold.attempt,
        hold.agent,
        hold.lease_ms
    ];
    Ok(conn.prepare_cached(PROPOSE)?.execute(values)? == 1)
}

fn begin(conn: &Connection, task: &Queued, attempt: &Attempt) -> rusqlite::Result<()> {
    let values = params![task.row, attempt.number, attempt.agent, attempt.session, attempt.claimed_at.0, attempt.token];
    conn.prepare_cached(BEGIN)?.execute(values).map(drop)
}
