//! The fleet as every view shows it: one snapshot of who works on what. `taut
//! agents`, `taut top`, `taut ui` and tmux all read this, so that none of them
//! tells another number.

use crate::fleet_runs::FleetRun;
use crate::{CardFilter, EffortFilter, Error, RemoteAgent, Store, agents, events, session_facts, sessions};
use model::Ms;
use model::agent_name::AgentNames;
use model::card::Card;
use model::effort::Effort;
use model::row::{Agent, AgentStatus, Event};
use model::session::Session;
use model::session_facts::SessionFacts;
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::{BTreeMap, BTreeSet};

/// The whole fleet at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Fleet {
    /// The one whose status changed last first. Agents of the runs are not among them.
    pub members: Vec<FleetRow>,
    /// The one that began last first.
    pub runs: Vec<FleetRun>,
    /// Agents of other machines, by machine, as they were last heard of.
    pub remote: Vec<RemoteAgent>,
}

/// An agent with what it has at hand.
#[derive(Debug, Clone, PartialEq)]
pub struct FleetRow {
    pub agent: Agent,
    /// What it is called; its id where it has no other name.
    pub name: String,
    /// The open session its row names.
    pub session: Option<Session>,
    /// The session that its client died in, of an agent that crashed.
    pub died_in: Option<String>,
    /// The tool call it waits for.
    pub running: Option<RunningTool>,
    /// The slug of a task it holds.
    pub task: Option<String>,
    pub effort: Option<Effort>,
    /// What turned it to attention or error; of one that was looked at, what it still waits for.
    pub cause: Option<Event>,
    /// What was last said to it other than to pass, among the fleet's latest events.
    pub verdict: Option<Event>,
    /// Sub-agents at work within the session.
    pub sub_agents: u64,
    /// Messages that wait for it.
    pub messages: u64,
    /// What it asks of a person and can be answered from elsewhere, the oldest first.
    pub cards: Vec<Card>,
    pub facts: SessionFacts,
}

impl FleetRow {
    /// The session to open: its own, or the one its client died in.
    pub fn shown_session(&self) -> Option<&str> {
        self.agent.session.as_deref().or(self.died_in.as_deref())
    }
}

/// A tool call that was let through and has not come back.
#[derive(Debug, Clone, PartialEq)]
pub struct RunningTool {
    pub tool: String,
    /// What it is asked to do, as stored.
    pub event: Event,
    pub since: Ms,
    /// Others in flight beside it.
    pub beside: usize,
}

/// Tasks of one project by status; blocked ones are counted apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskTotals {
    pub project: String,
    /// Status, and how many: `open`, `active`, `done`, `quarantined`, `blocked`.
    pub counts: BTreeMap<String, u64>,
}

/// Denials are looked through so far back for the last verdict of each session,
/// and so many of all latest events for what was only asked or warned about.
const DENIALS: usize = 512;
const RECENT: &str = "1000";
/// So far back the verdicts of one rule are looked for.
const DENIALS_OF_RULE: usize = 20_000;

const SUB_AGENTS: &str = "SELECT count(*) FROM sub_sessions WHERE session = ?1 AND ended_at IS NULL";

pub(crate) const FOR_AGENTS: &str = "SELECT to_agent, count(*) FROM messages JOIN agents ON agents.id = to_agent
    WHERE delivered_at IS NULL AND to_agent IS NOT NULL
      AND COALESCE(messages.dialect, agents.dialect, '') = COALESCE(agents.dialect, messages.dialect, '') GROUP BY 1";
pub(crate) const FOR_CONVERSATIONS: &str = "SELECT to_conversation, count(*) FROM messages
    WHERE delivered_at IS NULL AND to_conversation IS NOT NULL GROUP BY 1";

const TOTALS: &str = "SELECT project, CASE WHEN status IN ('open', 'active') AND open_blockers > 0 THEN 'blocked'
      ELSE status END, count(*)
    FROM tasks WHERE status IS NOT NULL AND status <> 'deleted' AND (shared = 0 OR status = 'active')
    GROUP BY 1, 2 ORDER BY 1, 2";

const BY_HOUR: &str = "SELECT at / 3600000 * 3600000, count(*) FROM events
    WHERE verdict = 'deny' AND at >= ?1 AND ifnull(host_session, '') NOT LIKE 'taut-proof-%' GROUP BY 1 ORDER BY 1";

/// An agent that ended so long before the fleet's last change is not shown: at
/// fifty named workers a day nobody would find the ones that run.
pub(crate) const LISTED_MS: i64 = 24 * 3_600_000;

