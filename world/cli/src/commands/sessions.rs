//! `taut sessions`: who works on what, and since when.

use super::{ago, stored};
use crate::args::SessionsArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::Printer;
use model::Ms;
use model::effort::{Effort, SubSession};
use model::session::Session;
use serde_json::{Value, json};
use store::{EffortFilter, SessionFilter};

pub fn run(args: &SessionsArgs, printer: &Printer) -> Result<Exit, CliError> {
    let filter = SessionFilter { agent: args.agent.clone(), only_open: !args.all, ..SessionFilter::default() };
    let Some(store) = stored()? else { return none(printer) };
    let efforts = store.efforts(&EffortFilter { only_active: true, ..EffortFilter::default() })?;
    let mut sessions = Vec::new();
    for session in store.sessions(&filter)? {
        let effort = efforts.iter().find(|effort| effort.session.as_ref() == Some(&session.id));
        let helpers = store.sub_sessions(&session.id)?;
        sessions.push(Shown { effort, helpers, session });
    }
    if printer.json() {
        sessions.iter().for_each(|shown| printer.object(&object(shown)));
        return Ok(Exit::Ok);
    }
    if sessions.is_empty() {
        return none(printer);
    }
    let now = host::clock::now();
    let rows: Vec<Vec<String>> = sessions.iter().map(|shown| row(shown, now)).collect();
    printer.table(&["STATE", "AGENT", "SESSION", "CONTEXT", "EFFORT", "PROJECT", "SEEN", "AGE"], &rows);
    Ok(Exit::Ok)
}

/// A session with what belongs to it.
struct Shown<'e> {
    session: Session,
    effort: Option<&'e Effort>,
    helpers: Vec<SubSession>,
}

fn none(printer: &Printer) -> Result<Exit, CliError> {
    if !printer.json() {
        printer.note("no sessions yet; `taut init` installs the hooks that record them");
    }
    Ok(Exit::Ok)
}

fn row(shown: &Shown<'_>, now: Ms) -> Vec<String> {
    let session = &shown.session;
    let effort =
        shown.effort.map(|effort| format!("{} {}", effort.skill, effort.phase.as_deref().unwrap_or("loading")));
    vec![
        session.state.name().to_string(),
        session.agent.clone(),
        session.logical_id.chars().take(8).collect(),
        session.context_percent().map_or_else(|| "?".to_string(), |percent| format!("{percent:.0}%")),
        effort.or_else(|| session.status_text.clone()).unwrap_or_else(|| "-".to_string()),
        session.project.clone(),
        ago(now.since(session.last_seen_at)),
        ago(now.since(session.started_at)),
    ]
}

fn object(shown: &Shown<'_>) -> Value {
    let session = &shown.session;
    let mut value = json!({
        "id": session.id,
        "logical_id": session.logical_id,
        "host_session_id": session.host_session,
        "agent": session.agent,
        "conversation": session.conversation,
        "project": session.project,
        "state": session.state.name(),
        "role": session.role,
        "mode": session.mode,
        "started_at": session.started_at.rfc3339(),
        "last_seen_at": session.last_seen_at.rfc3339(),
    });
    if let Some(fields) = value.as_object_mut() {
        // To a tenth: the point of auto-compaction itself is not known better.
        let percent = session.context_percent().map(|percent| json!((percent * 10.0).round() / 10.0));
        fields.extend(percent.map(|percent| ("context_percent".to_string(), percent)));
        fields.extend(session.context_tokens.map(|tokens| ("context_tokens".to_string(), json!(tokens))));
        if let Some(effort) = shown.effort {
            fields.insert("effort".into(), json!(effort.id));
            fields.insert("skill".into(), json!(effort.skill));
            fields.extend(effort.phase.as_ref().map(|phase| ("phase".to_string(), json!(phase))));
        }
        fields.extend(session.status_text.as_ref().map(|text| ("status".to_string(), json!(text))));
        if !shown.helpers.is_empty() {
            fields.insert("sub_agents".into(), shown.helpers.iter().map(helper).collect());
        }
        let ended = session.ended_at.map(|at| json!(at.rfc3339()));
        fields.extend(ended.map(|at| ("ended_at".to_string(), at)));
        fields.extend(session.end_reason.as_ref().map(|why| ("end_reason".to_string(), json!(why))));
        fields.extend(session.prev.as_ref().map(|id| ("prev_session_id".to_string(), json!(id))));
        fields.extend(session.parent.as_ref().map(|id| ("parent_session_id".to_string(), json!(id))));
    }
    value
}

fn helper(sub: &SubSession) -> Value {
    json!({"id": sub.sub_agent, "type": sub.kind, "started_at": sub.started_at.rfc3339(), "ended_at": sub.ended_at.map(Ms::rfc3339)})
}
