//! Looks through the record of the fleet: by project and time, which is what its index has, and by what stands in it.

use crate::fleet_server::{Asked, TRIES};
use crate::{FleetServer, InTransaction, Rows};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use store::ServerError;

/// More are not listed at once, and more groups are not told apart.
const MOST_LISTED: usize = 1_000;

/// What nobody waits for any more ends by itself.
const NO_LONGER: &str = "SELECT to_json(set_config('statement_timeout', '12000', true))::text";

/// Which events of the record are looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordQuery {
    /// Of these projects; of all that may be read where there is none.
    pub projects: Vec<String>,
    /// Each of them stands in it somewhere, whatever its case.
    pub words: Vec<String>,
    /// Not older than this, in milliseconds before now.
    pub age_ms: Option<i64>,
    /// And older than this.
    pub until_age_ms: Option<i64>,
    pub only_denied: bool,
    /// Its id, or what it is called on its machine.
    pub agent: Option<String>,
    pub tool: Option<String>,
    pub rule: Option<String>,
    /// How its id begins: ours, or the client's own.
    pub session: Option<String>,
    /// Not the proofs of `taut init` and `taut doctor`.
    pub without_proofs: bool,
    pub limit: usize,
}

/// An event of the record as it is shown.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct RecordedEvent {
    pub id: String,
    /// Milliseconds since 1970, by the clock of its machine.
    pub at: i64,
    pub machine: String,
    pub project: String,
    pub agent: String,
    /// What it is called on its machine, where that is still known.
    pub agent_name: Option<String>,
    pub session: Option<String>,
    pub host_session: Option<String>,
    pub sub_agent: Option<String>,
    pub event: String,
    pub tool: Option<String>,
    pub verdict: String,
    pub micros: i64,
    pub rules: Vec<String>,
    pub reason: Option<String>,
    pub detail: Value,
    pub by: String,
}

/// How much one group of the record has: a machine in a project, an agent, or a rule.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct RecordSum {
    pub machine: String,
    pub project: String,
    pub agent: String,
    pub agent_name: Option<String>,
    pub rule: String,
    pub events: u64,
    pub sessions: u64,
    pub prompts: u64,
    pub calls: u64,
    pub failed: u64,
    pub denied: u64,
    pub asked: u64,
}

/// A project that the server knows, and whether this role may read its record.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct RecordProject {
    pub project: String,
    pub readable: bool,
    /// The role that asks.
    pub role: String,
}

/// What was found, and of which projects it could be.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RecordFound {
    pub events: Vec<RecordedEvent>,
    pub projects: Vec<RecordProject>,
}

/// The sums of what matches.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordSums {
    /// By machine and project.
    pub machines: Vec<RecordSum>,
    pub agents: Vec<RecordSum>,
    pub rules: Vec<RecordSum>,
    pub projects: Vec<RecordProject>,
}

// The moment is that of the statement: one that may change within it could neither use an index nor leave out months.
macro_rules! found {
    () => {
        "FROM {s}.events e JOIN {s}.projects p ON p.id = e.project LEFT JOIN {s}.machines m ON m.id = e.machine
  LEFT JOIN {s}.agents a ON a.machine = e.machine AND a.id = e.agent
WHERE e.project = ANY (ARRAY(SELECT id FROM {s}.projects
    WHERE $1::jsonb = '[]'::jsonb OR name = ANY (ARRAY(SELECT jsonb_array_elements_text($1::jsonb)))))
  AND e.at > coalesce(now() - $2::bigint * interval '1 millisecond', '-infinity')
  AND e.at <= coalesce(now() - $3::bigint * interval '1 millisecond', 'infinity')
  AND isfinite(e.at)
  AND ($4::text <> 'true' OR e.verdict IN ('deny', 'ask'))
  AND ($5::text IS NULL OR e.agent = $5::text OR a.name = $5::text)
  AND ($6::text IS NULL OR e.tool = $6::text)
  AND ($7::text IS NULL OR e.rules ? $7::text)
  AND ($8::text IS NULL OR starts_with(e.session, $8::text) OR starts_with(e.host_session, $8::text))
  AND ($9::text <> 'true' OR NOT starts_with(coalesce(e.host_session, ''), 'taut-proof-'))
  AND NOT EXISTS (SELECT FROM jsonb_array_elements_text($10::jsonb) AS w (word)
    WHERE strpos(lower(concat_ws(' ', m.label, e.agent, a.name, e.event, e.tool, e.rules::text, e.reason, e.detail::text)),
                 lower(w.word)) = 0)"
    };
}

