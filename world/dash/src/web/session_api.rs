//! What happened: lists of sessions, one rule, one task and one run with what belongs to them. Reads, as every view does.

use super::api::{self, scrubbed};
use crate::run_view::RunRow;
use crate::session_view::SessionRow;
use actions::FleetPlace;
use model::Ms;
use model::agent_name::AgentNames;
use model::run::Iteration;
use model::task::Attempt;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use store::recall::RecallQuery;
use store::{
    EffortFilter, FleetRun, LookBack, RunFilter, SessionChoices, SessionOrder, SessionPage, SessionQuery,
    SessionStanding, Store,
};

const USUAL: usize = 50;
const MOST: usize = 200;
/// So many of the best matches say in which sessions something was said.
pub const MATCHES: usize = 200;
const MOST_RUNS: usize = 100;
const MOST_ITERATIONS: usize = 500;
const DAYS_COUNTED: i64 = 30;
const DAY_MS: i64 = 86_400_000;

/// Which sessions. An empty text chooses nothing and so leaves all.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct SessionsWanted {
    pub agent: Option<String>,
    pub project: Option<String>,
    /// `open`, `ended`, a state of a session, or a status of its agent.
    pub state: Option<String>,
    pub tool: Option<String>,
    pub rule: Option<String>,
    /// Milliseconds.
    pub since: Option<i64>,
    pub until: Option<i64>,
    /// Words that were said or done in it.
    pub text: Option<String>,
    pub sort: Option<String>,
    pub reverse: Option<String>,
    pub group: Option<String>,
    pub after: Option<String>,
    pub limit: Option<usize>,
}

#[derive(Debug, Clone, Default, Deserialize)]
pub struct TaskWanted {
    pub project: String,
    pub slug: String,
}

impl SessionsWanted {
    /// What is asked for, and is none of what can be.
    pub fn mistake(&self) -> Option<String> {
        let wrong = |text: &Option<String>, is: fn(&str) -> bool| {
            text.as_deref().is_some_and(|text| !text.is_empty() && !is(text))
        };
        let said = if wrong(&self.state, |text| SessionStanding::parse(text).is_some()) {
            "this is neither a state of a session nor a status of an agent"
        } else if wrong(&self.sort, |text| SessionOrder::parse(text).is_some()) {
            "sessions are sorted by urgency, seen, started, agent or cost"
        } else if wrong(&self.after, SessionQuery::is_place) {
            "this is no place in the list: `after` is what the page before said is next"
        } else {
            return None;
        };
        Some(said.to_owned())
    }
}

pub fn sessions(store: Option<&Store>, wanted: &SessionsWanted) -> Result<Value, store::Error> {
    let Some(open) = store else { return Ok(json!({"sessions": [], "total": 0, "open": 0, "recorded": false})) };
    let set = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    let (since, until) = (wanted.since.map(Ms), wanted.until.map(Ms));
    let mut query = SessionQuery {
        agent: set(&wanted.agent).map(|typed| api::meant(store, typed)).transpose()?,
        project: set(&wanted.project),
        standing: wanted.state.as_deref().and_then(SessionStanding::parse),
        tool: set(&wanted.tool),
        rule: set(&wanted.rule),
        since,
        until,
        ids: None,
        order: wanted.sort.as_deref().and_then(SessionOrder::parse).unwrap_or_default(),
        reversed: set(&wanted.reverse).is_some(),
        by_project: set(&wanted.group).is_some(),
        after: set(&wanted.after),
        limit: wanted.limit.unwrap_or(USUAL).clamp(1, MOST),
    };
    let mut matches = None;
    if let Some(words) = set(&wanted.text) {
        let (project, agent) = (query.project.clone(), query.agent.clone());
        let asked = RecallQuery { words, project, agent, since, until, limit: MATCHES, ..RecallQuery::default() };
        let hits = api::search(store, &asked)?;
        matches = Some(hits.len());
        let ids: BTreeSet<String> = hits.into_iter().filter_map(|hit| hit.session).collect();
        query.ids = Some(ids.into_iter().collect());
    }
    let page = open.session_page(&query)?;
    let mut told = json!({
        "sessions": rows(open, &page)?,
        "total": page.total,
        "open": page.open,
        "next": page.next,
        "looked": page.looked.map(looked),
        "matches": matches.map(|count| json!({"count": count, "cut": count >= MATCHES})),
        "recorded": true,
    });
    if query.after.is_none() {
        told["choices"] = choices(&open.session_choices()?, &open.agent_names()?);
        let since = api::now().plus(-DAYS_COUNTED * DAY_MS);
        told["choices"]["rules"] = open.denied_since(since)?.into_iter().map(|(rule, _)| rule).collect();
    }
    Ok(scrubbed(told))
}

