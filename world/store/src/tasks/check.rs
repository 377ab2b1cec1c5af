//! Whether the queue's materialised columns say what the rows behind them say.

use rusqlite::Connection;

const INVARIANTS: &[(&str, &str)] = &[
    (
        "tasks count their open blockers wrongly",
        "SELECT count(*) FROM tasks WHERE open_blockers <> (
           SELECT count(*) FROM task_deps JOIN tasks AS blocker ON blocker.row = task_deps.blocker
           WHERE task_deps.task = tasks.row AND coalesce(blocker.status, '') NOT IN ('done', 'deleted'))",
    ),
    (
        "active tasks have no holder, or others have one",
        "SELECT count(*) FROM tasks WHERE (status = 'active') <> (agent IS NOT NULL AND lease_until IS NOT NULL)",
    ),
    (
        "active tasks have no live attempt with their number",
        "SELECT count(*) FROM tasks WHERE status = 'active' AND NOT EXISTS (
           SELECT 1 FROM attempts WHERE task = tasks.row AND number = tasks.attempt AND outcome IS NULL)",
    ),
    (
        "attempts live on though their task is not theirs",
        "SELECT count(*) FROM attempts JOIN tasks ON tasks.row = attempts.task
         WHERE outcome IS NULL AND (tasks.status <> 'active' OR tasks.attempt <> attempts.number)",
    ),
    (
        "done tasks have several attempts that finished them",
        "SELECT count(*) FROM tasks WHERE status = 'done' AND attempt > 0 AND (
           SELECT count(*) FROM attempts
           WHERE task = tasks.row AND outcome = 'done' AND claimed_at >= tasks.created_at) > 1",
    ),
];

/// Each one sentence.
pub(crate) fn problems(conn: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut problems = Vec::new();
    for (what, sql) in INVARIANTS {
        let rows: i64 = conn.query_row(sql, [], |row| row.get(0))?;
        if rows > 0 {
            problems.push(format!("{rows} {what}"));
        }
    }
    Ok(problems)
}
