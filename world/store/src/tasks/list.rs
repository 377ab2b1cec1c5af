//! Tasks as shown: lists, one with everything, counts. Each is a short read.

use super::{QUEUED, deps, plan, queued, read};
use crate::{Error, Store, Tx};
use model::Ms;
use model::task::{Counts, Priority, Queued, Task, TaskPlan, TaskStatus};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, params_from_iter};

/// Which tasks to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskFilter {
    /// Any of these; none means all.
    pub statuses: Vec<TaskStatus>,
    pub agent: Option<String>,
    pub spec: Option<String>,
    pub category: Option<String>,
    /// Only those that may be claimed at this moment.
    pub claimable_at: Option<Ms>,
    /// At most so many; zero means all.
    pub limit: usize,
}

macro_rules! whole {
    () => {
        concat!(
            "SELECT ",
            queued!(),
            ", title, description, category, priority, spec, ref, result, created_at, updated_at, deleted_at,
             verify FROM tasks WHERE project = ?1 AND status IS NOT NULL"
        )
    };
}

const ONE: &str = concat!(whole!(), " AND slug = ?2");

const COUNTS: &str =
    "SELECT status, status IN ('open', 'active') AND open_blockers > 0 AND proposed_at IS NULL, count(*)
    FROM tasks WHERE project = ?1 AND status IS NOT NULL AND (shared = 0 OR status = 'active') GROUP BY 1, 2";

const RESULTS: &str = "SELECT slug, result FROM task_deps JOIN tasks ON tasks.row = task_deps.blocker
    WHERE task_deps.task = ?1 ORDER BY slug";

impl Store {
    /// By priority, then age.
    pub fn tasks(&self, project: &str, filter: &TaskFilter) -> Result<Vec<Task>, Error> {
        self.read(|conn| list(conn, project, filter)?.into_iter().map(|task| fill(conn, task)).collect())
    }

    pub fn task(&self, project: &str, slug: &str) -> Result<Option<Task>, Error> {
        self.read(|conn| one(conn, project, slug))
    }

    pub fn task_counts(&self, project: &str) -> Result<Counts, Error> {
        self.read(|conn| counts(conn, project))
    }

    /// What the blockers of a task resulted in, by slug.
    pub fn blocker_results(&self, task: &Task) -> Result<Vec<(String, serde_json::Value)>, Error> {
        self.read(|conn| results(conn, task.queued.row))
    }
}

impl Tx<'_> {
    /// By priority, then age.
    pub fn queued_by(&self, project: &str, filter: &TaskFilter) -> Result<Vec<Queued>, Error> {
        self.verb(|conn| Ok(list(conn, project, filter)?.into_iter().map(|task| task.queued).collect()))
    }

    pub fn task(&self, project: &str, slug: &str) -> Result<Option<Task>, Error> {
        self.verb(|conn| one(conn, project, slug))
    }

    pub fn blocker_results(&self, task: &Task) -> Result<Vec<(String, serde_json::Value)>, Error> {
        self.verb(|conn| results(conn, task.queued.row))
    }
}

/// Without dependencies and steps.
fn list(conn: &Connection, project: &str, filter: &TaskFilter) -> rusqlite::Result<Vec<Task>> {
    let mut sql = whole!().to_owned();
    sql.push_str(" AND (shared = 0 OR status = 'active')");
    let mut values: Vec<Value> = vec![project.to_owned().into()];
    if !filter.statuses.is_empty() {
        let marks = vec!["?"; filter.statuses.len()].join(", ");
        sql.push_str(&format!(" AND status IN ({marks})"));
        values.extend(filter.statuses.iter().map(|status| Value::from(status.name().to_owned())));
    }
    for (column, wanted) in [("agent", &filter.agent), ("spec", &filter.spec), ("category", &filter.category)] {
        if let Some(wanted) = wanted {
            sql.push_str(&format!(" AND {column} = ?"));
            values.push(wanted.clone().into());
        }
    }
    if let Some(now) = filter.claimable_at {
        sql.push_str(" AND status = 'open' AND open_blockers = 0 AND ready_at <= ?");
        values.push(now.0.into());
    }
    sql.push_str(" ORDER BY priority, created_at, row");
    if filter.limit > 0 {
        sql.push_str(" LIMIT ?");
        values.push(i64::try_from(filter.limit).unwrap_or(i64::MAX).into());
    }
    conn.prepare(&sql)?.query_map(params_from_iter(values), read_task)?.collect()
}

fn one(conn: &Connection, project: &str, slug: &str) -> rusqlite::Result<Option<Task>> {
    let task = conn.prepare_cached(ONE)?.query_row([project, slug], read_task).optional()?;
    task.map(|task| fill(conn, task)).transpose()
}

fn fill(conn: &Connection, mut task: Task) -> rusqlite::Result<Task> {
    task.plan.deps = deps::of(conn, task.queued.row)?;
    task.plan.steps = plan::read_steps(conn, task.queued.row)?;
    Ok(task)
}

pub(super) fn counts(conn: &Connection, project: &str) -> rusqlite::Result<Counts> {
    let mut counts = Counts::default();
    let mut statement = conn.prepare_cached(COUNTS)?;
    let mut rows = statement.query([project])?;
    while let Some(row) = rows.next()? {
        let (blocked, count): (bool, i64) = (row.get(1)?, row.get(2)?);
        match TaskStatus::parse(row.get_ref(0)?.as_str()?) {
            Some(_) if blocked => counts.blocked += count,
            Some(TaskStatus::Open) => counts.open += count,
            Some(TaskStatus::Active) => counts.active += count,
            Some(TaskStatus::Done) => counts.done += count,
            Some(TaskStatus::Deleted) => counts.deleted += count,
            Some(TaskStatus::Quarantined) | None => counts.quarantined += count,
        }
    }
    Ok(counts)
}

fn results(conn: &Connection, task: i64) -> rusqlite::Result<Vec<(String, serde_json::Value)>> {
    conn.prepare_cached(RESULTS)?
        .query_map([task], |row| Ok((row.get(0)?, json(row.get(1)?).unwrap_or_default())))?
        .collect()
}

fn read_task(row: &Row<'_>) -> rusqlite::Result<Task> {
    let queued = read(row)?;
    Ok(Task {
        plan: TaskPlan {
            slug: queued.slug.clone(),
            title: row.get(QUEUED)?,
            description: row.get(QUEUED + 1)?,
            category: row.get(QUEUED + 2)?,
            priority: Priority(row.get(QUEUED + 3)?),
            spec: row.get(QUEUED + 4)?,
            reference: row.get(QUEUED + 5)?,
            deps: Vec::new(),
            steps: Vec::new(),
            verify: row.get(QUEUED + 10)?,
        },
        queued,
        result: json(row.get(QUEUED + 6)?),
        created_at: Ms(row.get(QUEUED + 7)?),
        updated_at: Ms(row.get(QUEUED + 8)?),
        deleted_at: row.get::<_, Option<i64>>(QUEUED + 9)?.map(Ms),
    })
}

pub(super) fn json(text: Option<String>) -> Option<serde_json::Value> {
    text.and_then(|text| serde_json::from_str(&text).ok())
}