impl Store {
    /// Everyone whom `taut agents` lists. An unnamed agent that has ended is
    /// forgotten, a named one and one that crashed are shown for another day.
    pub fn fleet(&self) -> Result<Fleet, Error> {
        let newest = |agents: &[Agent]| agents.iter().map(|agent| agent.since).max().unwrap_or_default();
        self.glance(|agents| {
            let newest = newest(agents);
            let is_fresh = |agent: &Agent| newest.since(agent.since) <= LISTED_MS;
            agents.retain(|agent| agent.session.is_some() || (agent.named || is_crashed(agent)) && is_fresh(agent));
        })
        .map(|mut fleet| {
            retain_listed(&mut fleet.remote);
            fleet
        })
    }

    /// Those that ended long ago as well.
    pub fn whole_fleet(&self) -> Result<Fleet, Error> {
        self.glance(|agents| agents.retain(|agent| agent.named || agent.session.is_some() || is_crashed(agent)))
    }

    fn glance(&self, keep: impl FnOnce(&mut Vec<Agent>)) -> Result<Fleet, Error> {
        self.snapshot(|store| {
            let common = Common::load(store)?;
            let mut agents = store.agents()?;
            keep(&mut agents);
            let members = agents.into_iter().map(|agent| store.read(|conn| member(conn, agent, &common)));
            let mut members: Vec<FleetRow> = members.collect::<Result<_, _>>()?;
            let mut runs = store.fleet_runs()?;
            fold(&mut members, &mut runs, &store.loop_agents()?);
            Ok(Fleet { members, runs, remote: store.remote_agents()? })
        })
    }

    /// One agent as `fleet` has it.
    pub fn member(&self, id: &str) -> Result<Option<FleetRow>, Error> {
        self.snapshot(|store| {
            let Some(agent) = store.read(|conn| agents::load(conn, id))? else { return Ok(None) };
            let common = Common::load(store)?;
            store.read(|conn| member(conn, agent, &common)).map(Some)
        })
    }

    /// The session in which an agent's status was set, where it has one or its client died in one.
    pub fn session_of_status(&self, agent: &Agent) -> Result<Option<String>, Error> {
        self.read(|conn| session_of_status(conn, agent))
    }

    /// The latest events that were not simply let pass, the newest first. The
    /// proofs of `taut init` and `taut doctor` are nobody's.
    pub fn verdicts(&self, most: usize) -> Result<Vec<Event>, Error> {
        let columns = events::COLUMNS;
        // Denials are found by their index however long ago they were; what was
        // only asked or warned about is shown while it is fresh.
        let sql = format!(
            "SELECT {columns} FROM (
               SELECT * FROM (SELECT seq, {columns} FROM events INDEXED BY events_denied
                 WHERE verdict = 'deny' AND ifnull(host_session, '') NOT LIKE 'taut-proof-%' ORDER BY at DESC LIMIT ?1)
               UNION SELECT * FROM (SELECT seq, {columns} FROM events WHERE seq IN
                 (SELECT seq FROM (SELECT seq, verdict FROM events ORDER BY seq DESC LIMIT {RECENT}) WHERE verdict <> 'pass')
                 AND ifnull(host_session, '') NOT LIKE 'taut-proof-%'
                 ORDER BY seq DESC LIMIT ?1))
             ORDER BY seq DESC LIMIT ?1"
        );
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        self.read(|conn| conn.prepare_cached(&sql)?.query_map([most], events::read)?.collect())
    }

    /// The latest events in which this rule stopped or warned, the newest first.
    pub fn verdicts_of_rule(&self, rule: &str, most: usize) -> Result<Vec<Event>, Error> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let sql = verdicts_of_rule();
        self.read(|conn| conn.prepare_cached(&sql)?.query_map(params![rule, most], events::read)?.collect())
    }

    /// How many denials there were in each hour since then; hours without one
    /// are left out, and so are the proofs of `taut init` and `taut doctor`.
    pub fn denials_by_hour(&self, since: Ms) -> Result<Vec<(Ms, u64)>, Error> {
        self.read(|conn| {
            let read = |row: &rusqlite::Row<'_>| Ok((Ms(row.get(0)?), row.get::<_, i64>(1)?.cast_unsigned()));
            conn.prepare_cached(BY_HOUR)?.query_map([since.0], read)?.collect()
        })
    }

    /// The queues of all projects. Reads every task: not for every frame of a view.
    pub fn task_totals(&self) -> Result<Vec<TaskTotals>, Error> {
        let read = |row: &rusqlite::Row<'_>| {
            Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, i64>(2)?.cast_unsigned()))
        };
        let rows: Vec<(String, String, u64)> =
            self.read(|conn| conn.prepare_cached(TOTALS)?.query_map([], read)?.collect())?;
        let mut totals: Vec<TaskTotals> = Vec::new();
        for (project, status, count) in rows {
            if totals.last().is_none_or(|last| last.project != project) {
                totals.push(TaskTotals { project, counts: BTreeMap::new() });
            }
            totals.last_mut().map(|last| last.counts.insert(status, count));
        }
        Ok(totals)
    }

    /// Rises with every commit of anybody else's connection. Costs next to nothing.
    pub fn data_version(&self) -> Result<i64, Error> {
        self.read(|conn| conn.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0)))
    }

    /// Reads that belong together see one moment.
    fn snapshot<T>(&self, read: impl FnOnce(&Self) -> Result<T, Error>) -> Result<T, Error> {
        self.read(|conn| conn.execute_batch("BEGIN"))?;
        let found = read(self);
        let over = self.read(|conn| conn.execute_batch("COMMIT"));
        found.and_then(|found| over.map(|()| found))
    }
}

