//! The record of the fleet: events of all machines, appended once each by their ids.

use crate::fleet_server::{FleetServer, json_text};
use crate::presence::PROJECTS_PUT;
use serde::Serialize;
use serde_json::Value;
use store::ServerError;

/// So many events are sent at once, and about so many bytes.
pub const MOST_EVENTS: usize = 1_000;
pub const MOST_BYTES: usize = 256 * 1024;

/// An event as it leaves a machine.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SentEvent {
    pub id: String,
    pub seq: i64,
    /// By its machine's clock.
    pub at: String,
    /// What its project is called on the server.
    pub project: String,
    pub agent: String,
    pub session: Option<String>,
    pub host_session: Option<String>,
    pub sub_agent: Option<String>,
    pub event: String,
    pub tool: Option<String>,
    pub verdict: String,
    pub micros: i64,
    pub rules: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<Value>,
}

const PUT: &str = "INSERT INTO {s}.events (at, machine, id, seq, project, agent, session, host_session, sub_agent, event, tool,
  verdict, micros, rules, reason, detail)
SELECT w.at, $1::uuid, w.id, w.seq, p.id, w.agent, w.session, w.host_session, w.sub_agent, w.event, w.tool, w.verdict, w.micros,
  w.rules, w.reason, w.detail
FROM jsonb_to_recordset($2::jsonb) AS w (at timestamptz, id uuid, seq bigint, project text, agent text, session text,
  host_session text, sub_agent text, event text, tool text, verdict text, micros bigint, rules jsonb, reason text, detail jsonb)
JOIN {s}.projects p ON p.name = w.project
ON CONFLICT DO NOTHING";

/// As plain as an event can be, and undone at once: where this is refused, no event is to blame.
const PROBE: [&str; 3] = [
    "SAVEPOINT probe",
    "INSERT INTO {s}.events (at, machine, id, seq, project, agent, event, verdict, micros)
VALUES (clock_timestamp(), $1::uuid, gen_random_uuid(), 0, 0, '', '', 'pass', 0)",
    "ROLLBACK TO SAVEPOINT probe",
];

impl FleetServer<'_> {
    /// Appends what is new of them. The same id twice is one event. Without any it is tried whether one would be taken.
    ///
    /// # Errors
    /// When the server cannot be asked, or refuses.
    pub fn events_put(&mut self, machine: &str, events: &[SentEvent]) -> Result<(), ServerError> {
        if events.is_empty() {
            let [save, put, undo] = PROBE;
            let machine = Some(machine.to_string());
            return self.flight(&[(save, Vec::new()), (put, vec![machine]), (undo, Vec::new())]).map(drop);
        }
        let rows = json_text(&events);
        self.flight(&[(PROJECTS_PUT, vec![rows.clone()]), (PUT, vec![Some(machine.to_string()), rows])]).map(drop)
    }
}
