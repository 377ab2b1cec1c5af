//! Turns that were decided here, written where the task still stands as it did.

use super::answer::{self, QueuedRow, shift};
use super::flights::{Ask, Flights, Trouble, json, text};
use super::{Identity, PgQueue};
use crate::Rows;
use model::task::TaskStatus;
use serde::Deserialize;
use store::{AttemptKey, LeaseNeed, ServerError, ServerTurn, TaskStanding, TurnAnswer};

/// Each of them is waited for.
const MOST_LOCKED: usize = 3;

#[derive(Deserialize)]
struct Written {
    id: i64,
}

pub(super) fn turns(queue: &mut PgQueue, turns: &[ServerTurn]) -> Result<Vec<i64>, ServerError> {
    if turns.is_empty() {
        return Ok(Vec::new());
    }
    refuse_claims(turns)?;
    match queue.link.verb(|flights| write(flights, turns)) {
        Err(ServerError::Refused(_) | ServerError::Busy(_)) if turns.len() > 1 => one_by_one(queue, turns),
        written => written,
    }
}

/// What one is refused for, or kept from, holds up none of the others.
fn one_by_one(queue: &mut PgQueue, turns: &[ServerTurn]) -> Result<Vec<i64>, ServerError> {
    let (mut written, mut refused, mut locked) = (Vec::new(), None, 0);
    for turn in turns {
        match queue.link.verb(|flights| write(flights, std::slice::from_ref(turn))) {
            Ok(ids) => written.extend(ids),
            Err(ServerError::Away(why)) => return Err(ServerError::Away(why)),
            Err(error) => {
                locked += usize::from(matches!(error, ServerError::Busy(_)));
                refused.get_or_insert(error);
            }
        }
        if locked == MOST_LOCKED {
            break;
        }
    }
    match refused {
        Some(error) if written.is_empty() => Err(error),
        _ => Ok(written),
    }
}

pub(super) fn settle(queue: &mut PgQueue, turn: &ServerTurn) -> Result<TurnAnswer, ServerError> {
    refuse_claims(std::slice::from_ref(turn))?;
    let (identity, grace) = (&queue.identity, queue.grace_ms);
    let mine = turn.claim.as_deref().map_or(AttemptKey::Number(turn.attempt), AttemptKey::Claim);
    queue.link.verb(|flights| {
        let turns = std::slice::from_ref(turn);
        let written = !write(flights, turns)?.is_empty() || written_in_grace(flights, turns, grace)?;
        if written {
            return Ok(TurnAnswer::Written);
        }
        Ok(match standing(flights, identity, &turn.slug, mine)? {
            Some(now) if said_before(turn, &now) => TurnAnswer::Already,
            now => TurnAnswer::Lost(now.map(Box::new)),
        })
    })
}

pub(super) fn standing(
    flights: &mut Flights<'_>,
    identity: &Identity,
    slug: &str,
    mine: AttemptKey<'_>,
) -> Result<Option<TaskStanding>, Trouble> {
    let (claim, number, agent) = match mine {
        AttemptKey::Claim(claim) => (uuid(claim), None, None),
        AttemptKey::Number(number) => (None, text(&number.to_string()), None),
        AttemptKey::Agent(agent) => (None, None, text(agent)),
    };
    let project = text(&identity.project.to_string());
    let parameters = vec![project, text(slug), text(&identity.machine.id), claim, number, agent];
    let rows = flights.one("standing", parameters)?;
    let reading = identity.reading(shift(flights.sent, &rows));
    let row: Option<QueuedRow> = rows.into_iter().next().map(answer::row).transpose()?;
    Ok(row.map(|row| reading.standing(&row, &identity.machine.label)))
}

/// Behind a pooler a start of the server is not noticed, so the grace may not have been given when the word was said. Said
/// again whether there was one to give or not: another machine may have asked for it in between.
fn written_in_grace(flights: &mut Flights<'_>, turns: &[ServerTurn], grace_ms: i64) -> Result<bool, Trouble> {
    if grace_ms <= 0 || turns.iter().all(|turn| turn.need != Some(LeaseNeed::Live)) {
        return Ok(false);
    }
    grant(flights, grace_ms)?;
    Ok(!write(flights, turns)?.is_empty())
}

/// Every lease that was not given one since its last renewal.
pub(super) fn grant(flights: &mut Flights<'_>, grace_ms: i64) -> Result<(), Trouble> {
    if grace_ms > 0 {
        flights.write_one("grant", vec![text(&grace_ms.to_string())])?;
    }
    Ok(())
}

/// What the statements `turn` and `turned` are told.
pub(super) fn told<'a>(turns: impl IntoIterator<Item = &'a ServerTurn>) -> Result<Option<String>, Trouble> {
    let turns: Vec<&ServerTurn> = turns.into_iter().collect();
    let value = serde_json::to_value(turns)
        .map_err(|cause| Trouble::Final(ServerError::Refused(format!("a turn cannot be written as JSON: {cause}"))))?;
    Ok(json(value))
}

/// Gives the ids of those that were written.
pub(super) fn write(flights: &mut Flights<'_>, turns: &[ServerTurn]) -> Result<Vec<i64>, Trouble> {
    let all = told(turns)?;
    if turns.iter().all(|turn| turn.outcome.is_some() && turn.claim.is_some()) {
        let [written, _] = flights.write([flights.ask("turn", vec![all.clone()]), flights.ask("turned", vec![all])])?;
        return ids(written);
    }
    // Only this transaction's own word is told to those who wait, so its answer is read first.
    flights.open = true;
    let flight = [Ask::begin(), flights.guard(), flights.ask("turn", vec![all])];
    let [_, _, written] = flights.fly(flight)?;
    let written = ids(written)?;
    let mine = told(turns.iter().filter(|turn| written.contains(&turn.id)))?;
    flights.fly([flights.ask("turned", vec![mine]), Ask::commit()])?;
    flights.open = false;
    Ok(written)
}

fn ids(rows: Rows) -> Result<Vec<i64>, Trouble> {
    Ok(answer::rows::<Written>(rows)?.into_iter().map(|row| row.id).collect())
}

/// The attempt ended so; or, where nobody held it, the task stands as it was to stand.
fn said_before(turn: &ServerTurn, now: &TaskStanding) -> bool {
    match turn.outcome() {
        Some(outcome) => now.mine.as_ref().is_some_and(|mine| mine.outcome == Some(outcome)),
        None => turn.claim.is_none() && now.task.status == turn.status() && now.task.attempt == turn.attempt,
    }
}

/// Only a claim makes a task active, and only a renewal leaves it so.
fn refuse_claims(turns: &[ServerTurn]) -> Result<(), ServerError> {
    match turns.iter().find(|turn| turn.status() == TaskStatus::Active) {
        Some(turn) => Err(ServerError::Refused(format!(
            "task '{}' cannot be made active by a turn; `taut task claim` claims it",
            turn.slug
        ))),
        None => Ok(()),
    }
}

/// What is no UUID was never given out as a claim.
fn uuid(claim: &str) -> Option<String> {
    let plain = claim.len() == 36 && claim.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    plain.then(|| claim.to_string())
}
