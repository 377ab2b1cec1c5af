//! What people decided about the guard, and when.

use crate::{Durability, Error, Store};
use model::Ms;
use rusqlite::{Row, params};

/// What was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolicyLogKind {
    Allowed,
    AllowedOnce,
    /// An allowance was taken back.
    Forgotten,
    PackOn,
    PackOff,
    Paused,
    PauseEnded,
    Preset,
    Trusted,
    TrustRevoked,
    /// The time of an allowance was over. Nobody writes it: it follows from the others.
    Expired,
}

impl PolicyLogKind {
    const NAMES: [(&'static str, Self); 11] = [
        ("allowed", Self::Allowed),
        ("allowed_once", Self::AllowedOnce),
        ("forgotten", Self::Forgotten),
        ("pack_on", Self::PackOn),
        ("pack_off", Self::PackOff),
        ("paused", Self::Paused),
        ("pause_ended", Self::PauseEnded),
        ("preset", Self::Preset),
        ("trusted", Self::Trusted),
        ("trust_revoked", Self::TrustRevoked),
        ("expired", Self::Expired),
    ];

    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }

    fn parse(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
    }
}

/// One decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyLogEntry {
    pub at: Ms,
    /// Empty where it came about by itself.
    pub who: String,
    pub kind: PolicyLogKind,
    /// The rule, the code, the pack, the preset or the project it is about.
    pub subject: String,
    /// What of it: a path, the words of a command, an agent; empty for all.
    pub scope: String,
    pub until: Option<Ms>,
    pub reason: Option<String>,
}

/// More decisions than anybody looks through.
const MOST: i64 = 10_000;

const PUT: &str = "INSERT INTO policy_log (at, who, kind, subject, scope, until, reason)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";

const LIST: &str = "SELECT at, who, kind, subject, scope, until, reason FROM policy_log ORDER BY seq DESC LIMIT ?1";

impl Store {
    pub fn log_policy(&mut self, entry: &PolicyLogEntry) -> Result<(), Error> {
        let PolicyLogEntry { at, who, kind, subject, scope, until, reason } = entry;
        let values = params![at.0, who, kind.name(), subject, scope, until.map(|at| at.0), reason];
        self.transact(Durability::Full, |tx| tx.verb(|conn| conn.execute(PUT, values).map(drop)))
    }

    /// The newest first, with what ran out meanwhile.
    pub fn policy_log(&self, now: Ms) -> Result<Vec<PolicyLogEntry>, Error> {
        let rows: Vec<Option<PolicyLogEntry>> =
            self.read(|conn| conn.prepare_cached(LIST)?.query_map([MOST], read)?.collect())?;
        Ok(with_expiries(rows.into_iter().flatten().collect(), now))
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<Option<PolicyLogEntry>> {
    let kind: String = row.get(2)?;
    let Some(kind) = PolicyLogKind::parse(&kind) else { return Ok(None) };
    Ok(Some(PolicyLogEntry {
        at: Ms(row.get(0)?),
        who: row.get(1)?,
        kind,
        subject: row.get(3)?,
        scope: row.get(4)?,
        until: row.get::<_, Option<i64>>(5)?.map(Ms),
        reason: row.get(6)?,
    }))
}

/// What had an end and was neither said anew nor taken back before it has run out.
fn with_expiries(log: Vec<PolicyLogEntry>, now: Ms) -> Vec<PolicyLogEntry> {
    let mut all = Vec::new();
    // The later ones come first.
    for (at, entry) in log.iter().enumerate() {
        let lasts = matches!(entry.kind, PolicyLogKind::Allowed | PolicyLogKind::Paused);
        let over = entry.until.filter(|until| lasts && *until <= now);
        let changed = |later: &PolicyLogEntry| match entry.kind {
            PolicyLogKind::Paused => matches!(later.kind, PolicyLogKind::Paused | PolicyLogKind::PauseEnded),
            _ => {
                matches!(later.kind, PolicyLogKind::Allowed | PolicyLogKind::Forgotten)
                    && (&later.subject, &later.scope) == (&entry.subject, &entry.scope)
            }
        };
        if let Some(until) = over.filter(|until| !log[..at].iter().any(|later| later.at < *until && changed(later))) {
            let kind = match entry.kind {
                PolicyLogKind::Paused => PolicyLogKind::PauseEnded,
                _ => PolicyLogKind::Expired,
            };
            all.push(PolicyLogEntry {
                at: until,
                who: String::new(),
                kind,
                until: None,
                reason: None,
                ..entry.clone()
            });
        }
    }
    all.extend(log);
    all.sort_by_key(|entry| std::cmp::Reverse(entry.at));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn g10_what_runs_out_by_itself_is_in_the_log_and_what_was_changed_before_is_not() {
        let home = tempfile::tempdir().unwrap();
        let mut store = Store::open(home.path(), Duration::ZERO).unwrap();
        for (at, kind, subject, until) in [
            (1, PolicyLogKind::Allowed, "sudo", Some(10)),
            (2, PolicyLogKind::Allowed, "rm-project", Some(5)),
            (3, PolicyLogKind::Forgotten, "rm-project", None),
            (4, PolicyLogKind::Paused, "", Some(20)),
            (6, PolicyLogKind::PauseEnded, "", None),
            (7, PolicyLogKind::Paused, "", Some(9)),
            (8, PolicyLogKind::Allowed, "setuid", Some(99)),
        ] {
            let entry = PolicyLogEntry {
                at: Ms(at),
                who: "ada".into(),
                kind,
                subject: subject.into(),
                scope: String::new(),
                until: until.map(Ms),
                reason: None,
            };
            store.log_policy(&entry).unwrap();
        }
        let told: Vec<String> =
            store.policy_log(Ms(50)).unwrap().iter().map(|one| format!("{} {}", one.at.0, one.kind.name())).collect();
        let told: Vec<&str> = told.iter().map(String::as_str).collect();
        assert_eq!(
            told,
            [
                "10 expired", "9 pause_ended", "8 allowed", "7 paused", "6 pause_ended", "4 paused", "3 forgotten",
                "2 allowed", "1 allowed"
            ]
        );
    }
}
