//! Roles are of a whole server, not of one database: who belongs to those of a schema before that is made.

use crate::{Connection, InTransaction, Schema, Statement};
use serde::Deserialize;
use store::ServerError;

/// A role of a schema that was there before it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct KnownRole {
    pub role: String,
    /// Who may do what it may, by name.
    pub members: Vec<String>,
}

const LIST: &str = "SELECT jsonb_build_object('role', r.rolname, 'members', coalesce((
  SELECT jsonb_agg(m.rolname ORDER BY m.rolname) FROM pg_catalog.pg_roles m
  WHERE m.oid <> r.oid AND NOT m.rolsuper AND m.rolname <> current_user
    AND pg_catalog.pg_has_role(m.oid, r.oid, 'member')), '[]'))::text
FROM pg_catalog.pg_roles r WHERE r.rolname = $1 OR r.rolname = $2 ORDER BY r.rolname";

/// Those roles of this schema that the server has already. Nobody who may do everything is named, nor who asks.
///
/// # Errors
/// When the server cannot be asked.
pub fn known_roles(connection: &mut Connection, schema: &Schema) -> Result<Vec<KnownRole>, ServerError> {
    let roles = vec![Some(schema.agent_role()), Some(schema.reader_role())];
    let answers = connection.flight(&[Statement::new(LIST, schema.name(), roles)], InTransaction::Yes)?;
    let name = |text: String| crate::server_error::name(&text);
    let read = answers.into_iter().flatten().filter_map(|row| serde_json::from_value::<KnownRole>(row).ok());
    let shown =
        |one: KnownRole| KnownRole { role: name(one.role), members: one.members.into_iter().map(name).collect() };
    Ok(read.map(shown).collect())
}
