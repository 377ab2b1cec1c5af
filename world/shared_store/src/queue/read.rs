//! Reads, with the meaning and the order of the local ones.

use super::answer::{self, AttemptRow, QueuedRow, TaskRow, shift};
use super::flights::{Ask, Flights, Trouble, json, maybe, text};
use super::pages::{FEW, paged};
use super::{Identity, PgQueue};
use crate::Rows;
use model::task::{Attempt, Counts, Queued, Task, TaskStatus};
use serde::Deserialize;
use serde_json::{Value, json as object};
use std::collections::BTreeMap;
use store::{Dependency, QueueLook, ServerError, TaskFilter, WaitingTasks};

/// How many are told of those that wait for the same reason.
const MOST: &str = "20";

#[derive(Deserialize)]
pub(super) struct EdgeRow {
    pub task: String,
    pub blocker: String,
    status: String,
    open_blockers: i64,
}

#[derive(Deserialize)]
struct LookRow {
    open: i64,
    active: i64,
    done: i64,
    blocked: i64,
    deleted: i64,
    quarantined: i64,
    resting: i64,
    next: Option<i64>,
}

pub(super) fn task(queue: &mut PgQueue, slug: &str) -> Result<Option<Task>, ServerError> {
    Ok(whole(queue, slug)?.map(|(task, _)| task))
}

pub(super) fn blocker_results(queue: &mut PgQueue, slug: &str) -> Result<Vec<(String, Value)>, ServerError> {
    Ok(whole(queue, slug)?.map(|(_, results)| results).unwrap_or_default())
}

type Whole = (Task, Vec<(String, Value)>);

fn whole(queue: &mut PgQueue, slug: &str) -> Result<Option<Whole>, ServerError> {
    let identity = &queue.identity;
    queue.link.verb(|flights| {
        let rows = flights.one("task", vec![identity.project(), text(slug)])?;
        let reading = identity.reading(shift(flights.sent, &rows));
        let row: Option<TaskRow> = rows.into_iter().next().map(answer::row).transpose()?;
        Ok(row.map(|row| (reading.task(&row), row.results())))
    })
}

pub(super) fn tasks(queue: &mut PgQueue, filter: &TaskFilter) -> Result<Vec<Task>, ServerError> {
    let identity = &queue.identity;
    queue.link.verb(|flights| {
        let (rows, shift) = listed(flights, identity, filter)?;
        let reading = identity.reading(shift);
        Ok(answer::readable::<TaskRow>(rows)?.iter().map(|row| reading.task(row)).collect())
    })
}

/// What the filter finds, in its order, and the shift of its clock.
pub(super) fn listed(
    flights: &mut Flights<'_>,
    identity: &Identity,
    filter: &TaskFilter,
) -> Result<(Rows, i64), Trouble> {
    let parameters = filtered(identity, filter);
    if !(1..=FEW).contains(&filter.limit) {
        return paged(flights, identity, "tasks_found", parameters);
    }
    let rows = flights.one("tasks", parameters)?;
    let shift = shift(flights.sent, &rows);
    Ok((rows, shift))
}

/// The parameters of the statements `tasks` and `tasks_found`.
fn filtered(identity: &Identity, filter: &TaskFilter) -> Vec<Option<String>> {
    let statuses: Vec<&str> = filter.statuses.iter().map(|status| status.name()).collect();
    vec![
        identity.project(),
        (!statuses.is_empty()).then(|| object!(statuses).to_string()),
        maybe(filter.agent.as_deref()),
        text(&identity.machine.id),
        maybe(filter.spec.as_deref()),
        maybe(filter.category.as_deref()),
        filter.claimable_at.map(|_| "claimable".to_string()),
        (filter.limit > 0).then(|| i64::try_from(filter.limit).unwrap_or(i64::MAX).to_string()),
    ]
}

pub(super) fn attempts(queue: &mut PgQueue, slug: &str) -> Result<Vec<Attempt>, ServerError> {
    let identity = &queue.identity;
    queue.link.verb(|flights| {
        let rows = flights.one("attempts", vec![identity.project(), text(slug)])?;
        let reading = identity.reading(shift(flights.sent, &rows));
        Ok(answer::readable::<AttemptRow>(rows)?.iter().map(|row| reading.attempt(row)).collect())
    })
}

