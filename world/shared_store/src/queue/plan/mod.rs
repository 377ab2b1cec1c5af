//! Planning on the server: read under the project's lock, decided here, written in one flight, committed or undone.

mod draft;
mod flush;
mod rows;

use super::answer;
use super::flights::{Ask, Flights, Trouble, text};
use super::{Identity, PgQueue};
use crate::FlightError;
use rows::PlanTransaction;
use serde::Deserialize;
use store::{Error, PlanRows, ServerError};

/// So often a plan is made anew because somebody's turn came between what it read and what it wrote.
const MOST_TRIES: u32 = 20;

type Work<'w> = dyn FnMut(&dyn PlanRows) -> Result<(), Error> + 'w;

/// A transaction, and since when its server runs.
#[derive(Deserialize)]
struct Locked {
    transaction: String,
    since: String,
}

#[derive(Deserialize)]
struct Fate {
    fate: Option<String>,
    since: String,
}

pub(super) fn plan(queue: &mut PgQueue, work: &mut Work<'_>) -> Result<(), Error> {
    let identity = &queue.identity;
    let mut tries = 0;
    // The transaction to whose commit there was no answer.
    let mut unknown: Option<Locked> = None;
    let done = queue.link.verb(|flights| {
        if let Some(before) = &unknown
            && was_kept(flights, before)?
        {
            return Ok(Ok(()));
        }
        unknown = None;
        tries += 1;
        match once(flights, identity, work, &mut unknown) {
            Err(Trouble::Overtaken(why)) if tries >= MOST_TRIES => Err(Trouble::Final(ServerError::Busy(why))),
            // Another plan may be a long one.
            Err(Trouble::Flight(error)) if error.is_locked() => {
                Err(Trouble::Overtaken(ServerError::from(error).to_string()))
            }
            done => done,
        }
    });
    match (done, unknown) {
        (Err(ServerError::Away(why)), Some(_)) => Err(ServerError::Away(not_known(&why)).into()),
        (Err(ServerError::Refused(why)), Some(_)) => Err(ServerError::Refused(not_known(&why)).into()),
        (done, _) => done?,
    }
}

/// What helps against a refusal stays at the end.
fn not_known(why: &str) -> String {
    let (why, helps) = why.split_at(why.find(". What helps: ").unwrap_or(why.len()));
    format!(
        "{why}; whether the plan was written is not known: `taut task list` shows it once the server answers{helps}"
    )
}

/// An error of the work itself is no trouble with the server.
fn once(
    flights: &mut Flights<'_>,
    identity: &Identity,
    work: &mut Work<'_>,
    unknown: &mut Option<Locked>,
) -> Result<Result<(), Error>, Trouble> {
    flights.open = true;
    let lock = flights.ask("plan_lock", vec![identity.project()]);
    let [_, _, locked] = flights.fly([Ask::begin(), flights.guard(), lock])?;
    let Some(locked) = locked.into_iter().next() else { return Err(gone(identity)) };
    let locked: Locked = answer::row(locked)?;
    let rows = PlanTransaction::new(flights, identity);
    let worked = work(&rows);
    let draft = rows.finish()?;
    if let Err(error) = worked {
        return Ok(Err(error));
    }
    flush::flush(flights, identity, &draft)?;
    *unknown = Some(locked);
    let committed = flights.fly([Ask::commit()]);
    if let Err(Trouble::Flight(error @ FlightError::Said { .. })) = &committed
        && !error.is_broken()
    {
        // The server's own word that it is not.
        *unknown = None;
    }
    committed?;
    flights.open = false;
    Ok(Ok(()))
}

/// Whether a transaction was committed whose connection broke before it could say so.
fn was_kept(flights: &mut Flights<'_>, before: &Locked) -> Result<bool, Trouble> {
    let asked = flights.one("plan_fate", vec![text(&before.transaction)]);
    let rows = match asked {
        // The server that stands in for the other never heard of it.
        Err(Trouble::Flight(FlightError::Said { state, .. })) if state.starts_with("22") => return Ok(false),
        asked => asked?,
    };
    let Some(Fate { fate, since }) = rows.into_iter().next().map(answer::row::<Fate>).transpose()? else {
        return Ok(false);
    };
    match fate.as_deref() {
        Some("committed") if since == before.since => Ok(true),
        Some("committed") => Err(Trouble::Final(ServerError::Away(
            "the connection broke when the plan was committed, and the server was started again since".to_string(),
        ))),
        Some("in progress") => Err(Trouble::Overtaken(
            "the connection broke when the plan was committed, and the server still has it in hand; \
             `taut task list` shows what became of it"
                .to_string(),
        )),
        _ => Ok(false),
    }
}

fn gone(identity: &Identity) -> Trouble {
    Trouble::Final(ServerError::Refused(format!(
        "the queue {} is not on the server any more; `taut shared status` looks again",
        identity.queue
    )))
}
