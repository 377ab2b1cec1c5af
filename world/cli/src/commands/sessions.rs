//! `taut sessions`: who works on what, and since when.

use super::{ago, stored};
use crate::args::SessionsArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::Printer;
use model::session::Session;
use model::Ms;
use serde_json::{Value, json};
use store::SessionFilter;

pub fn run(args: &SessionsArgs, printer: &Printer) -> Result<Exit, CliError> {
    let filter = SessionFilter { agent: args.agent.clone(), only_open: !args.all, ..SessionFilter::default() };
    let sessions = match stored()? {
        Some(store) => store.sessions(&filter)?,
        None => Vec::new(),
    };
    if printer.json() {
        sessions.iter().for_each(|session| printer.object(&object(session)));
        return Ok(Exit::Ok);
    }
    if sessions.is_empty() {
        printer.note("no sessions yet; `taut init` installs the hooks that record them");
        return Ok(Exit::Ok);
    }
    let now = host::clock::now();
    let rows: Vec<Vec<String>> = sessions.iter().map(|session| row(session, now)).collect();
    printer.table(&["STATE", "AGENT", "SESSION", "CONTEXT", "PROJECT", "SEEN", "AGE"], &rows);
    Ok(Exit::Ok)
}

fn row(session: &Session, now: Ms) -> Vec<String> {
    vec![
        session.state.name().to_string(),
        session.agent.clone(),
        session.logical_id.chars().take(8).collect(),
        session.context_percent().map_or_else(|| "?".to_string(), |percent| format!("{percent:.0}%")),
        session.project.clone(),
        ago(now.since(session.last_seen_at)),
        ago(now.since(session.started_at)),
    ]
}

fn object(session: &Session) -> Value {
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
        let ended = session.ended_at.map(|at| json!(at.rfc3339()));
        fields.extend(ended.map(|at| ("ended_at".to_string(), at)));
        fields.extend(session.end_reason.as_ref().map(|why| ("end_reason".to_string(), json!(why))));
        fields.extend(session.prev.as_ref().map(|id| ("prev_session_id".to_string(), json!(id))));
        fields.extend(session.parent.as_ref().map(|id| ("parent_session_id".to_string(), json!(id))));
    }
    value
}
