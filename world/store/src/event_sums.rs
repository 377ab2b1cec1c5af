//! Events summed by day, session and agent. Nobody pays for it on the way of an event: rows are summed afterwards, by the
//! daemon or by whoever asks, and what is not summed yet is counted as it is read.

use crate::{Durability, Error, Store};
use model::Ms;
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SumKind {
    /// Any event at all.
    Event,
    Prompt,
    /// A call, by its tool.
    Call,
    /// A call that failed, by its tool.
    Failed,
    /// A call that was denied.
    Denied,
    /// A call that a person had to confirm.
    Asked,
    /// A call that was denied or asked about, by the rule.
    Stopped,
    /// A call that passed when it was said again, by the rule.
    SaidAgain,
    /// A call that passed because a person allowed it, by the rule.
    Allowed,
    /// How often and how long a person was waited for.
    Wait,
}

impl SumKind {
    const NAMES: [(&'static str, Self); 10] = [
        ("event", Self::Event),
        ("prompt", Self::Prompt),
        ("call", Self::Call),
        ("failed", Self::Failed),
        ("denied", Self::Denied),
        ("asked", Self::Asked),
        ("stopped", Self::Stopped),
        ("said_again", Self::SaidAgain),
        ("allowed", Self::Allowed),
        ("wait", Self::Wait),
    ];

    fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }

    fn parse(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
    }
}

/// So often, and so long, on one day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventSum {
    /// Days since 1970 of the clock on the wall.
    pub day: i64,
    /// Empty where the events belong to none.
    pub session: String,
    pub agent: String,
    pub kind: SumKind,
    pub name: String,
    pub count: u64,
    pub ms: u64,
}

/// The sums of some days.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventSums {
    pub sums: Vec<EventSum>,
    /// So many older events are in none of them yet.
    pub left_out: u64,
}

/// How far the summing has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SumProgress {
    pub summed: u64,
    pub left: u64,
}

/// So many rows are read and written in one step.
const STEP: i64 = 5_000;

/// Of what is not summed yet so many of the latest events are read for an answer.
const MOST_UNSUMMED: i64 = 200_000;

const NAME: &str = "event_sums";
const FIND: &str = "SELECT value FROM meta WHERE name = 'event_sums'";
const PUT: &str = "INSERT OR REPLACE INTO meta (name, value) VALUES (?1, ?2)";
const LAST: &str = "SELECT ifnull(max(seq), 0) FROM events";

/// The detail is read only where something in it counts.
pub(crate) const READ: &str = "SELECT seq, at, agent, ifnull(session, ''), event, ifnull(tool, ''), verdict, rules,
      CASE WHEN rules IS NOT NULL OR instr(detail, '\"status\":{') > 0 THEN detail END,
      ifnull(host_session, '') LIKE 'taut-proof-%'
    FROM events NOT INDEXED WHERE seq > ?1 ORDER BY seq LIMIT ?2";

const ADD: &str =
    "INSERT INTO event_sums (day, session, agent, kind, name, count, ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
    ON CONFLICT (day, session, agent, kind, name) DO UPDATE SET count = count + excluded.count, ms = ms + excluded.ms";

const SUMMED: &str = "SELECT day, session, agent, kind, name, count, ms FROM event_sums WHERE day BETWEEN ?1 AND ?2";

/// Numbers of deleted rows are given again: what comes under them then is new.
const BACK: &str = "UPDATE meta SET value = json_set(value, '$.to', (SELECT ifnull(max(seq), 0) FROM events))
    WHERE name = 'event_sums' AND json_extract(value, '$.to') > (SELECT ifnull(max(seq), 0) FROM events)";

/// Which day on the wall a moment belongs to.
pub type DayOf<'d> = &'d dyn Fn(Ms) -> i64;

impl Store {
    /// Sums the next events. Call again while some are left; two that do it at once do it once.
    pub fn sum_events(&mut self, day_of: DayOf<'_>) -> Result<SumProgress, Error> {
        // Read before the write lock is taken: a hook waits for the writing only.
        let (before, mut counted, last) = self.read(|conn| {
            let before: Option<String> = conn.prepare_cached(FIND)?.query_row([], |row| row.get(0)).optional()?;
            let mut counted = Counted::from(before.as_deref());
            counted.read(conn, day_of, STEP)?;
            Ok((before, counted, conn.prepare_cached(LAST)?.query_row([], |row| row.get::<_, i64>(0))?))
        })?;
        let summed = std::mem::take(&mut counted.rows);
        if counted.read > 0 {
            self.transact(Durability::Normal, |tx| tx.verb(|conn| write(conn, before, &counted, &summed)))?;
        }
        Ok(SumProgress { summed: counted.read, left: u64::try_from(last - counted.to).unwrap_or_default() })
    }