fn rows(store: &Store, page: &SessionPage) -> Result<Vec<Value>, store::Error> {
    let efforts = store.efforts(&EffortFilter { only_active: true, ..EffortFilter::default() })?;
    let names = store.agent_names()?;
    let row = |listed: &store::ListedSession| {
        let session = &listed.session;
        let name = names.of(&session.agent);
        let effort = efforts.iter().find(|effort| effort.session.as_ref() == Some(&session.id));
        let sub_agents = store.sub_sessions(&session.id)?;
        Ok(SessionRow { session, name, effort, sub_agents: &sub_agents, facts: &listed.facts, status: listed.status }
            .object())
    };
    page.sessions.iter().map(row).collect()
}

fn looked(back: LookBack) -> Value {
    json!({"events": back.events, "back_to": back.back_to.map(Ms::rfc3339)})
}

fn choices(choices: &SessionChoices, names: &AgentNames) -> Value {
    let counted = |all: &[(String, u64)]| -> Value {
        all.iter().map(|(name, count)| json!({"name": name, "count": count})).collect()
    };
    // The value is the id: two that had one name after the other are two.
    let agent = |(id, count): &(String, u64)| json!({"name": id, "shown": names.of(id), "count": count});
    let agents: Vec<Value> = choices.agents.iter().map(agent).collect();
    json!({"projects": counted(&choices.projects), "agents": agents, "tools": choices.tools})
}

/// What a session has changed, read by git on a connection of its own: nobody waits for it. Why there is none is told in
/// words, and is no failure of the page.
pub fn diff(folder: &Path, id: &str) -> Result<Value, String> {
    let store = Store::open_existing_read_only(folder).map_err(|error| error.to_string())?;
    let place = FleetPlace { state: folder.to_path_buf(), home: std::env::home_dir().unwrap_or_default() };
    Ok(scrubbed(match actions::session_diff(&store, &place, id, api::now()) {
        Ok(found) => json!({"patch": found.patch, "notes": found.notes, "base": found.base, "tree": found.tree}),
        Err(why) => json!({"patch": "", "notes": [why.to_string()]}),
    }))
}

/// What a rule says of itself, and what it stopped. `None` of one that is none of ours and has stopped nothing.
pub fn rule(store: Option<&Store>, id: &str) -> Result<Option<Value>, store::Error> {
    let text = engine::rule_text(id);
    let (mut verdicts, mut count, mut names) = (Vec::new(), 0, AgentNames::default());
    if let Some(store) = store {
        verdicts = store.verdicts_of_rule(id, USUAL)?;
        names = store.agent_names()?;
        let since = api::now().plus(-DAYS_COUNTED * DAY_MS);
        count = store.denied_since(since)?.into_iter().find(|(rule, _)| rule == id).map_or(0, |(_, count)| count);
    }
    if text.is_none() && count == 0 && verdicts.is_empty() {
        return Ok(None);
    }
    Ok(Some(scrubbed(json!({
        "rule": id,
        "known": text.is_some(),
        "title": text.map(|text| text.title),
        "pack": text.map(|text| text.pack),
        "kind": text.map(|text| text.kind),
        "about": text.map(|text| text.about),
        "instead": text.map(|text| text.instead),
        "denied": count,
        "days": DAYS_COUNTED,
        "verdicts": verdicts.iter().map(|event| api::verdict(event, &names)).collect::<Vec<_>>(),
    }))))
}

