//! What a person asks of a server before anything is shared there, or when something is wrong with it: what it is, what
//! this role may do there, and what holds it up.

use crate::server_error::{clean, name};
use crate::{Connection, InTransaction, Schema, Statement};
use serde::Deserialize;
use serde_json::Value;
use store::ServerError;

/// A server as one role sees it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct ServerLook {
    /// Of PostgreSQL, as it calls itself.
    pub server_version: String,
    pub role: String,
    pub database: String,
    /// Whether our tables are there.
    pub has_schema: bool,
    /// Rights that working there needs and this role lacks, each as `INSERT on taut.tasks`; and policies of rows for them.
    pub lacks: Vec<String>,
    /// Whether it may only be read: a standby.
    pub is_standby: bool,
    /// When the role's password ends, as the server says it.
    pub valid_until: Option<String>,
    /// How old the oldest open snapshot of others is, in seconds: rows that are gone are kept for it, and claims slow down.
    pub oldest_snapshot_s: Option<i64>,
    /// Whose it is, where this role may see that.
    pub snapshot_of: Option<String>,
    /// Whether this role sees the sessions of others.
    pub sees_sessions: bool,
}

/// By the catalogue alone, which everybody may read: a role without any rights here is told which it lacks.
const LOOK: &str = "WITH there AS (
  SELECT c.oid, c.relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = '{s}' AND c.relkind IN ('r', 'p')
), wanted (name, what) AS (VALUES ('agents', 'INSERT'), ('agents', 'DELETE'), ('attempts', 'INSERT'), ('attempts', 'UPDATE'),
  ('events', 'INSERT'), ('machines', 'INSERT'), ('machines', 'UPDATE'), ('messages', 'INSERT'), ('messages', 'UPDATE'),
  ('meta', 'SELECT'), ('projects', 'SELECT'), ('projects', 'INSERT'), ('task_deps', 'INSERT'), ('task_deps', 'DELETE'),
  ('tasks', 'SELECT'), ('tasks', 'INSERT'), ('tasks', 'UPDATE')
), waits AS (
  SELECT left(usename, 63) AS usename, extract(epoch FROM clock_timestamp() - xact_start)::bigint AS age
  FROM pg_catalog.pg_stat_activity
  WHERE backend_xmin IS NOT NULL AND xact_start IS NOT NULL AND datname = current_database() AND pid <> pg_backend_pid()
  ORDER BY xact_start LIMIT 1
)
SELECT jsonb_build_object(
  'server_version', current_setting('server_version'), 'role', current_user, 'database', current_database(),
  'has_schema', EXISTS (SELECT FROM there WHERE relname = 'meta'),
  'lacks', coalesce((SELECT jsonb_agg(what || ' on {s}' || coalesce('.' || name, '') ORDER BY name, what) FROM (
      SELECT w.what, w.name FROM wanted w JOIN there t ON t.relname = w.name
      WHERE NOT CASE w.what WHEN 'DELETE' THEN has_table_privilege(t.oid, 'DELETE')
                            ELSE has_any_column_privilege(t.oid, w.what) END
      UNION ALL SELECT 'a policy for ' || w.what, w.name FROM wanted w JOIN there t ON t.relname = w.name
      WHERE row_security_active(t.oid) AND NOT EXISTS (SELECT FROM pg_catalog.pg_policy p
        WHERE p.polrelid = t.oid AND p.polpermissive AND p.polcmd IN ('*', CASE w.what WHEN 'INSERT' THEN 'a'
              WHEN 'UPDATE' THEN 'w' WHEN 'DELETE' THEN 'd' ELSE 'r' END)
          AND EXISTS (SELECT FROM unnest(p.polroles) AS r WHERE r = 0 OR pg_has_role(r, 'usage')))
      UNION ALL SELECT 'USAGE', NULL FROM pg_catalog.pg_namespace n
      WHERE n.nspname = '{s}' AND NOT has_schema_privilege(n.oid, 'USAGE')) AS lacking), '[]'),
  'is_standby', pg_is_in_recovery(),
  'valid_until', (SELECT nullif(rolvaliduntil, 'infinity')::text FROM pg_catalog.pg_roles WHERE rolname = current_user),
  'oldest_snapshot_s', (SELECT age FROM waits), 'snapshot_of', (SELECT usename FROM waits),
  'sees_sessions', pg_has_role('pg_read_all_stats', 'usage'))::text";

/// # Errors
/// When the server cannot be asked.
pub fn look(connection: &mut Connection, schema: &Schema) -> Result<ServerLook, ServerError> {
    let answers = connection.flight(&[Statement::new(LOOK, schema.name(), Vec::new())], InTransaction::Yes)?;
    let row = answers.into_iter().flatten().next().unwrap_or(Value::Null);
    let mut found: ServerLook = serde_json::from_value(row)
        .map_err(|_| ServerError::Refused("it answered with something that is not known here".to_string()))?;
    // They are named in commands.
    for text in [&mut found.role, &mut found.database].into_iter().chain(&mut found.snapshot_of).chain(&mut found.lacks)
    {
        *text = name(text);
    }
    for text in [&mut found.server_version].into_iter().chain(&mut found.valid_until) {
        *text = clean(text);
    }
    Ok(found)
}
