//! What the owner of a schema says besides making it: who may read the record, which versions are let in, how long the
//! record is kept. Asked once of a person, so nothing here is sent again by itself.

use crate::migrate::{made_by_newer, standing};
use crate::server_error::clean;
use crate::{Connection, InTransaction, SPEAKS, Schema, ServerVersion, Statement};
use serde::Deserialize;
use serde_json::Value;
use store::ServerError;

/// So many days the record may be kept: there is no month without an end, and none that is gone before it is over.
pub const KEEP_EVENTS_DAYS: std::ops::RangeInclusive<u32> = 1..=3650;

const GRANT: &str =
    "INSERT INTO {s}.record_grants (reader, project) SELECT $1::name, id FROM {s}.projects WHERE name = $2
  AND EXISTS (SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = $1::name)
  ON CONFLICT (reader, project) DO UPDATE SET reader = excluded.reader RETURNING to_jsonb(project)::text";
/// Judged again by the server: another owner may have been quicker.
const RAISE: &str = "UPDATE {s}.meta SET value = $1 WHERE name = 'oldest' AND value::int <= $1::int
  AND $1::int <= (SELECT v.value::int FROM {s}.meta v WHERE v.name = 'version') RETURNING to_jsonb(value)::text";
const KEEP: &str = "UPDATE {s}.meta SET value = $1 WHERE name = 'keep_events_days' RETURNING to_jsonb(value)::text";
/// As long as the server itself remembers a machine.
const OLDER: &str =
    "SELECT jsonb_build_object('label', left(m.label, 64), 'build', left(m.build, 64), 'speaks', m.speaks,
  'age_ms', (extract(epoch FROM clock_timestamp() - m.seen_at) * 1000)::bigint)::text FROM {s}.machines m
  WHERE m.speaks < $1::int AND m.seen_at > clock_timestamp() - interval '30 days' ORDER BY m.seen_at DESC LIMIT 200";

/// A machine whose Taut would be let in no more.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct OlderMachine {
    pub label: String,
    pub build: String,
    pub speaks: u32,
    /// When it was last heard of.
    pub age_ms: i64,
}

/// Lets a role, and who is a member of it, read the record of a project. By the owner.
///
/// # Errors
/// `Refused` where there is no such project, or somebody else asks.
pub fn grant_record(connection: &mut Connection, schema: &Schema, grant: (&str, &str)) -> Result<(), ServerError> {
    let (role, project) = grant;
    if ask(connection, schema, GRANT, &[role, project])?.is_empty() {
        let (project, role) = (clean(project), clean(role));
        return Err(ServerError::Refused(format!("the server has no project {project}, or no role {role}")));
    }
    Ok(())
}

/// Machines that were heard of in the last 30 days and speak an older version than this, the latest first.
///
/// # Errors
/// When the server cannot be asked.
pub fn older_machines(
    connection: &mut Connection,
    schema: &Schema,
    oldest: u32,
) -> Result<Vec<OlderMachine>, ServerError> {
    let rows = ask(connection, schema, OLDER, &[&oldest.to_string()])?;
    let read = rows.into_iter().filter_map(|row| serde_json::from_value::<OlderMachine>(row).ok());
    Ok(read.map(|one| OlderMachine { label: clean(&one.label), build: clean(&one.build), ..one }).collect())
}

/// Whether an owner may let in this version and newer ones alone.
///
/// # Errors
/// `Refused` for what is lower than now or newer than the schema, and where a newer Taut made the schema.
pub fn may_raise_oldest(found: &ServerVersion, schema: &Schema, to: u32) -> Result<(), ServerError> {
    let (version, oldest, name) = (found.version, found.oldest, schema.name());
    if version > SPEAKS {
        return Err(made_by_newer(schema, version, SPEAKS));
    }
    if to > version {
        return Err(ServerError::Refused(format!(
            "the schema {name} is of version {version}: nobody who speaks {to} is needed for it, and nobody would be let in"
        )));
    }
    if to < oldest {
        return Err(ServerError::Refused(format!(
            "the schema {name} lets in version {oldest} at least, and that only rises: what was written since may be \
             unknown to older ones"
        )));
    }
    Ok(())
}

/// Lets in nobody any more who speaks an older version than this. By the owner.
///
/// # Errors
/// As of `may_raise_oldest`, or where somebody else asks.
pub fn raise_oldest(connection: &mut Connection, schema: &Schema, to: u32) -> Result<(), ServerError> {
    may_raise_oldest(&standing(connection, schema)?, schema, to)?;
    changed(&ask(connection, schema, RAISE, &[&to.to_string()])?)
}

/// How long the record is kept there. By the owner.
///
/// # Errors
/// `Refused` for less than a day or more than ten years, and where somebody else asks.
pub fn keep_events(connection: &mut Connection, schema: &Schema, days: u32) -> Result<(), ServerError> {
    if !KEEP_EVENTS_DAYS.contains(&days) {
        let (least, most) = (KEEP_EVENTS_DAYS.start(), KEEP_EVENTS_DAYS.end());
        return Err(ServerError::Refused(format!("the record is kept for {least} to {most} days, and not for {days}")));
    }
    let found = standing(connection, schema)?;
    if found.version > SPEAKS {
        return Err(made_by_newer(schema, found.version, SPEAKS));
    }
    changed(&ask(connection, schema, KEEP, &[&days.to_string()])?)
}

fn changed(rows: &[Value]) -> Result<(), ServerError> {
    if rows.is_empty() {
        return Err(ServerError::Refused("another owner was quicker; look again".to_string()));
    }
    Ok(())
}

fn ask(connection: &mut Connection, schema: &Schema, sql: &str, values: &[&str]) -> Result<Vec<Value>, ServerError> {
    let values = values.iter().map(|value| Some((*value).to_string())).collect();
    let answers = connection.flight(&[Statement::new(sql, schema.name(), values)], InTransaction::Yes)?;
    Ok(answers.into_iter().flatten().collect())
}
