//! The time that retention goes by. The system's clock may be set to anything,
//! for a moment or for good, so it is believed as far as the machine has really
//! run, and whatever is beyond that once it has held for a day.

use crate::{Error, Store};
use model::Ms;
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::{Value, json};
use std::fmt;

const DAY_MS: i64 = 86_400_000;

/// Where the clock and the machine's running time part by more, the clock was set.
const JUMP_MS: i64 = 10 * 60_000;

/// A machine that was off is believed to have been off for so long at most.
const OFF_MS: i64 = 2 * DAY_MS;

/// How long a clock that was set must hold until it is believed.
const HOLDS_MS: i64 = DAY_MS;

/// A jump is told for so long.
const TOLD_MS: i64 = 7 * DAY_MS;
const MOST_JUMPS: usize = 6;

/// It is written this often, and when something came of a look.
const WRITE_EVERY_MS: i64 = 5 * 60_000;

const NAME: &str = "retention_clock";
const FIND: &str = "SELECT value FROM meta WHERE name = ?1";
const PUT: &str = "INSERT OR REPLACE INTO meta (name, value) VALUES (?1, ?2)";

/// The newest that are looked at to learn what time it was, in the order they were stored.
const NEWEST: &str = "SELECT at FROM (SELECT seq, at FROM events ORDER BY seq DESC LIMIT 10000) ORDER BY seq";

/// One moment on the clocks of the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clocks {
    /// The system's clock, which anybody may set.
    pub now: Ms,
    /// How long the machine has been on, asleep or awake.
    pub since_boot_ms: i64,
    /// Tells one run of the machine from the next.
    pub boot: String,
}

/// The system's clock was set while the machine ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockJump {
    /// What it said afterwards.
    pub to: Ms,
    /// Ahead where positive.
    pub by_ms: i64,
}

/// One sentence without an end.
impl fmt::Display for ClockJump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by = self.by_ms.unsigned_abs() / 60_000;
        let by = match by {
            minutes @ ..120 => format!("{minutes} minutes"),
            minutes @ 120..2880 => format!("{} hours", minutes / 60),
            minutes => format!("{} days", minutes / 1440),
        };
        let way = if self.by_ms > 0 { "ahead" } else { "back" };
        write!(f, "the system's clock was set {way} by {by}, to {}", self.to.rfc3339())
    }
}

/// What is remembered between two looks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Believed {
    seen: Ms,
    since_boot_ms: i64,
    boot: String,
    /// The latest time that is believed; ahead of the clock where that was set back.
    time: Ms,
    /// For how long a clock that says something else has held.
    held_ms: i64,
    jumps: Vec<ClockJump>,
}

impl Clocks {
    pub fn at(now: Ms) -> Self {
        Self { now, since_boot_ms: sys::clock::since_boot_ms(), boot: sys::clock::boot().to_owned() }
    }
}

