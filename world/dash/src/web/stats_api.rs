//! Some days at a glance, for the page: the same numbers as `taut stats --json`.

use super::api::{now, scrubbed};
use crate::stats::{self, StatsDays, StatsScope};
use model::Ms;
use serde::Deserialize;
use serde_json::Value;
use store::Store;

/// More days than are kept.
const MOST_DAYS: i64 = 400;

/// How many days, today included.
#[derive(Debug, Default, Deserialize)]
pub struct StatsSpan {
    pub days: Option<i64>,
}

/// Who opened the page is a person, and sees all projects.
pub fn stats(store: Option<&Store>, span: &StatsSpan) -> Result<Value, store::Error> {
    let to = day_of(now());
    let days = StatsDays { from: to - span.days.unwrap_or(7).clamp(1, MOST_DAYS) + 1, to };
    let report = match store {
        Some(store) => stats::report(store, days, &StatsScope::Everybody, &day_of)?,
        None => stats::empty(days),
    };
    Ok(scrubbed(serde_json::to_value(&report).unwrap_or_default()))
}

pub fn day_of(at: Ms) -> i64 {
    let offset = i64::from(sys::clock::utc_offset_s(at.0.div_euclid(1000))) * 1000;
    at.plus(offset).0.div_euclid(86_400_000)
}
