//! What is sent next: records of events behind the cursor, then moments of work, no more than one request carries.

use engine::telemetry::{TelemetryLevel, TelemetryRecord, TelemetrySource, body, of_event, of_moment};
use model::Ms;
use store::{Error, Store, TelemetryCursor};

/// curl reads the body as one line of its settings, and older ones read no more than 100 KB of a line.
const MOST_BYTES: usize = 40 * 1024;
/// So much is read at once.
const MOST_EVENTS: usize = 500;
const MOST_EVENT_BYTES: usize = 256 * 1024;
pub const MOST_CHANGES: usize = 1_000;

/// What was written a little before something that is there already may come to light only after it.
const OVERLAP_MS: i64 = 10_000;
const MOST_TOLD: usize = 4_000;

pub struct TelemetryBatch {
    pub records: Vec<TelemetryRecord>,
    /// Where the cursor stands once they are taken.
    pub after: TelemetryCursor,
    /// Nothing is behind it.
    pub is_last: bool,
}

/// What a batch is made for.
pub struct BatchLook {
    pub level: TelemetryLevel,
    pub now: Ms,
    /// So many changes of work of each kind are read at once.
    pub most_changes: usize,
}

/// The cursor where a clock that was ahead was set right: what comes until it is as late again would be told to nobody.
pub fn no_later(cursor: TelemetryCursor, now: Ms) -> TelemetryCursor {
    // A little later is where more were passed over than can be told apart.
    let is_ahead = cursor.moment > now.0.saturating_add(OVERLAP_MS + 1);
    TelemetryCursor { moment: if is_ahead { now.0 } else { cursor.moment }, ..cursor }
}

pub fn next_batch(store: &Store, cursor: &TelemetryCursor, look: &BatchLook) -> Result<TelemetryBatch, Error> {
    let mut batch = TelemetryBatch { records: Vec::new(), after: cursor.clone(), is_last: false };
    let mut room = Room { left: MOST_BYTES };
    let events = store.events_after(cursor.seq, MOST_EVENTS, MOST_EVENT_BYTES)?;
    let all_read = events.len() < MOST_EVENTS;
    for one in &events {
        let mut waits = batch.after.waits.clone();
        let records = of_event(&one.event, one.project.as_deref(), look.level, &mut waits);
        if !room.takes(&records) && !batch.records.is_empty() {
            return Ok(batch);
        }
        batch.records.extend(records);
        (batch.after.seq, batch.after.waits) = (one.seq, waits);
    }
    if !all_read {
        return Ok(batch);
    }
    batch.is_last = moments(store, &mut batch, &mut room, look)? && events.is_empty();
    Ok(batch)
}

/// Whether all of them are in it.
fn moments(store: &Store, batch: &mut TelemetryBatch, room: &mut Room, look: &BatchLook) -> Result<bool, Error> {
    let since = Ms(batch.after.moment.saturating_sub(OVERLAP_MS));
    let found = store.work_changes(since, look.most_changes)?;
    let mut told = batch.after.told.clone();
    let mut all = true;
    for moment in found.iter().filter(|moment| !batch.after.told.contains(&moment.id)) {
        let record = of_moment(moment, look.level);
        if !room.takes(std::slice::from_ref(&record)) && !batch.records.is_empty() {
            all = false;
            break;
        }
        batch.records.push(record);
        told.push(moment.id.clone());
        // What a clock that was ahead has dated is told, but is no place to go on from.
        batch.after.moment = batch.after.moment.max(moment.at.min(look.now.0));
    }
    let mut past = found.iter().map(|moment| moment.at).filter(|at| *at <= look.now.0);
    // So many at one moment are not told apart: it goes on behind them.
    if told.len() == batch.after.told.len()
        && let Some(last) = past.nth(look.most_changes.saturating_sub(1))
    {
        batch.after.moment = past.next_back().unwrap_or(last).saturating_add(OVERLAP_MS + 1);
    }
    // Only those that would be found again have to be known.
    let from = batch.after.moment.saturating_sub(OVERLAP_MS);
    told.retain(|id| found.iter().any(|moment| moment.id == *id && moment.at >= from));
    told.drain(..told.len().saturating_sub(MOST_TOLD));
    batch.after.told = told;
    Ok(all)
}

/// How much more a request carries.
struct Room {
    left: usize,
}

impl Room {
    fn takes(&mut self, records: &[TelemetryRecord]) -> bool {
        if records.is_empty() {
            return true;
        }
        let used = body(&TelemetrySource::default(), records).to_string().len();
        let fits = used <= self.left;
        self.left = self.left.saturating_sub(used);
        fits
    }
}

#[cfg(test)]
mod tests;