impl Believed {
    /// The first look at this memory. Events that lie further apart than a
    /// whole retention are not believed to follow each other, nor is the clock.
    pub fn first(conn: &Connection, clocks: &Clocks, span_ms: i64) -> rusqlite::Result<Self> {
        let mut newest: Option<i64> = None;
        let mut statement = conn.prepare(NEWEST)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let at: i64 = row.get(0)?;
            let follows = newest.is_none_or(|newest| at.saturating_sub(newest) <= span_ms);
            newest = if follows { newest.max(Some(at)) } else { newest };
        }
        let far = newest.filter(|newest| clocks.now.0.saturating_sub(*newest) > span_ms);
        let time = Ms(far.unwrap_or(clocks.now.0));
        let Clocks { now, since_boot_ms, boot } = clocks.clone();
        Ok(Self { seen: now, since_boot_ms, boot, time, ..Self::default() })
    }

    /// What is believed after another look.
    pub fn advanced(mut self, clocks: &Clocks) -> Self {
        let passed = clocks.now.0.saturating_sub(self.seen.0);
        let same_run = clocks.boot == self.boot && clocks.since_boot_ms >= self.since_boot_ms;
        let ran = same_run.then(|| clocks.since_boot_ms - self.since_boot_ms);
        self.time = self.time.plus(passed.clamp(0, ran.unwrap_or(OFF_MS)));
        let by_ms = ran.map_or(0, |ran| passed.saturating_sub(ran));
        let jumped = by_ms.saturating_abs() > JUMP_MS;
        if jumped {
            self.jumps.push(ClockJump { to: clocks.now, by_ms });
            let spare = self.jumps.len().saturating_sub(MOST_JUMPS);
            self.jumps.drain(..spare);
        }
        let parted = clocks.now.0.saturating_sub(self.time.0).saturating_abs() > JUMP_MS;
        self.held_ms = if parted && !jumped { self.held_ms.saturating_add(ran.unwrap_or(0)) } else { 0 };
        if self.held_ms >= HOLDS_MS {
            (self.time, self.held_ms) = (clocks.now, 0);
        }
        let Clocks { now, since_boot_ms, boot } = clocks.clone();
        Self { seen: now, since_boot_ms, boot, ..self }
    }

    /// What retention counts from: nothing is old only because a clock says so.
    pub fn reference(&self) -> Ms {
        self.time.min(self.seen)
    }

    /// Goes on even where the clock was set back.
    pub fn time(&self) -> Ms {
        self.time
    }

    pub fn is_worth_writing(&self, before: Option<&Self>) -> bool {
        before.is_none_or(|before| {
            let apart = self.seen.0.saturating_sub(before.seen.0).saturating_abs();
            apart >= WRITE_EVERY_MS || self.jumps != before.jumps || self.boot != before.boot
        })
    }

    pub fn find(conn: &Connection) -> rusqlite::Result<Option<Self>> {
        let text: Option<String> = conn.prepare_cached(FIND)?.query_row([NAME], |row| row.get(0)).optional()?;
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()).and_then(|value| Self::of(&value)))
    }

    pub fn put(&self, conn: &Connection) -> rusqlite::Result<()> {
        conn.prepare_cached(PUT)?.execute(params![NAME, self.value().to_string()]).map(drop)
    }

    fn of(value: &Value) -> Option<Self> {
        let number = |name: &str| value.get(name).and_then(Value::as_i64);
        let jump = |one: &Value| Some(ClockJump { to: Ms(one.get(0)?.as_i64()?), by_ms: one.get(1)?.as_i64()? });
        Some(Self {
            seen: Ms(number("seen")?),
            since_boot_ms: number("since_boot")?,
            boot: value.get("boot")?.as_str()?.to_owned(),
            time: Ms(number("time")?),
            held_ms: number("held")?,
            jumps: value.get("jumps")?.as_array()?.iter().filter_map(jump).collect(),
        })
    }

    fn value(&self) -> Value {
        let jumps: Vec<Value> = self.jumps.iter().map(|jump| json!([jump.to.0, jump.by_ms])).collect();
        json!({
            "seen": self.seen.0, "since_boot": self.since_boot_ms, "boot": self.boot,
            "time": self.time.0, "held": self.held_ms, "jumps": jumps,
        })
    }
}

impl Store {
    /// What retention counts from: not later than this clock says, and not what a clock that was set says alone.
    pub fn retention_time(&self, now: Ms) -> Result<Ms, Error> {
        Ok(self.read(Believed::find)?.map_or(now, |believed| believed.reference().min(now)))
    }

