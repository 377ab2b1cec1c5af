//! Presence: that this machine is there, what its agents do, and what the others of the fleet do. Only ages are told and
//! taken: no clock of a machine is compared with another's.

use crate::SPEAKS;
use crate::fleet_server::{FleetServer, json_text};
use model::remote_card::PresenceCard;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use store::ServerError;

/// Who says that it is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MachineHeartbeat {
    /// The machine's own id, a UUID.
    pub machine: String,
    pub label: String,
    /// Drawn at the start of the daemon, a UUID.
    pub instance: String,
    /// How often a daemon began on this machine.
    pub starts: i64,
    pub build: String,
}

/// What the server knew of this machine before it was told.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Seen {
    /// Another daemon spoke under the same id last, so long ago.
    pub other: Option<String>,
    pub other_age_ms: Option<i64>,
    /// The most starts that were ever told under this id.
    pub starts: Option<i64>,
    pub version: i64,
    pub oldest: i64,
}

/// An agent of this machine as the others are told of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct AgentPresence {
    pub id: String,
    pub named: bool,
    pub name: String,
    pub client: Option<String>,
    /// What its project is called on the server.
    pub project: Option<String>,
    pub status: String,
    pub session: Option<String>,
    pub conversation: Option<String>,
    pub task: Option<String>,
    pub now_does: Option<String>,
    pub asks: Option<String>,
    /// What it asks, as far as it can be answered from elsewhere.
    #[serde(serialize_with = "as_text")]
    pub card: Option<PresenceCard>,
    pub context: Option<i64>,
    /// How long ago its status changed.
    pub age_ms: i64,
}

/// An agent of another machine.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct FleetAgent {
    pub machine: String,
    pub label: String,
    pub id: String,
    pub name: Option<String>,
    pub client: Option<String>,
    pub project: Option<String>,
    pub status: String,
    pub conversation: Option<String>,
    pub task: Option<String>,
    pub now_does: Option<String>,
    pub asks: Option<String>,
    #[serde(deserialize_with = "readable_card")]
    pub card: Option<PresenceCard>,
    pub context: Option<i64>,
    /// How long ago its status changed, and its machine was heard of.
    pub age_ms: i64,
    pub silent_ms: i64,
}

/// A text, so that the server changes nothing of it: it would write numbers in another way.
fn as_text<S: Serializer>(card: &Option<PresenceCard>, to: S) -> Result<S::Ok, S::Error> {
    card.as_ref().and_then(|card| serde_json::to_string(card).ok()).serialize(to)
}

/// What nobody can read as a card is none: the agent is shown without it.
fn readable_card<'de, D: Deserializer<'de>>(from: D) -> Result<Option<PresenceCard>, D::Error> {
    let text = Option::<String>::deserialize(from)?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
}

// Of a machine that is another role's nothing is written: its daemon hears of somebody who began as often as itself and is
// silent now, and goes on under another id, while a command leaves it at that. A daemon takes the row along to its own role.
const SEEN: &str = "WITH old AS (
  SELECT instance, starts, seen_at, coalesce(instance, id) AS somebody, m.by <> current_user
    AND NOT coalesce((SELECT pg_has_role(r.oid, 'member') FROM pg_catalog.pg_roles r WHERE r.rolname = m.by), true) AS is_anothers
  FROM {s}.machines m WHERE id = $1::uuid
), put AS (
  INSERT INTO {s}.machines AS m (id, label, instance, starts, build, speaks)
  VALUES ($1::uuid, left($2::text, 64), $3::uuid, $4::int, left($5::text, 64), $6::int)
  ON CONFLICT (id) DO UPDATE SET label = excluded.label, instance = excluded.instance,
    starts = greatest(m.starts, excluded.starts), build = excluded.build, speaks = excluded.speaks,
    by = CASE WHEN m.instance IS DISTINCT FROM excluded.instance THEN current_user ELSE m.by END,
    seen_at = clock_timestamp()
  WHERE m.by = current_user
    OR coalesce((SELECT pg_has_role(r.oid, 'member') FROM pg_catalog.pg_roles r WHERE r.rolname = m.by), true)
)
SELECT json_build_object(
  'other', (SELECT somebody FROM old WHERE is_anothers OR instance <> $3::uuid),
  'other_age_ms', (SELECT (extract(epoch FROM clock_timestamp() - seen_at) * 1000)::bigint FROM old
                   WHERE NOT is_anothers AND instance <> $3::uuid),
  'starts', (SELECT CASE WHEN is_anothers THEN $4::int ELSE starts END FROM old),
  'version', (SELECT value::int FROM {s}.meta WHERE name = 'version'),
  'oldest', (SELECT value::int FROM {s}.meta WHERE name = 'oldest'))::text";

/// Names of projects that nobody has named yet.
pub(crate) const PROJECTS_PUT: &str = "INSERT INTO {s}.projects (name)
SELECT DISTINCT w.project FROM jsonb_to_recordset($1::jsonb) AS w (project text)
WHERE w.project IS NOT NULL AND NOT EXISTS (SELECT 1 FROM {s}.projects p WHERE p.name = w.project)
ON CONFLICT (name) DO NOTHING";

