//! The record of the fleet: events of all machines, appended once each by their ids, and looked through by project.

use crate::fleet_server::{FleetServer, json_text};
use crate::presence::PROJECTS_PUT;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
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

/// Which events of the record are looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordQuery {
    /// Of these projects; of all that may be read where there is none.
    pub projects: Vec<String>,
    /// Words that stand in it, whatever their case.
    pub text: Option<String>,
    /// Not older than this, in milliseconds.
    pub age_ms: Option<i64>,
    pub only_denied: bool,
    pub limit: usize,
}

/// An event of the record as it is shown.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct RecordedEvent {
    /// Milliseconds since 1970, by the clock of its machine.
    pub at: i64,
    pub machine: String,
    pub project: String,
    pub agent: String,
    pub session: Option<String>,
    pub event: String,
    pub tool: Option<String>,
    pub verdict: String,
    pub rules: Vec<String>,
    pub reason: Option<String>,
    pub detail: Value,
    pub by: String,
}

/// How much one machine of the fleet has recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct RecordSum {
    pub machine: String,
    pub project: String,
    pub events: u64,
    pub sessions: u64,
    pub denied: u64,
    pub asked: u64,
}

const PUT: &str = "INSERT INTO {s}.events (at, machine, id, seq, project, agent, session, host_session, sub_agent, event, tool,
  verdict, micros, rules, reason, detail)
SELECT w.at, $1::uuid, w.id, w.seq, p.id, w.agent, w.session, w.host_session, w.sub_agent, w.event, w.tool, w.verdict, w.micros,
  w.rules, w.reason, w.detail
FROM jsonb_to_recordset($2::jsonb) AS w (at timestamptz, id uuid, seq bigint, project text, agent text, session text,
  host_session text, sub_agent text, event text, tool text, verdict text, micros bigint, rules jsonb, reason text, detail jsonb)
JOIN {s}.projects p ON p.name = w.project
ON CONFLICT DO NOTHING";

macro_rules! found {
    () => {
        "FROM {s}.events e JOIN {s}.projects p ON p.id = e.project LEFT JOIN {s}.machines m ON m.id = e.machine
WHERE ($1::jsonb = '[]'::jsonb OR p.name = ANY (ARRAY(SELECT jsonb_array_elements_text($1::jsonb))))
  AND e.at > coalesce(clock_timestamp() - $2::bigint * interval '1 millisecond', '-infinity')
  AND ($3::text IS NULL OR strpos(lower(concat_ws(' ', e.agent, e.event, e.tool, e.rules::text, e.reason, e.detail::text)),
       lower($3::text)) > 0)
  AND ($4::text <> 'true' OR e.verdict IN ('deny', 'ask'))"
    };
}

const FIND: &str = concat!(
    "SELECT json_build_object('at', (extract(epoch FROM e.at) * 1000)::bigint,
  'machine', left(coalesce(m.label, e.machine::text), 64), 'project', left(p.name, 200), 'agent', left(e.agent, 200),
  'session', e.session, 'event', left(e.event, 100), 'tool', left(e.tool, 200), 'verdict', e.verdict,
  'rules', coalesce(e.rules, '[]'::jsonb), 'reason', left(e.reason, 4000), 'detail', e.detail, 'by', e.by)::text ",
    found!(),
    " ORDER BY e.at DESC, e.machine, e.seq DESC LIMIT $5::int"
);

const SUMS: &str = concat!(
    "SELECT json_build_object('machine', left(coalesce(m.label, e.machine::text), 64), 'project', left(p.name, 200),
  'events', count(*), 'sessions', count(DISTINCT e.session), 'denied', count(*) FILTER (WHERE e.verdict = 'deny'),
  'asked', count(*) FILTER (WHERE e.verdict = 'ask'))::text ",
    found!(),
    " GROUP BY m.label, e.machine, p.name ORDER BY count(*) DESC LIMIT $5::int"
);

impl FleetServer<'_> {
    /// Appends what is new of them. The same id twice is one event.
    ///
    /// # Errors
    /// When the server cannot be asked, or refuses.
    pub fn events_put(&mut self, machine: &str, events: &[SentEvent]) -> Result<(), ServerError> {
        let rows = json_text(&events);
        self.flight(&[(PROJECTS_PUT, vec![rows.clone()]), (PUT, vec![Some(machine.to_string()), rows])]).map(drop)
    }

    /// The newest that match, of what this role may read.
    ///
    /// # Errors
    /// When the server cannot be asked, or refuses.
    pub fn record(&mut self, query: &RecordQuery) -> Result<Vec<RecordedEvent>, ServerError> {
        let rows = self.ask(FIND, values(query))?;
        Ok(rows.into_iter().filter_map(|row| serde_json::from_value(row).ok()).collect())
    }

    /// How much each machine has recorded of what matches.
    ///
    /// # Errors
    /// When the server cannot be asked, or refuses.
    pub fn record_sums(&mut self, query: &RecordQuery) -> Result<Vec<RecordSum>, ServerError> {
        let rows = self.ask(SUMS, values(query))?;
        Ok(rows.into_iter().filter_map(|row| serde_json::from_value(row).ok()).collect())
    }
}

fn values(query: &RecordQuery) -> Vec<Option<String>> {
    vec![
        Some(json!(query.projects).to_string()),
        query.age_ms.map(|age| age.to_string()),
        query.text.clone(),
        Some(query.only_denied.to_string()),
        Some(query.limit.clamp(1, 10_000).to_string()),
    ]
}