    /// When the system's clock was set in the last days, the latest last.
    pub fn clock_jumps(&self) -> Result<Vec<ClockJump>, Error> {
        let believed = self.read(Believed::find)?.unwrap_or_default();
        let recent = |jump: &ClockJump| {
            let there = jump.to.0.saturating_sub(jump.by_ms);
            believed.time.0.saturating_sub(there.min(jump.to.0)) <= TOLD_MS || jump.to > believed.time
        };
        Ok(believed.jumps.iter().copied().filter(recent).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000;
    const START: i64 = 100 * DAY_MS;

    fn clocks(now: i64, since_boot_ms: i64, boot: &str) -> Clocks {
        Clocks { now: Ms(now), since_boot_ms, boot: boot.into() }
    }

    fn begun() -> Believed {
        let boot = "a".to_owned();
        Believed { seen: Ms(START), since_boot_ms: 5, boot, time: Ms(START), ..Believed::default() }
    }

    #[test]
    fn t11_a_clock_is_believed_as_far_as_the_machine_ran_asleep_or_awake() {
        let later = begun().advanced(&clocks(START + 9 * HOUR, 5 + 9 * HOUR, "a"));
        assert_eq!(later.reference(), Ms(START + 9 * HOUR));
        assert_eq!(later.jumps, []);
    }

    #[test]
    fn t11_five_seconds_of_a_clock_far_ahead_move_nothing_and_are_noticed() {
        let ahead = begun().advanced(&clocks(START + 45 * DAY_MS, 5_005, "a"));
        assert_eq!(ahead.reference(), Ms(START + 5_000));
        let back = ahead.advanced(&clocks(START + 10_000, 10_005, "a"));
        assert_eq!(back.reference(), Ms(START + 5_000));
        let by: Vec<i64> = back.jumps.iter().map(|jump| jump.by_ms / DAY_MS).collect();
        assert_eq!(by, [44, -44], "but for the five seconds that passed");
        let day = back.advanced(&clocks(START + DAY_MS, 5 + DAY_MS, "a"));
        assert!(day.reference() > Ms(START + DAY_MS - HOUR), "and time goes on");
    }

    #[test]
    fn t11_a_clock_that_was_set_is_believed_once_it_has_held_for_a_day() {
        for by in [45 * DAY_MS, -45 * DAY_MS] {
            let mut believed = begun().advanced(&clocks(START + by, 5, "a"));
            let mut hours = 0;
            while believed.time() != believed.seen {
                hours += 1;
                believed = believed.advanced(&clocks(START + by + hours * HOUR, 5 + hours * HOUR, "a"));
                assert!(hours < 30, "never");
            }
            assert_eq!(hours, 24, "{by}");
        }
    }

    #[test]
    fn t11_a_clock_set_back_makes_nothing_older_and_nothing_immortal() {
        let back = begun().advanced(&clocks(START - 300 * DAY_MS, 6, "a"));
        assert_eq!(back.reference(), Ms(START - 300 * DAY_MS));
        let again = back.advanced(&clocks(START + HOUR, 6 + HOUR, "a"));
        assert_eq!(again.reference(), Ms(START + HOUR));
    }

    #[test]
    fn t11_a_machine_that_was_off_is_believed_for_two_days_and_then_by_running() {
        let night = begun().advanced(&clocks(START + 16 * HOUR, 1, "b"));
        assert_eq!(night.reference(), Ms(START + 16 * HOUR));
        let mut holiday = begun().advanced(&clocks(START + 20 * DAY_MS, 1, "b"));
        assert_eq!((holiday.reference(), holiday.jumps.len()), (Ms(START + OFF_MS), 0));
        // Eight hours a day, switched off at night.
        for day in 20..24 {
            let boot = format!("day{day}");
            holiday = holiday.advanced(&clocks(START + day * DAY_MS, 1, &boot));
            holiday = holiday.advanced(&clocks(START + day * DAY_MS + 8 * HOUR, 1 + 8 * HOUR, &boot));
        }
        assert_eq!(holiday.reference(), Ms(START + 23 * DAY_MS + 8 * HOUR));
    }

    #[test]
    fn what_is_believed_is_written_and_read_back_as_it_was() {
        let mut believed = begun();
        believed.jumps = vec![ClockJump { to: Ms(7), by_ms: -3 }];
        assert_eq!(Believed::of(&believed.value()), Some(believed));
    }
}