/// Whole rows; those of this machine that are not among them go.
const AGENTS_PUT: &str = "WITH w AS (
  SELECT w.*, p.id AS project_id FROM jsonb_to_recordset($2::jsonb) AS w (id text, named boolean, name text, client text,
    project text, status text, session text, conversation text, task text, now_does text, asks text, card text,
    context smallint, age_ms bigint) LEFT JOIN {s}.projects p ON p.name = w.project
), gone AS (
  DELETE FROM {s}.agents a WHERE a.machine = $1::uuid AND NOT EXISTS (SELECT 1 FROM w WHERE w.id = a.id)
)
INSERT INTO {s}.agents AS a (machine, id, named, name, client, project, status, session, conversation, task, now_does, asks,
  card, context, since)
SELECT $1::uuid, id, named, name, client, project_id, status, left(session, 200), left(conversation, 200), task, now_does, asks,
       CASE WHEN length(card) <= 16000 THEN card END, context, clock_timestamp() - age_ms * interval '1 millisecond' FROM w
ON CONFLICT (machine, id) DO UPDATE SET named = excluded.named, name = excluded.name, client = excluded.client,
  project = excluded.project, status = excluded.status, session = excluded.session, conversation = excluded.conversation,
  task = excluded.task, now_does = excluded.now_does, asks = excluded.asks, card = excluded.card, context = excluded.context,
  since = excluded.since, seen_at = clock_timestamp()";

/// Each role in turn, so that one that says much leaves room for the others; and of cards no more than is read in a flight.
const FLEET: &str = "WITH known AS (
  SELECT a.machine, a.id, a.name, a.client, a.status, a.conversation, a.task, a.now_does, a.asks, a.card, a.context, a.since,
         m.label, m.seen_at AS heard_at, p.name AS called,
         row_number() OVER (PARTITION BY m.by ORDER BY a.machine, a.id) AS turn
  FROM {s}.agents a JOIN {s}.machines m ON m.id = a.machine LEFT JOIN {s}.projects p ON p.id = a.project
  WHERE a.machine <> $1::uuid AND m.seen_at > clock_timestamp() - interval '1 day'
    AND (p.name = ANY (ARRAY(SELECT jsonb_array_elements_text($2::jsonb))) OR p.name IS NULL)
), told AS (
  SELECT known.*, sum(octet_length(card)) OVER (ORDER BY turn, machine, id) AS cards FROM known ORDER BY turn, machine, id LIMIT 5000
)
SELECT json_build_object('machine', machine, 'label', left(label, 64), 'id', left(id, 200),
  'name', left(name, 200), 'client', left(client, 64), 'project', left(called, 200), 'status', left(status, 20),
  'conversation', left(conversation, 200), 'task', left(task, 200), 'now_does', left(now_does, 200),
  'asks', left(asks, 200), 'card', CASE WHEN length(card) <= 16000 AND cards <= 4000000 THEN card END, 'context', context,
  'age_ms', (extract(epoch FROM clock_timestamp() - since) * 1000)::bigint,
  'silent_ms', (extract(epoch FROM clock_timestamp() - heard_at) * 1000)::bigint)::text
FROM told ORDER BY label, machine, id";

const LEAVE: &str = "DELETE FROM {s}.agents WHERE machine = $1::uuid";

const TEND: &str = "SELECT 'null'::pg_catalog.text FROM (SELECT {s}.tend()) AS tended";

impl FleetServer<'_> {
    /// Says that this machine is there.
    ///
    /// # Errors
    /// When the server cannot be asked, or refuses.
    pub fn seen(&mut self, beat: &MachineHeartbeat) -> Result<Seen, ServerError> {
        let values = [
            beat.machine.clone(),
            beat.label.clone(),
            beat.instance.clone(),
            beat.starts.to_string(),
            beat.build.clone(),
            SPEAKS.to_string(),
        ];
        let rows = self.ask(SEEN, values.map(Some).to_vec())?;
        Ok(rows.into_iter().next().and_then(|row| serde_json::from_value(row).ok()).unwrap_or_default())
    }

    /// All agents of this machine that the others may know of.
    ///
    /// # Errors
    /// When the server cannot be asked, or refuses.
    pub fn agents_put(&mut self, machine: &str, agents: &[AgentPresence]) -> Result<(), ServerError> {
        let rows = json_text(&agents);
        self.flight(&[(PROJECTS_PUT, vec![rows.clone()]), (AGENTS_PUT, vec![Some(machine.to_string()), rows])])
            .map(drop)
    }

    /// All agents of other machines in these projects.
    ///
    /// # Errors
    /// When the server cannot be asked, or refuses.
    pub fn fleet(&mut self, machine: &str, projects: &[String]) -> Result<Vec<FleetAgent>, ServerError> {
        let projects = json_text(&projects);
        let rows = self.ask(FLEET, vec![Some(machine.to_string()), projects])?;
        Ok(rows.into_iter().filter_map(|row| serde_json::from_value(row).ok()).collect())
    }

    /// None of this machine's agents is there any more.
    ///
    /// # Errors
    /// When the server cannot be asked, or refuses.
    pub fn leave(&mut self, machine: &str) -> Result<(), ServerError> {
        self.flight(&[(LEAVE, vec![Some(machine.to_string())])]).map(drop)
    }

    /// Makes partitions and drops what is old: once a day, by whichever machine.
    ///
    /// # Errors
    /// When the server cannot be asked, or refuses; `Busy` where somebody's open transaction was in the way.
    pub fn tend(&mut self) -> Result<(), ServerError> {
        self.unhurried(TEND)
    }
}
