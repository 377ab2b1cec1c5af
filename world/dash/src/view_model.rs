//! What a view shows of a fleet, made from what is stored. Pure: the terminal,
//! the web page and `--json` all show this, so none can tell another number.

use crate::agent_place;
use crate::card_view::{CardRow, DiffRow};
use crate::remote_row::{self, RemotePlace, by_machine};
use crate::run_view::RunRow;
use crate::session_facts_view;
use actions::{ANSWER_EVENT, PERSON_ACT};
use engine::client_turn;
use engine::fleet::notify;
use model::row::{AgentStatus, Event};
use model::{ClientProcess, Ms};
use serde::Serialize;
use serde_json::Value;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use store::{Fleet, FleetRow, FleetRun, Store};

/// One agent, as a row of a table. Its JSON is what `taut agents --json` prints.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AgentRow {
    pub id: String,
    /// What people call it.
    pub name: String,
    /// Which agent it is: `claude-code`, `codex`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    #[serde(serialize_with = "status_name")]
    pub status: AgentStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    pub project: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The skill of its active effort.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// When the status last changed.
    #[serde(serialize_with = "moment")]
    pub since: Ms,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<&'static str>,
    /// To a tenth, where 100 is the point of auto-compaction. Unknown is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_percent: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<RunningCall>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Why somebody has to look: what is asked, or what failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What the session says it is doing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doing: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "some_moment")]
    pub seen: Option<Ms>,
    #[serde(skip_serializing_if = "is_none_of_them")]
    pub sub_agents: u64,
    #[serde(skip_serializing_if = "is_none_of_them")]
    pub messages: u64,
    /// tmux socket and pane.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pane: Option<String>,
    /// Where it sits, in a few letters: `%3`, `pts/2`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Its client, by which the terminal is found.
    #[serde(skip)]
    pub process: Option<ClientProcess>,
    /// The first line of what it said last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_words: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// What it has changed since its session began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<DiffRow>,
    /// Why there is none, or what is not in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff_note: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// It was reckoned from tokens and public prices, since the client does not tell it.
    #[serde(skip_serializing_if = "is_not")]
    pub cost_estimated: bool,
    /// In and out, of the whole session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// The last tool failed, and nothing has succeeded since: a mark beside the status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_tool: Option<String>,
    /// What can be answered from here, the oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cards: Vec<CardRow>,
    /// The run of the loop that this row is, with its iterations; its agents have no rows of their own.
    #[serde(rename = "loop", skip_serializing_if = "Option::is_none")]
    pub run: Option<Box<RunRow>>,
    /// Where it is, of an agent of another machine.
    #[serde(flatten)]
    pub remote: Option<RemotePlace>,
}

/// Stands before what an agent does whose last tool failed.
pub const FAILED_TOOL: &str = "✗ ";

impl AgentRow {
    pub fn object(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// What it is called here: with its machine, where that is another.
    pub fn called(&self) -> String {
        match &self.remote {
            Some(at) => format!("{}@{}", self.name, at.machine),
            None => self.name.clone(),
        }
    }
}

/// The tool call that is waited for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunningCall {
    pub name: String,
    /// The command, file or pattern it is about, in one line.
    pub about: String,
    #[serde(serialize_with = "moment")]
    pub since: Ms,
    /// Other calls in flight.
    #[serde(skip_serializing_if = "is_none")]
    pub beside: usize,
}

/// Something that was not simply let pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    pub agent: String,
    /// What people call the agent.
    pub agent_name: String,
    #[serde(serialize_with = "moment")]
    pub at: Ms,
    pub verdict: &'static str,
    pub event: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    pub about: String,
    pub rules: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// How many agents stand how.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FleetSummary(pub BTreeMap<AgentStatus, usize>);

/// By machine, this one first, and of each the most urgent first.
pub fn rows(glance: &Fleet, now: Ms) -> Vec<AgentRow> {
    let mut rows: Vec<AgentRow> = glance.members.iter().map(row).collect();
    rows.extend(glance.runs.iter().map(|seen| run_row(seen, now)));
    rows.extend(remote_row::rows(&glance.remote, now));
    rows.sort_by(|a, b| by_machine(a, b).then_with(|| urgency(a, b)));
    rows
}

