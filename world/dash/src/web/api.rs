//! What the page is told, read from the store and made by the view model: the
//! same numbers as the commands' `--json`.

use crate::agent_place;
use crate::remote_row;
use crate::session_export::answered_card;
use crate::session_view::SessionRow;
use crate::timeline::cursor;
use crate::timeline_page;
pub use crate::timeline_page::TimelinePart;
use crate::view_model::{self, FleetSummary, clean};
use model::Ms;
use model::agent_name::{AgentMatch, AgentNames};
use model::card::CardState;
use model::effort::Addressee;
use model::row::{AgentStatus, Event};
use model::session::Session;
use model::task::{Hold, Task, TaskStatus};
use serde::Deserialize;
use serde_json::{Value, json};
use store::recall::{RecallHit, RecallIndex, RecallKind, RecallQuery};
use store::{CardFilter, EffortFilter, MessageRow, Point, RelatedSession, Store, TaskFilter, TaskTotals};

const HOUR: i64 = 3_600_000;
const MOST_POINTS: usize = 400;
const MOST_MESSAGES: usize = 50;
const MOST_CARDS: usize = 100;
const MOST_VERDICTS: usize = 50;
const MOST_TASKS: usize = 100;
const MOST_HITS: usize = 40;

/// How far back the guard's numbers go.
#[derive(Debug, Default, Deserialize)]
pub struct Span {
    pub hours: Option<i64>,
}

/// What is looked for in what was said and done.
#[derive(Debug, Default, Deserialize)]
pub struct RecallSearch {
    #[serde(default)]
    pub words: String,
    pub project: Option<String>,
    pub agent: Option<String>,
    pub kind: Option<String>,
    /// Milliseconds.
    pub since: Option<i64>,
    pub until: Option<i64>,
}

pub fn fleet(store: Option<&Store>) -> Result<Value, store::Error> {
    fleet_until(store).map(|(fleet, _)| fleet)
}

/// With the moment from which on another machine will not have been heard of for too long.
pub fn fleet_until(store: Option<&Store>) -> Result<(Value, Option<Ms>), store::Error> {
    let mut glance = store.map(Store::fleet).transpose()?.unwrap_or_default();
    // A holder that was killed leaves its card behind: nobody would hear an answer to it.
    let members = glance.members.iter_mut().chain(glance.runs.iter_mut().filter_map(|run| run.member.as_mut()));
    members.for_each(|member| {
        member.cards.retain(|card| card.state != CardState::Open || actions::can_be_answered(card));
    });
    let mut rows = view_model::rows(&glance, now());
    agent_place::find_terminals(&mut rows);
    let summary = FleetSummary::of(&rows);
    let counts: serde_json::Map<String, Value> =
        AgentStatus::ALL.iter().map(|status| (status.name().to_owned(), json!(summary.count(*status)))).collect();
    let told = scrubbed(json!({
        "at": now().rfc3339(),
        "agents": rows.iter().map(view_model::AgentRow::object).collect::<Vec<_>>(),
        "summary": counts,
        "worst": summary.worst().map(AgentStatus::name),
        "recorded": store.is_some(),
        "had_sessions": store.map(Store::had_sessions).transpose()?.unwrap_or_default(),
        "shared": store.map(Store::shared_state).transpose()?.flatten().map(|state| state.shown),
        "warnings": store.map(view_model::warnings).transpose()?.unwrap_or_default(),
    }));
    Ok((told, remote_row::next_silence(&rows)))
}

/// `None` where there is no such session.
pub fn session(store: Option<&Store>, id: &str, part: &TimelinePart) -> Result<Option<Value>, store::Error> {
    let Some(store) = store else { return Ok(None) };
    let Some(session) = store.session(id)? else { return Ok(None) };
    let page = timeline_page::read(store, &session, part)?;
    let mut told = json!({
        "entries": page.entries,
        "before": page.before,
        "after": page.after,
        "focus": page.focus,
        "looked": page.looked,
    });
    if part.before.is_none() && part.after.is_none() {
        frame(store, &session, &mut told)?;
    }
    Ok(Some(scrubbed(told)))
}

