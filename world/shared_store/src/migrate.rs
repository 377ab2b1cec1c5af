//! The schema on a server: made and brought forward by its owner, and which versions speak with each other.

use crate::{Connection, FlightError, InTransaction, Patience, ServerTarget, Statement, Transaction};
use serde_json::Value;
use std::time::Duration;
use store::ServerError;

/// The version of the schema that this build makes, and the highest that it knows.
pub const SPEAKS: u32 = 1;
/// What is older lacks functions that the schema uses.
const OLDEST_SERVER: i64 = 130_000;
/// Several owners at once: all but one find it done, and may have to look again first.
const TRIES: u32 = 20;
/// An index over a million tasks takes longer than a flight may.
const LONGEST: Duration = Duration::from_secs(15 * 60);

/// What brings a schema from one version to the next: the version it makes, and its statements.
pub type MigrationFile = (u32, &'static str);

const FILES: &[MigrationFile] = &[(1, include_str!("../sql/0001_shared.sql"))];

/// Everybody else waits behind a lock that is waited for here, so it is not waited for long: rather everything again, after
/// a rest in which they go on.
const BRIEF: &str = "SET LOCAL lock_timeout = '1s'";
const REST: Duration = Duration::from_secs(1);
const NOT_AVAILABLE: &str = "55P03";

/// In one transaction with the migration. A pooler that hands a transaction to one session keeps it; the row lock that
/// follows keeps out those that come by a pooler that does not.
const LOCK: &str =
    "SELECT to_jsonb(true)::text FROM (SELECT pg_advisory_xact_lock(hashtext('taut migrate {s}'))) AS locked";
const LOOK: &str = "SELECT jsonb_build_object(
  'server', current_setting('server_version_num')::int, 'encoding', current_setting('server_encoding'),
  'schema', to_regnamespace('{s}') IS NOT NULL,
  'meta', to_regclass('{s}.meta') IS NOT NULL,
  'may_make', has_database_privilege(current_database(), 'CREATE'),
  'may_make_roles', (SELECT rolsuper OR rolcreaterole FROM pg_roles WHERE rolname = current_user),
  'roles', (SELECT coalesce(jsonb_agg(rolname), '[]') FROM pg_roles WHERE rolname = $1 OR rolname = $2),
  'database', current_database(), 'user', current_user)::text";
const BOOT: &str = "CREATE TABLE IF NOT EXISTS {s}.meta (name text PRIMARY KEY, value text NOT NULL);
INSERT INTO {s}.meta VALUES ('version', '0') ON CONFLICT DO NOTHING;";
const VERSION_LOCK: &str = "SELECT value FROM {s}.meta WHERE name = 'version' FOR UPDATE";
const VERSION: &str = "SELECT jsonb_build_object('server', current_setting('server_version'),
  'encoding', current_setting('server_encoding'), 'database', current_database(), 'meta',
  (SELECT jsonb_object_agg(name, value) FROM {s}.meta))::text";
/// Whether the machine `m` is of the role that asks, or of one that it is a member of, or of none that is there any more.
/// Spelled out in each policy: a function would be read with the words of whoever asks.
const MINE: &str = "(m.by = current_user OR coalesce((SELECT pg_has_role(r.oid, 'member') FROM pg_catalog.pg_roles r
    WHERE r.rolname = m.by), true))";

/// A name that needs no quotes, and the two roles that go with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schema(String);

impl Schema {
    /// # Errors
    /// For everything but small letters, digits and underscores.
    pub fn named(name: &str) -> Result<Self, ServerError> {
        let starts = name.starts_with(|letter: char| letter.is_ascii_lowercase() || letter == '_');
        let plain = name.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_');
        // A role is called after it, and no name of PostgreSQL's has more than 63 letters.
        if starts && plain && name.len() <= 50 && !name.starts_with("pg_") {
            Ok(Self(name.to_string()))
        } else {
            let why = "a schema is named by small letters, digits and underscores, at most 50, and not `pg_…`";
            Err(ServerError::Refused(why.to_string()))
        }
    }

    pub fn name(&self) -> &str {
        &self.0
    }

    /// The role whose members work: their machines connect as it, or as a role that was granted it.
    pub fn agent_role(&self) -> String {
        format!("{}_agent", self.0)
    }

    /// The role that only reads, and reads all of the record.
    pub fn reader_role(&self) -> String {
        format!("{}_reader", self.0)
    }

    fn fill(&self, text: &str) -> String {
        let text = text.replace("{mine}", MINE).replace("{s}", &self.0);
        text.replace("{agent}", &self.agent_role()).replace("{reader}", &self.reader_role())
    }
}

/// What a migration did: nothing, where both are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Migrated {
    pub from: u32,
    pub to: u32,
}