/// The order of every list of agents. Within a status, who waits longest first; those at work by name, so that they stay
/// where they are; and of those with nothing to do the latest first. Names break every tie.
pub fn urgency(a: &AgentRow, b: &AgentRow) -> Ordering {
    let within = match a.status {
        AgentStatus::Error | AgentStatus::Attention | AgentStatus::Checked => a.since.cmp(&b.since),
        AgentStatus::Working => Ordering::Equal,
        AgentStatus::Done => b.since.cmp(&a.since),
    };
    a.status.cmp(&b.status).then(within).then_with(|| (&a.name, &a.id).cmp(&(&b.name, &b.id)))
}

/// A run with its iterations is one row, whichever agents it starts.
fn run_row(seen: &FleetRun, now: Ms) -> AgentRow {
    let run = RunRow::of(seen, now);
    let agent = seen.member.as_ref().map(row);
    let asks = run.status == AgentStatus::Attention;
    AgentRow {
        id: flat(&seen.run.agent_name()),
        name: flat(&seen.run.agent_name()),
        client: agent.as_ref().and_then(|agent| agent.client.clone()),
        status: run.status,
        session: agent.as_ref().and_then(|agent| agent.session.clone()),
        project: run.project.clone(),
        task: run.task.clone().or_else(|| agent.as_ref()?.task.clone()),
        effort: agent.as_ref().and_then(|agent| agent.effort.clone()),
        since: run.since,
        phase: agent.as_ref().and_then(|agent| agent.phase.clone()),
        state: agent.as_ref().and_then(|agent| agent.state),
        context_percent: agent.as_ref().and_then(|agent| agent.context_percent),
        tool: agent.as_ref().and_then(|agent| agent.tool.clone()),
        verdict: agent.as_ref().and_then(|agent| agent.verdict.clone()),
        why: run.why.clone().or_else(|| agent.as_ref().filter(|_| asks)?.why.clone()),
        doing: Some(run.now()),
        seen: agent.as_ref().and_then(|agent| agent.seen),
        sub_agents: agent.as_ref().map(|agent| agent.sub_agents).unwrap_or_default(),
        messages: agent.as_ref().map(|agent| agent.messages).unwrap_or_default(),
        pane: agent.as_ref().and_then(|agent| agent.pane.clone()),
        place: agent.as_ref().and_then(|agent| agent.place.clone()),
        process: None,
        last_words: agent.as_ref().and_then(|agent| agent.last_words.clone()).or_else(|| run.said.clone()),
        branch: agent.as_ref().and_then(|agent| agent.branch.clone()),
        diff: agent.as_ref().and_then(|agent| agent.diff),
        diff_note: agent.as_ref().and_then(|agent| agent.diff_note.clone()),
        model: agent.as_ref().and_then(|agent| agent.model.clone()),
        // Of all its iterations, not of the session that runs now.
        cost_usd: Some(run.cost_usd).filter(|cost| *cost > 0.0),
        cost_estimated: false,
        tokens: Some(run.tokens).filter(|tokens| *tokens > 0),
        failed_tool: agent.as_ref().and_then(|agent| agent.failed_tool.clone()),
        cards: agent.map(|agent| agent.cards).unwrap_or_default(),
        run: Some(Box::new(run)),
        remote: None,
    }
}

/// Whether there is more than one kind of agent: only then it is worth a column.
pub fn is_mixed(rows: &[AgentRow]) -> bool {
    let mut kinds = rows.iter().filter_map(|row| row.client.as_ref());
    let first = kinds.next();
    kinds.any(|kind| Some(kind) != first)
}