macro_rules! sums {
    () => {
        "'events', count(*), 'sessions', count(DISTINCT e.session),
  'prompts', count(*) FILTER (WHERE e.event = 'UserPromptSubmit'),
  'calls', count(*) FILTER (WHERE e.event = 'PreToolUse'),
  'failed', count(*) FILTER (WHERE e.event = 'PostToolUseFailure'),
  'denied', count(*) FILTER (WHERE e.event = 'PreToolUse' AND e.verdict = 'deny'),
  'asked', count(*) FILTER (WHERE e.event = 'PreToolUse' AND e.verdict = 'ask'))::text "
    };
}

const FIND: &str = concat!(
    "SELECT json_build_object('id', e.id, 'at', (extract(epoch FROM e.at) * 1000)::bigint,
  'machine', left(coalesce(m.label, e.machine::text), 64), 'project', left(p.name, 200), 'agent', left(e.agent, 200),
  'agent_name', left(a.name, 200), 'session', left(e.session, 200), 'host_session', left(e.host_session, 200),
  'sub_agent', left(e.sub_agent, 200), 'event', left(e.event, 100), 'tool', left(e.tool, 200),
  'verdict', left(e.verdict, 20), 'micros', e.micros,
  'rules', CASE WHEN jsonb_typeof(e.rules) = 'array' AND length(e.rules::text) <= 4000 THEN e.rules ELSE '[]'::jsonb END,
  'reason', left(e.reason, 4000), 'detail', CASE WHEN length(e.detail::text) <= 16000 THEN e.detail END, 'by', e.by)::text ",
    found!(),
    " ORDER BY e.at DESC, e.machine, e.seq DESC LIMIT $11::int"
);

const BY_MACHINE: &str = concat!(
    "SELECT json_build_object('machine', left(coalesce(m.label, e.machine::text), 64), 'project', left(p.name, 200), ",
    sums!(),
    found!(),
    " GROUP BY m.label, e.machine, p.name ORDER BY count(*) DESC, p.name, e.machine LIMIT $11::int"
);

const BY_AGENT: &str = concat!(
    "SELECT json_build_object('machine', left(coalesce(m.label, e.machine::text), 64), 'agent', left(e.agent, 200),
  'agent_name', left(a.name, 200), ",
    sums!(),
    found!(),
    " GROUP BY m.label, e.machine, e.agent, a.name ORDER BY count(*) FILTER (WHERE e.event = 'PreToolUse') DESC, e.agent, e.machine
LIMIT $11::int"
);

const BY_RULE: &str = concat!(
    "SELECT json_build_object('rule', left(r.rule, 200), 'events', count(*),
  'denied', count(*) FILTER (WHERE f.verdict = 'deny'), 'asked', count(*) FILTER (WHERE f.verdict = 'ask'))::text
FROM (SELECT e.verdict, e.rules ",
    found!(),
    " AND e.event = 'PreToolUse' AND e.verdict IN ('deny', 'ask') AND jsonb_typeof(e.rules) = 'array') AS f,
  jsonb_array_elements_text(f.rules) AS r (rule)
GROUP BY r.rule ORDER BY count(*) DESC, r.rule LIMIT $11::int"
);

