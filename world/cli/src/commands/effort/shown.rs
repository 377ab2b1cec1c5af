//! Efforts as they are shown.

use super::EffortSession;
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, Text, text};
use engine::memory::hand_over;
use grammar::EffortListArgs;
use model::effort::Effort;
use serde_json::{Value, json};
use store::EffortFilter;

pub fn list(args: &EffortListArgs, printer: &Printer) -> Result<Exit, CliError> {
    let effort_session = EffortSession::open()?;
    let filter = EffortFilter {
        project: (!args.all).then(|| effort_session.caller.project.clone()),
        agent: args.agent.clone(),
        only_active: !args.all,
        ..EffortFilter::default()
    };
    show(&effort_session.store.efforts(&filter)?, printer)
}

pub fn find(text: &str, printer: &Printer) -> Result<Exit, CliError> {
    let effort_session = EffortSession::open()?;
    let text = Some(text.to_string()).filter(|text| !text.is_empty());
    let filter = EffortFilter { project: Some(effort_session.caller.project.clone()), text, ..EffortFilter::default() };
    let found = effort_session.store.efforts(&filter)?;
    if found.is_empty() {
        return Err(CliError::not_found("no effort of this project is called that").hint("taut effort list --all"));
    }
    show(&found, printer)
}

fn show(efforts: &[Effort], printer: &Printer) -> Result<Exit, CliError> {
    if printer.json() {
        efforts.iter().for_each(|effort| printer.object(&object(effort)));
        return Ok(Exit::Ok);
    }
    if efforts.is_empty() {
        printer.note("no effort is active; `taut session activate <skill>` begins one");
        return Ok(Exit::Ok);
    }
    let state = |effort: &Effort| {
        if effort.active() { effort.phase.clone().unwrap_or_else(|| "loading".into()) } else { "finished".into() }
    };
    let rows: Vec<Vec<Text>> = efforts
        .iter()
        .map(|effort| {
            vec![
                effort.skill.as_str().into(),
                effort.ordinal.to_string().into(),
                effort.task.as_str().into(),
                state(effort).into(),
                effort.agent.as_str().into(),
            ]
        })
        .collect();
    printer.table(&["SKILL", "NO", "TASK", "PHASE", "AGENT"], &rows);
    Ok(Exit::Ok)
}

/// The effort that is named, or the one this agent works on.
fn named(effort_session: &EffortSession, what: Option<&str>) -> Result<Option<Effort>, CliError> {
    let filter = match what {
        Some(_) => EffortFilter { project: Some(effort_session.caller.project.clone()), ..EffortFilter::default() },
        None => EffortFilter {
            agent: Some(effort_session.caller.agent.clone()),
            only_active: true,
            ..EffortFilter::default()
        },
    };
    let all = effort_session.store.efforts(&filter)?;
    Ok(all.into_iter().find(|effort| what.is_none_or(|what| effort.task == what || effort.id == what)))
}

/// The hand-over note as the next session will be shown it, but whole.
pub fn note(what: Option<&str>, printer: &Printer) -> Result<Exit, CliError> {
    let effort_session = EffortSession::open()?;
    let store = &effort_session.store;
    let effort = named(&effort_session, what)?;
    let stored = match (&effort, what) {
        (Some(effort), Some(_)) => store.hand_over_of(effort)?,
        (None, Some(_)) => None,
        (_, None) => store.hand_over(&effort_session.caller.agent)?,
    };
    let missing = || CliError::not_found("there is no hand-over note of that").hint("taut effort list --all");
    let stored = stored.ok_or_else(missing)?;
    if printer.json() {
        printer.object(&json!({
            "at": stored.at.rfc3339(),
            "agent": stored.agent,
            "session": stored.session,
            "effort": stored.effort,
            "title": stored.title,
            "note": stored.hand_over,
        }));
    } else {
        printer.line(Text::lines(hand_over::shown(&stored, host::clock::now(), usize::MAX)));
    }
    Ok(Exit::Ok)
}

/// Files of the effort: they have its number, or are its task's own.
fn artifacts(effort: &Effort) -> Vec<String> {
    let own = format!("{}_", effort.ordinal);
    let entries = std::fs::read_dir(&effort.folder).into_iter().flatten().flatten().take(1_000);
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names
        .filter(|name| name.starts_with(&own) || matches!(name.as_str(), "DETAILS.md" | hand_over::FILE))
        .collect();
    names.sort();
    names
}

