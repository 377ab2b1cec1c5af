//! Branches in the making, one for each task of several workers, so that a coordinator that was killed can go on.

use crate::{Durability, Error, Store};
use model::Ms;
use model::task::Queued;
use model::task_branch::{BranchState, TaskBranch};
use rusqlite::{OptionalExtension, Row, params};

const COLUMNS: &str = "task_branches.task, tasks.slug, task_branches.run, task_branches.branch, task_branches.folder,
    task_branches.base, task_branches.state, task_branches.tries, task_branches.updated_at
    FROM task_branches JOIN tasks ON tasks.row = task_branches.task";

const PUT: &str = "INSERT INTO task_branches (task, run, branch, folder, base, state, tries, updated_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
    ON CONFLICT (task) DO UPDATE SET run = excluded.run, branch = excluded.branch, folder = excluded.folder,
      base = excluded.base, state = excluded.state, tries = excluded.tries, updated_at = excluded.updated_at";

impl Store {
    pub fn save_branch(&mut self, branch: &TaskBranch) -> Result<(), Error> {
        let TaskBranch { task, run, branch: name, folder, base, state, tries, updated_at, .. } = branch;
        self.transact(Durability::Full, |tx| {
            tx.verb(|conn| {
                let values = params![task, run, name, folder, base, state.name(), tries.cast_signed(), updated_at.0];
                conn.prepare_cached(PUT)?.execute(values).map(drop)
            })
        })
    }

    pub fn drop_branch(&mut self, task: i64) -> Result<(), Error> {
        const DROP: &str = "DELETE FROM task_branches WHERE task = ?1";
        self.transact(Durability::Full, |tx| tx.verb(|conn| conn.prepare_cached(DROP)?.execute([task]).map(drop)))
    }

    pub fn branch_of(&self, task: &Queued) -> Result<Option<TaskBranch>, Error> {
        // By its name: a task that a server has is another row there.
        let sql = format!("SELECT {COLUMNS} WHERE tasks.project = ?1 AND tasks.slug = ?2");
        self.read(|conn| conn.prepare_cached(&sql)?.query_row([&task.project, &task.slug], read).optional())
    }

    /// All of a project, in the order of the queue.
    pub fn task_branches(&self, project: &str) -> Result<Vec<TaskBranch>, Error> {
        let sql =
            format!("SELECT {COLUMNS} WHERE tasks.project = ?1 ORDER BY tasks.priority, tasks.created_at, tasks.row");
        self.read(|conn| conn.prepare_cached(&sql)?.query_map([project], read)?.collect())
    }

    /// Those of the tasks that this one waited for.
    pub fn branches_of_blockers(&self, task: &Queued) -> Result<Vec<TaskBranch>, Error> {
        let sql = format!(
            "SELECT {COLUMNS} JOIN task_deps ON task_deps.blocker = task_branches.task WHERE task_deps.task = ?1
             ORDER BY task_branches.updated_at"
        );
        self.read(|conn| conn.prepare_cached(&sql)?.query_map([task.row], read)?.collect())
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<TaskBranch> {
    Ok(TaskBranch {
        task: row.get(0)?,
        slug: row.get(1)?,
        run: row.get(2)?,
        branch: row.get(3)?,
        folder: row.get(4)?,
        base: row.get(5)?,
        // A state of a newer version is left for a person.
        state: BranchState::parse(&row.get::<_, String>(6)?).unwrap_or(BranchState::Kept),
        tries: row.get::<_, i64>(7)?.cast_unsigned(),
        updated_at: Ms(row.get(8)?),
    })
}