/// What stands on a server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerVersion {
    /// Of the schema.
    pub version: u32,
    /// The oldest client that may still write.
    pub oldest: u32,
    /// So long it keeps the record.
    pub keep_events_days: u32,
    /// The server's own id.
    pub id: String,
    /// Of PostgreSQL, as it calls itself.
    pub server_version: String,
}

/// Makes the schema or brings it forward, as its owner. Any number at once: one does it, the others find it done.
///
/// # Errors
/// `Refused` also where an administrator must do something first: then it says what.
pub fn migrate(owner: &ServerTarget, schema: &Schema, patience: Patience) -> Result<Migrated, ServerError> {
    migrate_with(FILES, owner, schema, patience)
}

/// The same by other files than this build's, each of which makes the next version.
///
/// # Errors
/// As of `migrate`.
pub fn migrate_with(
    files: &[MigrationFile],
    owner: &ServerTarget,
    schema: &Schema,
    patience: Patience,
) -> Result<Migrated, ServerError> {
    let patience = Patience { flight: patience.flight.max(LONGEST), ..patience };
    let mut connection = Connection::open(owner, patience)?;
    let mut tries = 0;
    loop {
        tries += 1;
        match migrate_once(files, &mut connection, schema) {
            Err(Stop::Flight(error)) if tries < TRIES && beaten(&error) => {
                if connection.is_broken() {
                    connection = Connection::open(owner, patience)?;
                }
                if error.state() == Some(NOT_AVAILABLE) {
                    std::thread::sleep(REST);
                }
            }
            Err(Stop::Flight(error)) => return Err(error.into()),
            Err(Stop::Server(error)) => return Err(error),
            Ok(migrated) => return Ok(migrated),
        }
    }
}

/// What stands there, and whether this build may speak with it.
///
/// # Errors
/// `Refused` where the two are too far apart, or there is no schema.
pub fn version(connection: &mut Connection, schema: &Schema) -> Result<ServerVersion, ServerError> {
    let found = standing(connection, schema)?;
    refuse_too_old(found.oldest)?;
    if found.version == 0 {
        return Err(ServerError::Refused(format!(
            "the schema {} is empty: its owner runs `taut shared migrate`",
            schema.name()
        )));
    }
    Ok(found)
}

/// Whether the server still lets in who speaks as this build does.
///
/// # Errors
/// `Refused`, with what helps.
pub fn refuse_too_old(oldest: u32) -> Result<(), ServerError> {
    if oldest <= SPEAKS {
        return Ok(());
    }
    Err(ServerError::Refused(format!(
        "this taut speaks version {SPEAKS} and the server takes {oldest} at least: update taut on this machine. What is to be \
         sent waits here until then"
    )))
}

/// What an administrator has to run before this owner can make the schema, a statement each; empty where nothing is, or
/// it is there already.
///
/// # Errors
/// When the server cannot be asked.
pub fn administrator_sql(connection: &mut Connection, schema: &Schema) -> Result<Vec<String>, ServerError> {
    let roles = vec![Some(schema.agent_role()), Some(schema.reader_role())];
    let answers = connection.flight(&[Statement::new(LOOK, schema.name(), roles)], InTransaction::Yes)?;
    let around = answers.into_iter().flatten().next().unwrap_or(Value::Null);
    refuse_encoding(&around)?;
    let is_there = around.get("meta").and_then(Value::as_bool) == Some(true);
    Ok(if is_there { Vec::new() } else { lacking(&around, schema) })
}

enum Stop {
    Flight(FlightError),
    Server(ServerError),
}

impl From<FlightError> for Stop {
    fn from(error: FlightError) -> Self {
        Self::Flight(error)
    }
}

/// Another owner was quicker with the schema, a table or a role; the next look finds it.
fn beaten(error: &FlightError) -> bool {
    matches!(error.state(), Some("42P06" | "42P07" | "42710" | "23505" | "XX000")) || error.send_again()
}

fn migrate_once(files: &[MigrationFile], connection: &mut Connection, schema: &Schema) -> Result<Migrated, Stop> {
    let knows = files.last().map_or(0, |(number, _)| *number);
    let roles = vec![Some(schema.agent_role()), Some(schema.reader_role())];
    let mut work = connection.begin();
    let looked =
        work.flight(&[Statement::new(LOCK, schema.name(), Vec::new()), Statement::new(LOOK, schema.name(), roles)])?;
    let around = looked.get(1).and_then(|rows| rows.first()).ok_or(FlightError::Garbled)?;
    prepare(&mut work, schema, around)?;
    let from = locked_version(&mut work, schema)?;
    if from > knows {
        return Err(Stop::Server(made_by_newer(schema, from, knows)));
    }
    let mut to = from;
    if from < knows {
        work.script(BRIEF)?;
    }
    for (number, text) in files.iter().filter(|(number, _)| *number > from) {
        work.script(&schema.fill(text))?;
        work.script(&format!("UPDATE {}.meta SET value = '{number}' WHERE name = 'version'", schema.name()))?;
        to = *number;
    }
    work.commit()?;
    Ok(Migrated { from, to })
}