    /// The sums of these days, with what is not summed yet.
    pub fn event_sums(&self, from: i64, to: i64, day_of: DayOf<'_>) -> Result<EventSums, Error> {
        self.read(|conn| {
            // One moment: what is summed meanwhile is not counted twice.
            let _snapshot = conn.unchecked_transaction()?;
            let before: Option<String> = conn.prepare_cached(FIND)?.query_row([], |row| row.get(0)).optional()?;
            let mut counted = Counted::from(before.as_deref());
            let last: i64 = conn.prepare_cached(LAST)?.query_row([], |row| row.get(0))?;
            let left_out = (last - MOST_UNSUMMED - counted.to).max(0);
            counted.to += left_out;
            counted.read(conn, day_of, MOST_UNSUMMED)?;
            let read = |row: &rusqlite::Row<'_>| {
                let number = |at: usize| row.get::<_, i64>(at).map(i64::cast_unsigned);
                let key = (row.get(0)?, row.get(1)?, row.get(2)?, row.get::<_, String>(3)?, row.get(4)?);
                Ok((key, number(5)?, number(6)?))
            };
            for row in conn.prepare_cached(SUMMED)?.query_map([from, to], read)? {
                let ((day, session, agent, kind, name), count, ms) = row?;
                let Some(kind) = SumKind::parse(&kind) else { continue };
                counted.add((day, session, agent, kind, name), count, ms);
            }
            let sums = counted.rows.into_iter().filter(|((day, ..), _)| (from..=to).contains(day));
            let sum = |((day, session, agent, kind, name), (count, ms))| EventSum {
                day,
                session,
                agent,
                kind,
                name,
                count,
                ms,
            };
            Ok(EventSums { sums: sums.map(sum).collect(), left_out: left_out.cast_unsigned() })
        })
    }
}

/// What a session is summed under, and what it has cost.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionSum {
    pub id: String,
    pub agent: String,
    pub project: String,
    pub model: Option<String>,
    pub last_seen_at: Ms,
    pub cost_usd: Option<f64>,
    pub cost_estimated: bool,
    pub tokens_in: u64,
    pub tokens_out: u64,
    pub tokens_cached: u64,
    /// The session that this one goes on with after a compaction: what it cost is in this one's.
    pub goes_on_with: Option<String>,
}

const SESSIONS: &str = "SELECT sessions.id, sessions.agent, ifnull(sessions.project, ''),
      coalesce(model, CASE WHEN json_valid(memo) THEN memo ->> '$.model' END), last_seen_at, cost_usd,
      ifnull(cost_estimated, 0), ifnull(tokens_in, 0), ifnull(tokens_out, 0), ifnull(tokens_cached, 0),
      CASE WHEN source = 'compact' AND session_facts.session IS NOT NULL THEN prev END
    FROM sessions LEFT JOIN session_facts ON session_facts.session = sessions.id WHERE last_seen_at >= ?1
      AND ifnull(host_session, '') NOT LIKE 'taut-proof-%'";

impl Store {
    /// The sessions that were there since then.
    pub fn session_sums(&self, since: Ms) -> Result<Vec<SessionSum>, Error> {
        let read = |row: &rusqlite::Row<'_>| {
            let number = |at: usize| row.get::<_, i64>(at).map(i64::cast_unsigned);
            Ok(SessionSum {
                id: row.get(0)?,
                agent: row.get(1)?,
                project: row.get(2)?,
                model: row.get(3)?,
                last_seen_at: Ms(row.get(4)?),
                cost_usd: row.get(5)?,
                cost_estimated: row.get(6)?,
                tokens_in: number(7)?,
                tokens_out: number(8)?,
                tokens_cached: number(9)?,
                goes_on_with: row.get(10)?,
            })
        };
        self.read(|conn| conn.prepare_cached(SESSIONS)?.query_map([since.0], read)?.collect())
    }
}

/// After rows were deleted.
pub(crate) fn step_back(conn: &Connection) -> rusqlite::Result<()> {
    conn.execute(BACK, []).map(drop)
}

type Key = (i64, String, String, SumKind, String);

/// Events that were read one after the other.
#[derive(Default)]
struct Counted {
    rows: BTreeMap<Key, (u64, u64)>,
    /// Since when an agent waits for its person, and in which session.
    waits: BTreeMap<String, (String, i64)>,
    to: i64,
    read: u64,
}

impl Counted {
    fn from(stored: Option<&str>) -> Self {
        let stored: Value = stored.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        let wait = |(agent, wait): (&String, &Value)| {
            Some((agent.clone(), (wait.get(0)?.as_str()?.to_owned(), wait.get(1)?.as_i64()?)))
        };
        Self {
            to: stored["to"].as_i64().unwrap_or_default(),
            waits: stored["waits"].as_object().into_iter().flatten().filter_map(wait).collect(),
            ..Self::default()
        }
    }