pub(super) fn dependencies_below(queue: &mut PgQueue, slug: &str) -> Result<Vec<Dependency>, ServerError> {
    let identity = &queue.identity;
    let edges = queue.link.verb(|flights| below(flights, identity, &[slug]))?;
    let dependencies = edges.into_iter().map(|edge| Dependency {
        status: TaskStatus::parse(&edge.status).unwrap_or(TaskStatus::Quarantined),
        task: edge.task,
        blocker: edge.blocker,
        open_blockers: edge.open_blockers,
    });
    Ok(dependencies.collect())
}

/// Every dependency that these have, and their blockers', and so on.
pub(super) fn below(flights: &mut Flights<'_>, identity: &Identity, slugs: &[&str]) -> Result<Vec<EdgeRow>, Trouble> {
    answer::rows(flights.one("below", vec![identity.project(), json(object!(slugs))])?)
}

pub(super) fn tasks_of_document(queue: &mut PgQueue, spec: &str) -> Result<Vec<Queued>, ServerError> {
    let identity = &queue.identity;
    queue.link.verb(|flights| {
        let rows = flights.one("document", vec![identity.project(), text(spec)])?;
        let reading = identity.reading(shift(flights.sent, &rows));
        Ok(answer::readable::<QueuedRow>(rows)?.iter().map(|row| reading.queued(row)).collect())
    })
}

pub(super) fn look(queue: &mut PgQueue) -> Result<QueueLook, ServerError> {
    let identity = &queue.identity;
    queue.link.verb(|flights| {
        let rows = flights.one("look", vec![identity.project()])?;
        let shift = shift(flights.sent, &rows);
        looked(identity, shift, rows)
    })
}

fn looked(identity: &Identity, shift: i64, rows: Vec<Value>) -> Result<QueueLook, Trouble> {
    let Some(row) = rows.into_iter().next() else { return Ok(QueueLook::default()) };
    let row: LookRow = answer::row(row)?;
    Ok(QueueLook {
        counts: Counts {
            open: row.open,
            active: row.active,
            done: row.done,
            blocked: row.blocked,
            deleted: row.deleted,
            quarantined: row.quarantined,
        },
        claimable: row.open - row.resting,
        resting: row.resting,
        // What is said to be done is not told to a server before it is proven.
        proposed: 0,
        next: row.next.map(|moment| identity.reading(shift).here(moment)),
    })
}

pub(super) fn waiting(queue: &mut PgQueue) -> Result<WaitingTasks, ServerError> {
    let identity = &queue.identity;
    queue.link.verb(|flights| {
        let sample = |why: &str| flights.ask("sample", vec![identity.project(), text(why), text(MOST)]);
        let flight = [
            Ask::begin_reading(),
            flights.ask("look", vec![identity.project()]),
            sample("blocked"),
            sample("resting"),
            sample("quarantined"),
            sample("active"),
            flights.ask("edges", vec![identity.project(), text("[]")]),
            Ask::commit(),
        ];
        let [_, look, blocked, resting, quarantined, active, edges, _] = flights.fly(flight)?;
        let shift = shift(flights.sent, &look);
        let reading = identity.reading(shift);
        let queued = |rows| -> Result<Vec<Queued>, Trouble> {
            Ok(answer::readable::<QueuedRow>(rows)?.iter().map(|row| reading.queued(row)).collect())
        };
        let look = looked(identity, shift, look)?;
        let blocked = answer::readable::<QueuedRow>(blocked)?;
        Ok(WaitingTasks {
            counts: look.counts,
            claimable: look.claimable,
            blocked: blocked.into_iter().map(|row| (reading.queued(&row), row.waits_for.unwrap_or_default())).collect(),
            resting: queued(resting)?,
            quarantined: queued(quarantined)?,
            active: queued(active)?,
            dependencies: graph(answer::rows(edges)?),
        })
    })
}

/// Whom each one waits for.
pub(super) fn graph(edges: Vec<(String, String)>) -> BTreeMap<String, Vec<String>> {
    let mut graph: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (task, blocker) in edges {
        graph.entry(task).or_default().push(blocker);
    }
    graph
}
