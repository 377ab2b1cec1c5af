//! The public keys of machines, as people compare them: a server tells them on, and proves none of them.

use crate::fleet_server::{FleetServer, json_text};
use serde::Deserialize;
use store::ServerError;

/// A machine as a server knows it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct KnownMachine {
    pub id: String,
    pub label: String,
    /// `None` where nobody on it has said `taut shared key`.
    pub key: Option<String>,
    /// For how long nothing was heard of it.
    pub silent_ms: i64,
}

const LIST: &str = "SELECT json_build_object('id', m.id, 'label', left(m.label, 64), 'key', left(m.key, 128),
  'silent_ms', (extract(epoch FROM clock_timestamp() - m.seen_at) * 1000)::bigint)::text
FROM (SELECT id, label, key, seen_at, row_number() OVER (PARTITION BY by ORDER BY seen_at DESC, id) AS turn FROM {s}.machines
      ORDER BY turn, id LIMIT 1000) m ORDER BY m.label, m.id";

const PUT: &str = "UPDATE {s}.machines SET key = $2::jsonb ->> 0 WHERE id = $1::uuid RETURNING to_json(id)::text";

impl FleetServer<'_> {
    /// # Errors
    /// When the server cannot be asked, or refuses.
    pub fn machines(&mut self) -> Result<Vec<KnownMachine>, ServerError> {
        let rows = self.ask(LIST, Vec::new())?;
        Ok(rows.into_iter().filter_map(|row| serde_json::from_value(row).ok()).collect())
    }

    /// Whether the server knows this machine, and has its key from now on.
    ///
    /// # Errors
    /// When the server cannot be asked, or refuses.
    pub fn key_put(&mut self, machine: &str, key: &str) -> Result<bool, ServerError> {
        Ok(!self.ask(PUT, vec![Some(machine.to_string()), json_text(&[key])])?.is_empty())
    }
}