/// Denials by their index, what was only asked or warned about while it is fresh.
pub(crate) fn verdicts_of_rule() -> String {
    let columns = events::COLUMNS;
    let of_rule = "EXISTS (SELECT 1 FROM json_each(said.rules) WHERE value = ?1)
        AND ifnull(host_session, '') NOT LIKE 'taut-proof-%'";
    format!(
        "SELECT {columns} FROM events WHERE seq IN (
           SELECT seq FROM (SELECT seq FROM (SELECT seq, rules, host_session FROM events INDEXED BY events_denied
               WHERE verdict = 'deny' ORDER BY at DESC LIMIT {DENIALS_OF_RULE}) AS said WHERE {of_rule} LIMIT ?2)
           UNION SELECT seq FROM (SELECT seq FROM (SELECT seq, rules, verdict, host_session FROM events
               ORDER BY seq DESC LIMIT {DENIALS_OF_RULE}) AS said WHERE verdict IN ('ask', 'warn') AND {of_rule} LIMIT ?2))
         ORDER BY seq DESC LIMIT ?2"
    )
}

/// Agents of a run stand under it, and those of runs that are no longer shown are over.
/// Of other machines as of this one: who ended long ago is not listed, nor a machine of which nothing was heard for a day
/// while of others there was.
fn retain_listed(remote: &mut Vec<RemoteAgent>) {
    let latest = remote.iter().map(|one| one.heard_at).max().unwrap_or_default();
    remote.retain(|one| {
        let has_ended = one.told.status == AgentStatus::Done.name() && latest.since(Ms(one.told.since)) > LISTED_MS;
        !has_ended && latest.since(one.heard_at) <= LISTED_MS
    });
}

fn fold(members: &mut Vec<FleetRow>, runs: &mut [FleetRun], of_runs: &BTreeSet<String>) {
    let (theirs, own): (Vec<_>, Vec<_>) =
        std::mem::take(members).into_iter().partition(|one| of_runs.contains(&one.agent.id));
    *members = own;
    let mut put = |run: &mut FleetRun| {
        let name = run.run.agent_name();
        run.member = theirs.iter().find(|one| one.agent.id == name).cloned();
    };
    for run in runs {
        put(run);
        run.workers.iter_mut().for_each(&mut put);
    }
}

/// What is read once for the whole fleet: two hundred agents are not two
/// hundred times as many questions.
struct Common {
    efforts: Vec<Effort>,
    /// By agent: one of the tasks it holds.
    held: BTreeMap<String, String>,
    /// By session.
    verdicts: BTreeMap<String, Event>,
    /// Messages that wait, by agent and by conversation.
    for_agents: BTreeMap<String, u64>,
    for_conversations: BTreeMap<String, u64>,
    cards: Vec<Card>,
    names: AgentNames,
}

impl Common {
    fn load(store: &Store) -> Result<Self, Error> {
        let mut verdicts = BTreeMap::new();
        for event in store.verdicts(DENIALS)? {
            if let Some(session) = event.session.clone() {
                verdicts.entry(session).or_insert(event);
            }
        }
        let counts = |sql: &str| {
            let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned()));
            store.read(|conn| conn.prepare_cached(sql)?.query_map([], read)?.collect())
        };
        Ok(Self {
            efforts: store.efforts(&EffortFilter { only_active: true, ..EffortFilter::default() })?,
            held: store.holders()?.into_iter().rev().collect(),
            verdicts,
            for_agents: counts(FOR_AGENTS)?,
            for_conversations: counts(FOR_CONVERSATIONS)?,
            cards: store.cards(&CardFilter::default())?,
            names: store.agent_names()?,
        })
    }

    fn messages(&self, agent: &Agent, session: Option<&Session>) -> u64 {
        let own = self.for_agents.get(&agent.id);
        let conversation = session.and_then(|session| self.for_conversations.get(&session.conversation));
        own.copied().unwrap_or_default() + conversation.copied().unwrap_or_default()
    }
}