/// What stands around the timeline.
fn frame(store: &Store, session: &Session, told: &mut Value) -> Result<(), store::Error> {
    let efforts = store.efforts(&EffortFilter { only_active: true, ..EffortFilter::default() })?;
    let effort = efforts.iter().find(|effort| effort.session.as_ref() == Some(&session.id));
    let sub_agents = store.sub_sessions(&session.id)?;
    let phases = effort.map(|effort| store.phases(&effort.id)).transpose()?.unwrap_or_default();
    let member = store.member(&session.agent)?;
    let current = member.filter(|member| member.shown_session() == Some(session.id.as_str()));
    let facts = store.session_facts(&session.id)?;
    let status = current.as_ref().map(|member| member.agent.status);
    let names = store.agent_names()?;
    let name = names.of(&session.agent);
    told["session"] = SessionRow { session, name, effort, sub_agents: &sub_agents, facts: &facts, status }.object();
    told["agent"] = current.map(|member| view_model::row(&member).object()).unwrap_or_default();
    told["related"] = store.related_sessions(&session.id)?.iter().map(|one| related(one, &names)).collect();
    told["tasks"] = store.tasks_of_session(&session.id)?.iter().map(claimed).collect();
    told["run"] =
        store.run_of_session(session)?.map(|run| json!({"run": run.id, "short": run.short()})).unwrap_or_default();
    let wanted =
        CardFilter { session: Some(session.id.clone()), over: true, limit: MOST_CARDS, ..CardFilter::default() };
    told["cards"] = store.cards(&wanted)?.iter().rev().map(answered_card).collect();
    told["context"] = curve(store.context_curve(&session.id)?, session);
    told["task"] = json!(effort.map(|effort| &effort.task));
    told["phases"] = phases.iter().map(|step| json!({"at": step.at.rfc3339(), "label": step.label})).collect();
    let said = store.messages_of(&session.id, &session.agent, MOST_MESSAGES)?;
    told["messages"] = said.iter().map(|said| message(said, &names)).collect();
    Ok(())
}

fn related(one: &RelatedSession, names: &AgentNames) -> Value {
    let how = if one.follows { "next" } else { "within" };
    json!({
        "id": one.id, "agent": one.agent, "agent_name": names.of(&one.agent), "how": how,
        "started_at": one.started_at.rfc3339(),
    })
}

fn claimed((project, slug, outcome): &(String, String, Option<String>)) -> Value {
    json!({"project": project, "slug": slug, "outcome": outcome})
}

/// The curve ends where the context stands now, whoever measured that.
fn curve(mut points: Vec<Point>, session: &Session) -> Value {
    let last = Point {
        at: session.last_seen_at,
        tokens: session.context_tokens,
        percent: session.context_percent().map(view_model::tenth),
    };
    if last.tokens.is_some() && points.last().map(|point| point.tokens) != Some(last.tokens) {
        points.push(last);
    }
    let every = points.len().div_ceil(MOST_POINTS).max(1);
    let kept = points.iter().enumerate().filter(|(at, _)| at % every == 0 || at + 1 == points.len());
    let point = |point: &Point| json!({"at": point.at.rfc3339(), "tokens": point.tokens, "percent": point.percent});
    let drawn: Vec<Value> = kept.map(|(_, kept)| point(kept)).collect();
    json!({"points": drawn, "limit": session.context_limit, "window": session.context_window})
}

fn message(said: &MessageRow, names: &AgentNames) -> Value {
    let message = &said.message;
    let to = message.to.as_ref().map(|to| match to {
        Addressee::Agent(name) => name.clone(),
        Addressee::Conversation(name) => format!("conversation {name}"),
        Addressee::Remote(remote) => remote.shown.clone(),
    });
    json!({
        "id": message.id,
        "at": message.at.rfc3339(),
        "kind": message.kind,
        "from": message.from_agent,
        "from_name": message.from_agent.as_deref().map(|id| names.of(id)),
        "to": to,
        "to_name": to.as_deref().map(|id| names.of(id)),
        "body": message.body,
        "delivered_at": said.delivered_at.map(Ms::rfc3339),
    })
}

pub fn tasks(store: Option<&Store>) -> Result<Value, store::Error> {
    let Some(store) = store else { return Ok(json!({"projects": []})) };
    let mut projects = Vec::new();
    for totals in store.task_totals()? {
        projects.push(project(store, &totals)?);
    }
    Ok(scrubbed(json!({"projects": projects})))
}

fn project(store: &Store, totals: &TaskTotals) -> Result<Value, store::Error> {
    let mut listed = Vec::new();
    // What is worked on, what is stuck, what waits, and then what is over.
    for status in [TaskStatus::Active, TaskStatus::Quarantined, TaskStatus::Open, TaskStatus::Done] {
        let limit = MOST_TASKS.saturating_sub(listed.len());
        if limit > 0 {
            listed.extend(
                store.tasks(&totals.project, &TaskFilter { statuses: vec![status], limit, ..TaskFilter::default() })?,
            );
        }
    }
    let all: u64 = totals.counts.values().sum();
    Ok(json!({
        "project": totals.project,
        "counts": totals.counts,
        "tasks": listed.iter().map(task).collect::<Vec<_>>(),
        "left_out": all.saturating_sub(listed.len() as u64),
    }))
}

pub fn task(task: &Task) -> Value {
    let queued = &task.queued;
    let steps = &task.plan.steps;
    json!({
        "slug": queued.slug,
        "title": task.plan.title,
        "status": if queued.open_blockers > 0 && queued.status == TaskStatus::Open { "blocked" } else { queued.status.name() },
        "priority": task.plan.priority.0,
        "agent": queued.hold.as_ref().map(|hold| &hold.agent),
        "session": queued.hold.as_ref().and_then(|hold| hold.session.as_ref()),
        "lease_until": queued.hold.as_ref().and_then(Hold::ends_here).map(Ms::rfc3339),
        "attempt": queued.attempt,
        "failures": queued.failures,
        "releases": queued.releases,
        "fail_reason": queued.fail_reason,
        "deps": task.plan.deps,
        "steps": {"done": steps.iter().filter(|step| step.done).count(), "all": steps.len()},
        "updated_at": task.updated_at.rfc3339(),
    })
}

