//! Messages between machines: put once by their ids, and taken by one machine each.

use crate::fleet_server::{FleetServer, json_text};
use serde::Deserialize;
use serde_json::json;
use store::{OutgoingMessage, ServerError};

/// A message that waits on the server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct WaitingMessage {
    pub id: String,
    pub kind: String,
    pub from_agent: Option<String>,
    /// The machine of who wrote it, as people call it, where that is its own word and nobody else's; else the role whose
    /// password it was written with, which is the server's.
    pub from_label: Option<String>,
    pub from_machine: String,
    pub to_agent: Option<String>,
    pub to_conversation: Option<String>,
    pub body: String,
}

/// So many characters a message has at most; the server refuses a longer one.
pub const LONGEST: usize = 16_000;

const PUT: &str =
    "INSERT INTO {s}.messages (id, kind, from_machine, from_agent, to_machine, to_agent, to_conversation, body)
SELECT w.id, left(w.kind, 40), $1::uuid, left(w.from_agent, 200), w.to_machine, w.to_agent, w.to_conversation, w.body
FROM jsonb_to_recordset($2::jsonb) AS w (id uuid, kind text, from_agent text, to_machine uuid, to_agent text,
  to_conversation text, body text)
ON CONFLICT (id) DO NOTHING";

/// Kept here by the one who asks, then marked, and only what was marked as theirs is told: once, on one machine.
const DUE: &str =
    "SELECT json_build_object('id', d.id, 'kind', left(d.kind, 40), 'from_agent', left(d.from_agent, 200),
  'from_label', CASE WHEN m.by = d.by AND NOT EXISTS (
      SELECT FROM {s}.machines o WHERE lower(o.label) = lower(m.label) AND o.by <> m.by) THEN left(m.label, 64) ELSE d.by END,
  'from_machine', d.from_machine, 'to_agent', left(d.to_agent, 200), 'to_conversation', left(d.to_conversation, 200),
  'body', left(d.body, 16000))::text
FROM (SELECT seq, id, kind, from_agent, from_machine, by, to_agent, to_conversation, body
      FROM {s}.messages WHERE fetched_at IS NULL AND to_machine = $1::uuid AND to_conversation IS NULL
      UNION ALL
      SELECT seq, id, kind, from_agent, from_machine, by, to_agent, to_conversation, body
      FROM {s}.messages WHERE fetched_at IS NULL AND to_conversation = ANY (ARRAY(SELECT jsonb_array_elements_text($2::jsonb)))
      ORDER BY seq LIMIT $3::int) AS d
LEFT JOIN {s}.machines m ON m.id = d.from_machine ORDER BY d.seq";

/// Returned: ours, also when asked again. The others went to another machine.
const FETCHED: &str = "UPDATE {s}.messages SET fetched_at = coalesce(fetched_at, clock_timestamp()), fetched_by = $1::uuid
WHERE id = ANY (ARRAY(SELECT jsonb_array_elements_text($2::jsonb))::uuid[]) AND (fetched_at IS NULL OR fetched_by = $1::uuid)
RETURNING to_json(id)::text";

impl FleetServer<'_> {
    /// The same id twice is one message.
    ///
    /// # Errors
    /// When the server cannot be asked, or refuses.
    pub fn messages_put(&mut self, machine: &str, messages: &[OutgoingMessage]) -> Result<(), ServerError> {
        let rows: Vec<_> = messages
            .iter()
            .map(|message| {
                let body: String = message.body.chars().filter(|c| *c != '\0').take(LONGEST).collect();
                json!({"id": message.id, "kind": message.kind, "from_agent": message.from_agent,
                "to_machine": message.to_machine, "to_agent": message.to_agent,
                "to_conversation": message.to_conversation, "body": body})
            })
            .collect();
        let rows = json_text(&rows);
        self.flight(&[(PUT, vec![Some(machine.to_string()), rows])]).map(drop)
    }

    /// What waits for this machine, or for a conversation that it carries: the oldest.
    ///
    /// # Errors
    /// When the server cannot be asked, or refuses.
    pub fn messages_due(
        &mut self,
        machine: &str,
        conversations: &[String],
        most: usize,
    ) -> Result<Vec<WaitingMessage>, ServerError> {
        let conversations = json_text(&conversations);
        let values = vec![Some(machine.to_string()), conversations, Some(most.to_string())];
        let rows = self.ask(DUE, values)?;
        Ok(rows.into_iter().filter_map(|row| serde_json::from_value(row).ok()).collect())
    }

    /// This machine takes them. Gives those that are its own from now on.
    ///
    /// # Errors
    /// When the server cannot be asked, or refuses.
    pub fn messages_fetched(&mut self, machine: &str, ids: &[String]) -> Result<Vec<String>, ServerError> {
        let ids = json_text(&ids);
        let rows = self.ask(FETCHED, vec![Some(machine.to_string()), ids])?;
        Ok(rows.iter().filter_map(|row| row.as_str().map(String::from)).collect())
    }
}
