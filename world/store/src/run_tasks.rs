//! Tasks as a run of the loop sees them.

use crate::{Error, Store};
use model::Ms;
use rusqlite::{OptionalExtension, params};

impl Store {
    /// The task whose newest attempt is this agent's and began since then.
    pub fn last_task_of(&self, project: &str, agent: &str, since: Ms) -> Result<Option<String>, Error> {
        const LOOK: &str =
            "SELECT slug FROM tasks JOIN attempts ON attempts.task = tasks.row AND number = tasks.attempt
            WHERE project = ?1 AND attempts.agent = ?2 AND claimed_at >= ?3 ORDER BY claimed_at DESC, slug LIMIT 1";
        let given = params![project, agent, since.0];
        self.read(|conn| conn.prepare_cached(LOOK)?.query_row(given, |row| row.get(0)).optional())
    }

    /// Whether a task that is not over has a command of its own that proves it.
    pub fn any_task_is_verified(&self, project: &str) -> Result<bool, Error> {
        const LOOK: &str = "SELECT EXISTS (SELECT 1 FROM tasks
            WHERE project = ?1 AND status IN ('open', 'active') AND verify IS NOT NULL)";
        self.read(|conn| conn.prepare_cached(LOOK)?.query_row([project], |row| row.get(0)))
    }
}