pub fn guard(store: Option<&Store>, span: &Span) -> Result<Value, store::Error> {
    let hours = span.hours.unwrap_or(24).clamp(1, 24 * 30);
    let this_hour = now().0 / HOUR * HOUR;
    let since = Ms(this_hour - (hours - 1) * HOUR);
    let mut counted = std::collections::BTreeMap::new();
    let (mut rules, mut verdicts, mut names) = (Vec::new(), Vec::new(), AgentNames::default());
    if let Some(store) = store {
        counted.extend(store.denials_by_hour(since)?);
        rules = store.denied_since(since)?;
        verdicts = store.verdicts(MOST_VERDICTS)?;
        names = store.agent_names()?;
    }
    let hour = |n: i64| Ms(since.0 + n * HOUR);
    let by_hour = (0..hours).map(|n| (hour(n), counted.get(&hour(n)).copied().unwrap_or_default()));
    Ok(scrubbed(json!({
        "since": since.rfc3339(),
        "denied": counted.values().sum::<u64>(),
        "rules": rules.iter().map(|(rule, count)| json!({"rule": rule, "count": count})).collect::<Vec<_>>(),
        "hours": by_hour.map(|(at, count)| json!({"at": at.rfc3339(), "count": count})).collect::<Vec<_>>(),
        "verdicts": verdicts.iter().map(|event| verdict(event, &names)).collect::<Vec<_>>(),
    })))
}

/// A verdict, and where in which session it was.
pub fn verdict(event: &Event, names: &AgentNames) -> Value {
    let mut shown = serde_json::to_value(view_model::verdict(event, names.of(&event.agent))).unwrap_or_default();
    shown["session"] = json!(event.session);
    shown["key"] = json!(cursor(&event.key));
    shown
}

/// The same index that `taut recall` asks; who opened the page is a person, and sees all projects.
pub fn recall(store: Option<&Store>, wanted: &RecallSearch) -> Result<Value, store::Error> {
    let set = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    let query = RecallQuery {
        words: wanted.words.clone(),
        project: set(&wanted.project),
        agent: set(&wanted.agent).map(|typed| meant(store, typed)).transpose()?,
        since: wanted.since.map(Ms),
        until: wanted.until.map(Ms),
        kind: wanted.kind.as_deref().and_then(RecallKind::parse),
        limit: MOST_HITS,
        ..RecallQuery::default()
    };
    let hits = search(store, &query)?;
    let names = store.map(Store::agent_names).transpose()?.unwrap_or_default();
    let hits: Vec<Value> = hits.iter().map(|one| hit(one, &names)).collect();
    Ok(scrubbed(json!({"hits": hits, "recorded": store.is_some()})))
}

/// Nothing is found where there is no index.
pub fn search(store: Option<&Store>, query: &RecallQuery) -> Result<Vec<RecallHit>, store::Error> {
    let folder = store.and_then(|store| store.path().parent());
    let index = folder.and_then(RecallIndex::open_existing_read_only);
    Ok(index.map(|index| index.search(query, now())).transpose()?.unwrap_or_default())
}

/// The id of whom somebody means in a filter; what is nobody's name finds nothing.
pub fn meant(store: Option<&Store>, typed: String) -> Result<String, store::Error> {
    Ok(match store.map(|store| store.resolve_agent(&typed)).transpose()? {
        Some(AgentMatch::One(id)) => id,
        Some(AgentMatch::Several(_) | AgentMatch::Unknown) | None => typed,
    })
}

fn hit(hit: &RecallHit, names: &AgentNames) -> Value {
    let excerpt = hit.excerpt.0.iter().map(|piece| json!({"text": piece.text, "match": piece.is_match}));
    json!({
        "id": hit.id,
        "kind": hit.kind.name(),
        "at": hit.at.rfc3339(),
        // Where in the session's timeline it is.
        "moment": format!("at-{}", hit.at.0),
        "project": hit.project,
        "agent": hit.agent,
        "agent_name": names.of(&hit.agent),
        "session": hit.session,
        "excerpt": excerpt.collect::<Vec<_>>(),
    })
}

pub fn failure(what: &str) -> Value {
    scrubbed(json!({"error": what}))
}

/// Agents have a say in nearly every text, so every text is cleaned: what turns
/// a line around or is obeyed by a terminal does not leave the house.
pub fn scrubbed(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(clean(&text)),
        Value::Array(values) => values.into_iter().map(scrubbed).collect(),
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(name, value)| (clean(&name), scrubbed(value))).collect())
        }
        other => other,
    }
}

pub fn now() -> Ms {
    Ms(sys::clock::wall_ms())
}