/// Whoever does not know a schema changes nothing of it.
pub(crate) fn made_by_newer(schema: &Schema, version: u32, knows: u32) -> ServerError {
    ServerError::Refused(format!(
        "the schema {} is of version {version} and this taut knows {knows}: a newer taut made it, and only a newer one \
         changes it",
        schema.name()
    ))
}

/// What the files take for granted: a server that is new enough, the two roles, the schema and its `meta`.
fn prepare(work: &mut Transaction<'_>, schema: &Schema, around: &Value) -> Result<(), Stop> {
    let is = |name: &str| around.get(name).and_then(Value::as_bool) == Some(true);
    if around.get("server").and_then(Value::as_i64).is_none_or(|version| version < OLDEST_SERVER) {
        return Err(Stop::Server(ServerError::Refused(
            "it is older than PostgreSQL 13, which is the oldest that works".to_string(),
        )));
    }
    refuse_encoding(around).map_err(Stop::Server)?;
    if is("meta") {
        return Ok(());
    }
    let (missing, lacks) = (missing_roles(around, schema), lacking(around, schema));
    if !lacks.is_empty() {
        let (user, database) = (text(around, "user"), text(around, "database"));
        return Err(Stop::Server(ServerError::Refused(format!(
            "{user} may not make all that is needed. An administrator runs this in {database}, then `taut shared migrate` \
             goes on: {}",
            lacks.join(" ")
        ))));
    }
    for role in &missing {
        work.script(&format!("CREATE ROLE {role} LOGIN"))?;
    }
    if !is("schema") {
        work.script(&format!("CREATE SCHEMA {}", schema.name()))?;
    }
    work.script(&schema.fill(BOOT))?;
    Ok(())
}

/// In any other encoding a text with a letter that it lacks would be refused, again and again.
fn refuse_encoding(around: &Value) -> Result<(), ServerError> {
    let (encoding, database) = (text(around, "encoding"), text(around, "database"));
    if encoding == "UTF8" {
        return Ok(());
    }
    Err(ServerError::Refused(format!(
        "the database {database} keeps text as {encoding}, in which not every letter can be written. Make one that keeps all of \
         them: `createdb --encoding UTF8 --template template0 <name>`, and name it in the URL"
    )))
}

fn text(around: &Value, name: &str) -> String {
    crate::server_error::name(around.get(name).and_then(Value::as_str).unwrap_or_default())
}

fn missing_roles(around: &Value, schema: &Schema) -> Vec<String> {
    let there = |role: &String| {
        around.get("roles").and_then(Value::as_array).is_some_and(|roles| roles.iter().any(|one| one == role))
    };
    [schema.agent_role(), schema.reader_role()].into_iter().filter(|role| !there(role)).collect()
}

/// What an administrator has to run first, a statement each; empty where the owner may do all of it.
fn lacking(around: &Value, schema: &Schema) -> Vec<String> {
    let is = |name: &str| around.get(name).and_then(Value::as_bool) == Some(true);
    let mut lacks = Vec::new();
    if !is("may_make_roles") {
        lacks.extend(missing_roles(around, schema).iter().map(|role| format!("CREATE ROLE {role} LOGIN;")));
    }
    if !is("schema") && !is("may_make") {
        let owner = text(around, "user").replace('"', "\"\"");
        lacks.push(format!("CREATE SCHEMA {} AUTHORIZATION \"{owner}\";", schema.name()));
    }
    lacks
}

fn locked_version(work: &mut Transaction<'_>, schema: &Schema) -> Result<u32, Stop> {
    let locked = work.flight(&[Statement::new(VERSION_LOCK, schema.name(), Vec::new())])?;
    let version = locked
        .first()
        .and_then(|rows| rows.first())
        .and_then(Value::as_u64)
        .and_then(|value| u32::try_from(value).ok());
    Ok(version.ok_or(FlightError::Garbled)?)
}

pub(crate) fn standing(connection: &mut Connection, schema: &Schema) -> Result<ServerVersion, ServerError> {
    let answers = connection.flight(&[Statement::new(VERSION, schema.name(), Vec::new())], InTransaction::Yes)?;
    let found = answers.first().and_then(|rows| rows.first()).ok_or(FlightError::Garbled)?;
    refuse_encoding(found)?;
    let text =
        |value: Option<&Value>| value.and_then(Value::as_str).map(crate::server_error::clean).unwrap_or_default();
    let meta = |name: &str| text(found.get("meta").and_then(|meta| meta.get(name)));
    let number = |name: &str| meta(name).parse().unwrap_or_default();
    Ok(ServerVersion {
        version: number("version"),
        oldest: number("oldest"),
        keep_events_days: number("keep_events_days"),
        id: meta("id"),
        server_version: text(found.get("server")),
    })
}