fn member(conn: &Connection, agent: Agent, common: &Common) -> rusqlite::Result<FleetRow> {
    let session = match &agent.session {
        Some(id) => sessions::by_id(conn, id)?.filter(Session::open),
        None => None,
    };
    let (mut running, mut cause, mut sub_agents) = (None, None, 0);
    if let Some(session) = &session {
        running = self::running(conn, session)?;
        let count = conn.prepare_cached(SUB_AGENTS)?.query_row([&session.id], |row| row.get::<_, i64>(0))?;
        sub_agents = count.cast_unsigned();
    }
    let of_status = session_of_status(conn, &agent)?;
    if let Some(shown) = &of_status {
        let asked = session.as_ref().and_then(|session| session.memo.asked_at);
        cause = self::cause(conn, &agent, shown, asked)?;
    }
    Ok(FleetRow {
        name: common.names.of(&agent.id).to_string(),
        running,
        cause,
        sub_agents,
        task: common.held.get(&agent.id).cloned(),
        effort: common.efforts.iter().find(|effort| effort.agent == agent.id).cloned(),
        verdict: session.as_ref().and_then(|session| common.verdicts.get(&session.id).cloned()),
        messages: common.messages(&agent, session.as_ref()),
        cards: common.cards.iter().filter(|card| agent.session.as_ref() == Some(&card.session)).cloned().collect(),
        facts: of_status
            .as_deref()
            .map(|id| session_facts::for_row(conn, id))
            .transpose()?
            .flatten()
            .unwrap_or_default(),
        died_in: of_status.filter(|_| agent.session.is_none()),
        agent,
        session,
    })
}

/// An agent whose client died is an error without a session.
fn is_crashed(agent: &Agent) -> bool {
    agent.status == AgentStatus::Error && agent.session.is_none()
}

/// The session in which an agent's status was set: its own, or the last one of an agent whose client died.
fn session_of_status(conn: &Connection, agent: &Agent) -> rusqlite::Result<Option<String>> {
    const LAST: &str = "SELECT id FROM sessions WHERE agent = ?1 AND ended_at = ?2 ORDER BY row DESC LIMIT 1";
    match &agent.session {
        Some(session) => Ok(Some(session.clone())),
        None if is_crashed(agent) => {
            conn.prepare_cached(LAST)?.query_row(params![agent.id, agent.since.0], |row| row.get(0)).optional()
        }
        None => Ok(None),
    }
}

/// The event that set a status which somebody has to look at: it bears the same moment. Who was looked at waits for what
/// was asked before that.
fn cause(conn: &Connection, agent: &Agent, session: &str, asked: Option<Ms>) -> rusqlite::Result<Option<Event>> {
    let at = match agent.status {
        AgentStatus::Error | AgentStatus::Attention => Some(agent.since),
        AgentStatus::Checked => asked,
        AgentStatus::Working | AgentStatus::Done => None,
    };
    let Some(at) = at else { return Ok(None) };
    let sql = format!(
        "SELECT {} FROM events WHERE seq = (SELECT max(seq) FROM
           (SELECT seq, at FROM events WHERE session = ?1 ORDER BY seq DESC LIMIT 256) WHERE at = ?2)",
        events::COLUMNS
    );
    conn.prepare_cached(&sql)?.query_row(params![session, at.0], events::read).optional()
}

/// The oldest call in flight: the one that is waited for longest.
fn running(conn: &Connection, session: &Session) -> rusqlite::Result<Option<RunningTool>> {
    let Some(host_session) = &session.host_session else { return Ok(None) };
    let sql = format!("SELECT {} FROM events WHERE key >= ?1 AND key < ?2 ORDER BY key LIMIT 1", events::COLUMNS);
    let mut found: Vec<Event> = Vec::new();
    for call in session.in_flight.iter().take(16) {
        // All keys of this call: what it asked for is the last part of a key, and `0` follows `/`.
        let prefix = format!("{host_session}/PreToolUse/{call}");
        let event = conn.prepare_cached(&sql)?.query_row([format!("{prefix}/"), format!("{prefix}0")], events::read);
        found.extend(event.optional()?);
    }
    let oldest = found.into_iter().min_by_key(|event| event.at);
    Ok(oldest.map(|event| RunningTool {
        tool: event.tool.clone().unwrap_or_default(),
        since: event.at,
        beside: session.in_flight.len().saturating_sub(1),
        event,
    }))
}