pub fn effort(what: Option<&str>, printer: &Printer) -> Result<Exit, CliError> {
    let effort_session = EffortSession::open()?;
    let found = named(&effort_session, what)?;
    let effort = found.ok_or_else(|| CliError::not_found("there is no such effort").hint("taut effort list --all"))?;
    let directives = effort_session.store.directives(&effort.id)?;
    let artifacts = artifacts(&effort);
    let phases = effort_session.store.phases(&effort.id)?;
    if printer.json() {
        let mut value = object(&effort);
        value["phases"] = phases
            .iter()
            .map(|step| json!({"label": step.label, "at": step.at.rfc3339(), "approved": step.approved}))
            .collect();
        value["files"] = json!(effort.files);
        value["artifacts"] = json!(artifacts);
        value["directives"] = directives
            .iter()
            .map(|one| json!({"path": one.path, "required": one.required, "read": one.read}))
            .collect();
        value["metadata"] = effort.metadata.clone();
        printer.object(&value);
        return Ok(Exit::Ok);
    }
    let row = |name: &str, text: &str| printer.line(text!("{}  {}", printer.dim(format!("{name:<10}")), text));
    row("skill", &effort.skill);
    row("task", &format!("{} (effort {})", effort.task, effort.ordinal));
    row("agent", &effort.agent);
    row("phase", effort.phase.as_deref().unwrap_or("loading"));
    row("folder", &effort.folder);
    for step in &phases {
        let why = step.approved.as_ref().map(|why| format!(" (jumped: {why})")).unwrap_or_default();
        row("", &format!("{} {}{why}", step.at.rfc3339(), step.label));
    }
    for (at, one) in directives.iter().enumerate() {
        let state = match (one.read, one.required) {
            (true, _) => "read",
            (false, true) => "must be read",
            (false, false) => "not read",
        };
        row(if at == 0 { "directives" } else { "" }, &format!("{} ({state})", one.path));
    }
    for (at, name) in artifacts.iter().enumerate() {
        row(if at == 0 { "artifacts" } else { "" }, &format!("{}/{name}", effort.folder));
    }
    Ok(Exit::Ok)
}

pub fn status(printer: &Printer) -> Result<Exit, CliError> {
    let effort_session = EffortSession::open()?;
    let session =
        effort_session.caller.session.as_deref().map(|id| effort_session.store.session(id)).transpose()?.flatten();
    let filter =
        EffortFilter { agent: Some(effort_session.caller.agent.clone()), only_active: true, ..EffortFilter::default() };
    let effort = effort_session.store.efforts(&filter)?.into_iter().next();
    let waiting = effort_session.store.hand_over(&effort_session.caller.agent)?.is_some();
    let percent = session.as_ref().and_then(model::session::Session::context_percent);
    if printer.json() {
        printer.object(&json!({
            "agent": effort_session.caller.agent,
            "session": session.as_ref().map(|session| &session.id),
            "status": session.as_ref().and_then(|session| session.status_text.as_ref()),
            "context_percent": percent,
            "effort": effort.as_ref().map(object),
            "account_waits": waiting,
        }));
        return Ok(Exit::Ok);
    }
    let row = |name: &str, text: &str| printer.line(text!("{}  {}", printer.dim(format!("{name:<10}")), text));
    row("agent", &effort_session.caller.agent);
    row("session", session.as_ref().map_or("none is known", |session| &session.logical_id));
    row("context", &percent.map_or("unknown".to_string(), |percent| format!("{percent:.0} %")));
    match &effort {
        Some(effort) => row(
            "effort",
            &format!("{} of {}, phase {}", effort.skill, effort.task, effort.phase.as_deref().unwrap_or("loading")),
        ),
        None => row("effort", "none; `taut session activate <skill>` begins one"),
    }
    if waiting {
        row("note", "stored, for the next session of this agent: `taut effort show --note`");
    }
    Ok(Exit::Ok)
}

fn object(effort: &Effort) -> Value {
    json!({
        "id": effort.id,
        "skill": effort.skill,
        "ordinal": effort.ordinal,
        "task": effort.task,
        "project": effort.project,
        "agent": effort.agent,
        "phase": effort.phase,
        "lifecycle": if effort.active() { "active" } else { "finished" },
        "folder": effort.folder,
        "started_at": effort.started_at.rfc3339(),
        "finished_at": effort.finished_at.map(model::Ms::rfc3339),
    })
}
