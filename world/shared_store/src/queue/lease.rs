//! Leases: renewed, run out, held by this machine.

use super::PgQueue;
use super::answer::{self, QueuedRow, shift};
use super::flights::{json, text};
use super::turn::grant;
use serde::Deserialize;
use store::{HeldThere, Renewal, Renewed, RenewedLease, ServerError, TaskStanding};

#[derive(Deserialize)]
struct HeldRow {
    id: i64,
    slug: String,
    attempt: i64,
    claim: String,
    agent: String,
    silent_ms: i64,
    retry_count: i64,
    failures: i64,
    releases: i64,
}

#[derive(Deserialize)]
struct RenewedRow {
    id: i64,
    /// `None` where another holds the row in an open transaction.
    lease_ms: Option<i64>,
}

pub(super) fn renew(queue: &mut PgQueue, holds: &[Renewal]) -> Result<Renewed, ServerError> {
    if holds.is_empty() {
        return Ok(Renewed::default());
    }
    let told = serde_json::to_value(holds).ok().and_then(json);
    queue.link.verb(|flights| {
        let rows = match flights.write_one("renew", vec![told.clone()]) {
            // A row that somebody keeps locked costs no other its lease.
            Err(trouble) if trouble.is_locked() => flights.write_one("renew_free", vec![told.clone()])?,
            rows => rows?,
        };
        Ok(renewed(answer::rows(rows)?))
    })
}

fn renewed(rows: Vec<RenewedRow>) -> Renewed {
    let mut renewed = Renewed::default();
    for RenewedRow { id, lease_ms } in rows {
        match lease_ms {
            Some(lease_ms) => renewed.kept.push(RenewedLease { id, lease_ms }),
            None => renewed.locked.push(id),
        }
    }
    renewed
}

pub(super) fn lapsed(queue: &mut PgQueue, most: usize) -> Result<Vec<TaskStanding>, ServerError> {
    let (identity, grace) = (&queue.identity, queue.grace_ms);
    let parameters =
        vec![text(&identity.project.to_string()), text(&most.min(10_000).to_string()), text(&grace.to_string())];
    queue.link.verb(|flights| {
        grant(flights, grace)?;
        let rows = flights.one("lapsed", parameters.clone())?;
        let reading = identity.reading(shift(flights.sent, &rows));
        let rows: Vec<QueuedRow> = answer::readable(rows)?;
        Ok(rows.iter().map(|row| reading.standing(row, &identity.machine.label)).collect())
    })
}

pub(super) fn held(queue: &mut PgQueue) -> Result<Vec<HeldThere>, ServerError> {
    let parameters = vec![text(&queue.identity.project.to_string()), text(&queue.identity.machine.id)];
    let rows: Vec<HeldRow> = queue.link.verb(|flights| answer::readable(flights.one("held", parameters.clone())?))?;
    let held = rows.into_iter().map(|row| HeldThere {
        id: row.id,
        slug: row.slug,
        attempt: row.attempt,
        claim: row.claim,
        agent: row.agent,
        silent_ms: row.silent_ms,
        retry_count: row.retry_count,
        failures: row.failures,
        releases: row.releases,
    });
    Ok(held.collect())
}
