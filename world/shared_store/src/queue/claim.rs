//! Claims that may be sent again.

use super::answer::{self, TaskRow, shift};
use super::flights::{Flights, Trouble, maybe, text};
use super::{Identity, PgQueue};
use crate::{Rows, SPEAKS};
use store::{ClaimWish, ServerClaim, ServerError};

/// A rest that is over is ended for so many tasks at once; the others wait for the next claim.
const MOST_RESTED: &str = "64";

pub(super) fn claim(queue: &mut PgQueue, wish: &ClaimWish) -> Result<Option<ServerClaim>, ServerError> {
    let identity = &queue.identity;
    // After a broken connection nothing is known of the claim, so it is looked for before it is made.
    let mut sent = false;
    queue.link.verb(|flights| {
        if std::mem::replace(&mut sent, true)
            && let Some(made) = claimed(flights, identity, wish)?
        {
            return Ok(Some(made));
        }
        let rows = match send(flights, identity, wish) {
            Ok(rows) if !rows.is_empty() => rows,
            // The same wish may have been asked by whoever called, before.
            Ok(_) => return claimed(flights, identity, wish),
            Err(Trouble::Flight(error)) if error.is_duplicate() => return claimed(flights, identity, wish),
            Err(trouble) => return Err(trouble),
        };
        made(flights, identity, wish, rows)
    })
}

fn send(flights: &mut Flights<'_>, identity: &Identity, wish: &ClaimWish) -> Result<Rows, Trouble> {
    let mut parameters = vec![
        text(&identity.project.to_string()),
        text(&identity.machine.id),
        text(&wish.agent),
        maybe(wish.session.as_deref()),
        text(&wish.claim),
        text(&wish.lease_ms.to_string()),
    ];
    let speaks = text(&SPEAKS.to_string());
    let machine = flights.ask("machine_known", vec![text(&identity.machine.id), text(&identity.machine.label), speaks]);
    let Some(slug) = &wish.slug else {
        let wake = flights.ask("wake", vec![text(MOST_RESTED)]);
        let [_, _, rows] = flights.fly([machine, wake, flights.ask("claim", parameters)])?;
        return Ok(rows);
    };
    parameters.push(text(slug));
    let [_, rows] = flights.fly([machine, flights.ask("claim_one", parameters)])?;
    Ok(rows)
}

fn claimed(flights: &mut Flights<'_>, identity: &Identity, wish: &ClaimWish) -> Result<Option<ServerClaim>, Trouble> {
    let rows = flights.one("claimed", vec![text(&wish.claim)])?;
    made(flights, identity, wish, rows)
}

fn made(
    flights: &Flights<'_>,
    identity: &Identity,
    wish: &ClaimWish,
    rows: Rows,
) -> Result<Option<ServerClaim>, Trouble> {
    let reading = identity.reading(shift(flights.sent, &rows));
    let Some(row) = rows.into_iter().next() else { return Ok(None) };
    let row: TaskRow = answer::row(row)?;
    let (task, blocker_results) = (reading.task(&row), row.results());
    Ok(Some(ServerClaim { task, claim: wish.claim.clone(), blocker_results }))
}