    fn stored(&self) -> String {
        json!({"to": self.to, "waits": self.waits}).to_string()
    }

    fn add(&mut self, key: Key, count: u64, ms: u64) {
        let sum = self.rows.entry(key).or_default();
        *sum = (sum.0 + count, sum.1 + ms);
    }

    fn read(&mut self, conn: &Connection, day_of: DayOf<'_>, most: i64) -> rusqlite::Result<()> {
        let mut found = conn.prepare_cached(READ)?;
        let mut rows = found.query([self.to, most])?;
        while let Some(row) = rows.next()? {
            (self.to, self.read) = (row.get(0)?, self.read + 1);
            if row.get(9)? {
                continue;
            }
            let at = row.get(1)?;
            let text =
                |at: usize| row.get_ref(at).map(|value| value.as_str_or_null().ok().flatten().unwrap_or_default());
            let detail: Value = serde_json::from_str(text(8)?).unwrap_or_default();
            let rules: Vec<String> = serde_json::from_str(text(7)?).unwrap_or_default();
            let one = Counting { day: day_of(Ms(at)), agent: text(2)?, session: text(3)?, sums: self };
            one.count(text(4)?, text(5)?, text(6)?, &rules, &detail, at);
        }
        Ok(())
    }
}

/// One event, and where it is counted.
struct Counting<'c> {
    day: i64,
    agent: &'c str,
    session: &'c str,
    sums: &'c mut Counted,
}

impl Counting<'_> {
    fn add(&mut self, kind: SumKind, name: &str, ms: u64) {
        let key = (self.day, self.session.to_owned(), self.agent.to_owned(), kind, name.to_owned());
        self.sums.add(key, 1, ms);
    }

    fn count(mut self, event: &str, tool: &str, verdict: &str, rules: &[String], detail: &Value, at: i64) {
        self.add(SumKind::Event, "", 0);
        match event {
            "UserPromptSubmit" => self.add(SumKind::Prompt, "", 0),
            "PreToolUse" => {
                self.add(SumKind::Call, tool, 0);
                self.judged(verdict, rules, detail);
            }
            "PostToolUseFailure" => self.add(SumKind::Failed, tool, 0),
            _ => {}
        }
        self.waited(detail, at);
    }

    fn judged(&mut self, verdict: &str, rules: &[String], detail: &Value) {
        let names = |value: &Value| -> Vec<String> {
            let all = value.as_array().into_iter().flatten();
            all.filter_map(|one| one.as_str().or_else(|| one["rule"].as_str()).map(str::to_owned)).collect()
        };
        match verdict {
            "deny" | "ask" => {
                self.add(if verdict == "deny" { SumKind::Denied } else { SumKind::Asked }, "", 0);
                let let_pass = names(&detail["stop"]["let_pass"]);
                for rule in rules.iter().filter(|rule| !let_pass.contains(rule)) {
                    self.add(SumKind::Stopped, rule, 0);
                }
            }
            _ => {
                names(&detail["said_again"]).iter().for_each(|rule| self.add(SumKind::SaidAgain, rule, 0));
                names(&detail["allowed"]).iter().for_each(|rule| self.add(SumKind::Allowed, rule, 0));
            }
        }
    }

    /// From the event that made somebody needed to the one after which the same session goes on.
    fn waited(&mut self, detail: &Value, at: i64) {
        let Some(to) = detail["status"]["to"].as_str() else { return };
        let waits = |status: &str| matches!(status, "attention" | "checked");
        let was = detail["status"]["from"].as_str().is_some_and(waits);
        match (was, waits(to)) {
            (false, true) => drop(self.sums.waits.insert(self.agent.to_owned(), (self.session.to_owned(), at))),
            (true, false) => {
                let since = self.sums.waits.remove(self.agent).filter(|(session, _)| *session == self.session);
                if let Some((_, since)) = since {
                    self.add(SumKind::Wait, "", at.saturating_sub(since).max(0).cast_unsigned());
                }
            }
            _ => {}
        }
    }
}

fn write(
    conn: &Connection,
    before: Option<String>,
    counted: &Counted,
    sums: &BTreeMap<Key, (u64, u64)>,
) -> rusqlite::Result<()> {
    let now: Option<String> = conn.prepare_cached(FIND)?.query_row([], |row| row.get(0)).optional()?;
    if now != before {
        return Ok(());
    }
    let mut add = conn.prepare_cached(ADD)?;
    for ((day, session, agent, kind, name), (count, ms)) in sums {
        add.execute(params![day, session, agent, kind.name(), name, count.cast_signed(), ms.cast_signed()])?;
    }
    conn.prepare_cached(PUT)?.execute(params![NAME, counted.stored()]).map(drop)
}

#[cfg(test)]
mod tests;