pub fn row(member: &FleetRow) -> AgentRow {
    let (agent, session, facts) = (&member.agent, member.session.as_ref(), &member.facts);
    AgentRow {
        id: flat(&agent.id),
        name: flat(&member.name),
        client: agent.dialect.as_deref().map(flat),
        status: agent.status,
        session: member.shown_session().map(str::to_owned),
        project: flat(&agent.project),
        task: member.task.as_deref().map(flat),
        effort: member.effort.as_ref().map(|effort| flat(&effort.skill)),
        since: agent.since,
        phase: member.effort.as_ref().and_then(|effort| effort.phase.as_deref()).map(flat),
        state: session.map(|session| session.state.name()),
        context_percent: session.and_then(|session| session.context_percent()).map(tenth),
        tool: member.running.as_ref().map(|running| RunningCall {
            name: flat(&running.tool),
            about: about(&running.event),
            since: running.since,
            beside: running.beside,
        }),
        verdict: member.verdict.as_ref().map(|event| verdict(event, &member.name)),
        why: member.cause.as_ref().map(|cause| one_line(&notify::why(cause, ONE_LINE))).filter(|why| !why.is_empty()),
        doing: session.and_then(|session| session.status_text.as_deref()).map(flat),
        seen: session.map(|session| session.last_seen_at),
        sub_agents: member.sub_agents,
        messages: member.messages,
        pane: session.and_then(|session| session.pane.as_deref()).map(flat),
        place: session.and_then(agent_place::of_session),
        process: session.and_then(|session| session.client),
        last_words: facts.last_words.as_deref().map(one_line).filter(|words| !words.is_empty()),
        branch: facts.branch.as_deref().map(flat),
        diff: facts.diff.map(DiffRow::of),
        diff_note: facts.diff_note.as_deref().map(one_line),
        model: facts.model.as_deref().or(session.and_then(|session| session.memo.model.as_deref())).map(flat),
        cost_usd: facts.cost_usd,
        cost_estimated: facts.cost_usd.is_some() && facts.cost_estimated,
        tokens: session_facts_view::tokens(facts),
        failed_tool: facts.failed_tool.as_deref().map(flat),
        cards: member.cards.iter().map(CardRow::of).collect(),
        run: None,
        remote: None,
    }
}

/// Of the agent of this name.
pub fn verdict(event: &Event, name: &str) -> Verdict {
    Verdict {
        agent: flat(&event.agent),
        agent_name: flat(name),
        at: event.at,
        verdict: event.verdict.name(),
        event: flat(&event.event),
        tool: event.tool.as_deref().map(flat),
        about: about(event),
        rules: event.rules.iter().map(|rule| flat(rule)).collect(),
        reason: event.reason.as_deref().map(clean),
    }
}

impl FleetSummary {
    pub fn of(rows: &[AgentRow]) -> Self {
        let mut counts = BTreeMap::new();
        for row in rows {
            *counts.entry(row.status).or_default() += 1;
        }
        Self(counts)
    }

    pub fn count(&self, status: AgentStatus) -> usize {
        self.0.get(&status).copied().unwrap_or_default()
    }

    /// What they are shown as, when many are shown as one.
    pub fn worst(&self) -> Option<AgentStatus> {
        self.0.keys().next().copied()
    }
}

/// What a person ought to know until it is seen to: of the record, and of the server that several machines share.
pub fn warnings(store: &Store) -> Result<Vec<String>, store::Error> {
    let shared = shared_trouble(store)?.map(|trouble| flat(&trouble));
    Ok(record_warnings(store)?.into_iter().chain(shared).collect())
}

/// What of the record is not whole.
pub fn record_warnings(store: &Store) -> Result<Vec<String>, store::Error> {
    Ok(store.warnings()?.iter().map(|warning| flat(warning)).collect())
}

/// What keeps this machine from the server that several share, and how much waits for that. Without a time: what stays the
/// same is not told again.
fn shared_trouble(store: &Store) -> Result<Option<String>, store::Error> {
    let Some((state, why)) = store.shared_state()?.and_then(|state| Some((state.shown, state.error?))) else {
        return Ok(None);
    };
    let owed = store.outbox_standing()?;
    let waits = match owed.turns + owed.messages {
        0 => "nothing waits for it".to_string(),
        1 => "1 word waits for it here".to_string(),
        many => format!("{many} words wait for it here"),
    };
    Ok(Some(format!("the shared server {state}: {why}; {waits} (`taut shared status`)")))
}

/// As exact as a context is known and shown.
pub fn tenth(percent: f64) -> f64 {
    (percent * 10.0).round() / 10.0
}