/// What the policies of the table say, asked in words: who may read nothing is answered with nothing, and is to know why.
const PROJECTS: &str = "SELECT json_build_object('project', left(p.name, 200), 'role', current_user, 'readable', EXISTS (
  SELECT FROM pg_catalog.pg_roles r WHERE pg_catalog.pg_has_role(r.oid, 'member') AND (
    r.rolname = '{s}_reader' OR r.oid = (SELECT c.relowner FROM pg_catalog.pg_class c WHERE c.oid = '{s}.events'::regclass)
    OR EXISTS (SELECT FROM {s}.record_grants g WHERE g.reader = r.rolname AND g.project = p.id))))::text
FROM {s}.projects p WHERE $1::jsonb = '[]'::jsonb OR p.name = ANY (ARRAY(SELECT jsonb_array_elements_text($1::jsonb)))
ORDER BY p.name LIMIT 1000";

impl FleetServer<'_> {
    /// The newest that match, of what this role may read.
    ///
    /// # Errors
    /// When the server cannot be asked in time, or refuses.
    pub fn record(&mut self, query: &RecordQuery) -> Result<RecordFound, ServerError> {
        let mut answers = self.looked(&[(FIND, values(query)), projects(query)])?.into_iter();
        let (events, projects) = (answers.next(), answers.next());
        Ok(RecordFound { events: rows(events), projects: rows(projects) })
    }

    /// How much there is of what matches.
    ///
    /// # Errors
    /// When the server cannot be asked in time, or refuses.
    pub fn record_sums(&mut self, query: &RecordQuery) -> Result<RecordSums, ServerError> {
        let statements = [BY_MACHINE, BY_AGENT, BY_RULE].map(|sql| (sql, values(query)));
        let mut answers = self.looked(&[&statements[..], &[projects(query)]].concat())?.into_iter();
        let mut next = || answers.next();
        let (machines, agents, rules) = (next(), next(), next());
        Ok(RecordSums { machines: rows(machines), agents: rows(agents), rules: rows(rules), projects: rows(next()) })
    }

    /// Sent again only where the server undid it for another's sake, such as an owner's who brings the schema forward: else
    /// a person waits, and has been told for how long at most.
    fn looked(&mut self, asked: &[Asked]) -> Result<Vec<Rows>, ServerError> {
        let mut statements = vec![self.statement(NO_LONGER, &[])];
        statements.extend(asked.iter().map(|(sql, values)| self.statement(sql, values)));
        let mut tries = 1;
        loop {
            match self.connection().flight(&statements, InTransaction::Yes) {
                Err(error) if error.is_deadlock() && tries < TRIES => tries += 1,
                answer => return Ok(answer?.into_iter().skip(1).collect()),
            }
        }
    }
}

/// What cannot be read of them is left out: it is what others wrote.
fn rows<T: DeserializeOwned>(rows: Option<Rows>) -> Vec<T> {
    rows.into_iter().flatten().filter_map(|row| serde_json::from_value(row).ok()).collect()
}

fn projects(query: &RecordQuery) -> Asked {
    (PROJECTS, vec![Some(json!(query.projects).to_string())])
}

fn values(query: &RecordQuery) -> Vec<Option<String>> {
    let plain = |text: &Option<String>| text.as_ref().map(|text| text.replace('\0', " "));
    let words: Vec<String> = query.words.iter().map(|word| word.replace('\0', " ")).collect();
    vec![
        Some(json!(query.projects).to_string()),
        query.age_ms.map(|age| age.to_string()),
        query.until_age_ms.map(|age| age.to_string()),
        Some(query.only_denied.to_string()),
        plain(&query.agent),
        plain(&query.tool),
        plain(&query.rule),
        plain(&query.session),
        Some(query.without_proofs.to_string()),
        Some(json!(words).to_string()),
        Some(query.limit.clamp(1, MOST_LISTED).to_string()),
    ]
}