/// A task with all attempts on it.
pub fn task(store: Option<&Store>, wanted: &TaskWanted) -> Result<Option<Value>, store::Error> {
    let Some(store) = store else { return Ok(None) };
    let Some(task) = store.task(&wanted.project, &wanted.slug)? else { return Ok(None) };
    let attempts = store.attempts(&task.queued)?;
    let filter = EffortFilter {
        project: Some(wanted.project.clone()),
        task: Some(wanted.slug.clone()),
        ..EffortFilter::default()
    };
    let efforts = store.efforts(&filter)?;
    let effort = |effort: &model::effort::Effort| {
        json!({
            "skill": effort.skill, "phase": effort.phase, "agent": effort.agent, "session": effort.session,
            "started_at": effort.started_at.rfc3339(), "finished_at": effort.finished_at.map(Ms::rfc3339),
        })
    };
    Ok(Some(scrubbed(json!({
        "project": wanted.project,
        "task": api::task(&task),
        "description": task.plan.description,
        "steps": task.plan.steps.iter().map(|step| json!({"text": step.content, "done": step.done})).collect::<Vec<_>>(),
        "result": task.result,
        "created_at": task.created_at.rfc3339(),
        "attempts": attempts.iter().rev().take(MOST).map(attempt).collect::<Vec<_>>(),
        "efforts": efforts.iter().take(MOST).map(effort).collect::<Vec<_>>(),
    }))))
}

/// Never its token, which is for who claimed it.
fn attempt(attempt: &Attempt) -> Value {
    json!({
        "number": attempt.number,
        "agent": attempt.agent,
        "session": attempt.session,
        "claimed_at": attempt.claimed_at.rfc3339(),
        "ended_at": attempt.ended_at.map(Ms::rfc3339),
        "outcome": attempt.outcome.map(|outcome| outcome.name()),
        "reason": attempt.reason,
    })
}

pub fn runs(store: Option<&Store>) -> Result<Value, store::Error> {
    let Some(store) = store else { return Ok(json!({"runs": []})) };
    let found = store.runs(&RunFilter { project: None, workers: false, limit: MOST_RUNS })?;
    let seen = found.into_iter().map(|run| store.seen_run(run).map(|seen| RunRow::of(&seen, api::now())));
    let rows: Vec<RunRow> = seen.collect::<Result<_, _>>()?;
    Ok(scrubbed(json!({"runs": rows, "most": MOST_RUNS})))
}

/// `None` where no run, or more than one, is called so.
pub fn run(store: Option<&Store>, id: &str) -> Result<Option<Value>, store::Error> {
    let Some(store) = store else { return Ok(None) };
    let mut called = store.runs_called(id)?;
    if called.len() > 1 {
        called.retain(|run| run.id == id);
    }
    let (Some(run), true) = (called.pop(), called.is_empty()) else { return Ok(None) };
    let agent = run.agent_name();
    let iterations = store.last_iterations(&run.id, MOST_ITERATIONS)?;
    let seen = FleetRun { iterations, ..store.seen_run(run)? };
    let row = RunRow::of(&seen, api::now());
    Ok(Some(scrubbed(json!({
        "run": row,
        "agent": agent,
        "status": row.status.name(),
        "commits": seen.iterations.iter().map(commits).collect::<Vec<_>>(),
    }))))
}

/// Where the work tree stood before and after an iteration.
fn commits(iteration: &Iteration) -> Value {
    json!({"iteration": iteration.number, "before": iteration.before, "after": iteration.after})
}