/// How a session stands that says nothing of itself. The page has the same words.
pub fn state_words(state: Option<&str>) -> &'static str {
    match state {
        Some("created") => "starting",
        Some("active") => "thinking",
        Some("tool_active") => "using a tool",
        Some("idle") => "idle",
        _ => "ended",
    }
}

/// How a row stands that says nothing of itself. Of another machine's agent only the status is told.
pub fn standing(row: &AgentRow) -> &'static str {
    match row.status {
        _ if row.remote.is_none() => state_words(row.state),
        AgentStatus::Error => "needs somebody",
        AgentStatus::Attention => "waits for somebody",
        AgentStatus::Working => "at work",
        AgentStatus::Checked | AgentStatus::Done => "idle",
    }
}

/// What an event says that holds no text of its own to quote: what became of its agent, and why.
pub fn in_words(event: &Event) -> Option<String> {
    let status = |name: &str| event.detail.pointer(&format!("/status/{name}")).and_then(Value::as_str);
    let turn = status("from").zip(status("to")).filter(|(from, to)| from != to);
    let turn = turn.map(|(from, to)| format!("{from} → {to}"));
    let told = match event.event.as_str() {
        client_turn::STATE => format!("{}, by its client's own word", turn?),
        client_turn::GONE => turn.into_iter().chain(["its client is gone".to_owned()]).collect::<Vec<_>>().join(", "),
        "StopFailure" => notify::why(event, ONE_LINE),
        ANSWER_EVENT => event.reason.clone()?,
        PERSON_ACT => act_in_words(&event.detail)?,
        _ => return None,
    };
    Some(one_line(&told)).filter(|told| !told.is_empty())
}

/// What a person did to an agent: who, where, and with which words.
fn act_in_words(detail: &Value) -> Option<String> {
    let said = |name: &str| detail.get(name).and_then(Value::as_str);
    let by = format!("{} ({})", said("by")?, said("at")?);
    let what = said("text").or_else(|| said("rule"));
    Some(what.map_or(by.clone(), |what| format!("{by}: {what}")))
}

/// What a tool call or an event is about, in one line.
pub fn about(event: &Event) -> String {
    if let Some(told) = in_words(event) {
        return told;
    }
    let input = event.detail.get("input");
    let fields = [
        "command", "cmd", "file_path", "filePath", "path", "target_file", "notebook_path", "pattern", "url", "query",
        "skill", "description", "prompt",
    ];
    let told = input.and_then(|input| fields.iter().find_map(|name| input.get(name).and_then(Value::as_str)));
    let other = ["prompt", "message", "error", "reason", "source", "kind"];
    let told = told.or_else(|| other.iter().find_map(|name| event.detail.get(name).and_then(Value::as_str)));
    let wrote = || event.detail.pointer("/wrote/0").and_then(Value::as_str);
    one_line(told.or_else(wrote).unwrap_or_default())
}

/// The first line that says something, cleaned.
pub fn one_line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let mut short = model::text::line(line, ONE_LINE);
    if text.trim().lines().nth(1).is_some() && !short.ends_with('…') {
        short.push('…');
    }
    short
}

const ONE_LINE: usize = 200;

/// More of one text than anybody reads in a table or on a page.
const MOST: usize = 100_000;

/// What agents wrote, as the product's one cleaner lets it through.
pub fn clean(text: &str) -> String {
    model::text::lines(text, MOST)
}

/// The same for what stands in a table: one line of it.
pub fn flat(text: &str) -> String {
    model::text::line(text, MOST)
}

fn status_name<S: serde::Serializer>(status: &AgentStatus, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(status.name())
}

pub(crate) fn moment<S: serde::Serializer>(at: &Ms, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&at.rfc3339())
}

pub(crate) fn some_moment<S: serde::Serializer>(at: &Option<Ms>, to: S) -> Result<S::Ok, S::Error> {
    match at {
        Some(at) => moment(at, to),
        None => to.serialize_none(),
    }
}

fn is_none_of_them(count: &u64) -> bool {
    *count == 0
}

fn is_not(value: &bool) -> bool {
    !*value
}

fn is_none(count: &usize) -> bool {
    *count == 0
}
