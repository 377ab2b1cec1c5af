//! Efforts as they are shown.

use super::EffortSession;
use crate::commands::agent_names;
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, Text, text};
use engine::memory::hand_over::{self, age};
use grammar::EffortListArgs;
use model::Ms;
use model::agent_name::AgentNames;
use model::effort::{Effort, EffortEnd, StoredHandOver, UnfinishedKind, UnfinishedWork, short_id};
use pipeline::queue::TaskCaller;
use serde_json::{Value, json};
use std::collections::HashSet;
use store::EffortFilter;

pub fn list(args: &EffortListArgs, printer: &Printer) -> Result<Exit, CliError> {
    let mut effort_session = EffortSession::open()?;
    let now = host::clock::now();
    let hours = super::super::judge_here(None)?.project_policy().policy.sections.memory.stale_hours;
    let project = effort_session.caller.project.clone();
    pipeline::end_stale(&mut effort_session.store, &project, hours, now)?;
    let agent = agent_names::filter(&effort_session.store, args.agent.as_ref())?;
    let filter = EffortFilter {
        project: (!args.all).then(|| project.clone()),
        agent: agent.clone(),
        only_active: !args.all,
        ..EffortFilter::default()
    };
    let unfinished = effort_session.store.unfinished(&project)?;
    let wanted = |work: &&UnfinishedWork| agent.as_ref().is_none_or(|agent| *agent == work.agent);
    let notes = unfinished.iter().filter(|work| work.kind == UnfinishedKind::Note).filter(wanted);
    let listed = Listed {
        efforts: effort_session.store.efforts(&filter)?,
        notes: notes.cloned().collect(),
        seen: unfinished.iter().map(|work| (work.id.clone(), work.seen)).collect(),
        active: active_tasks(&effort_session)?,
        names: effort_session.store.agent_names()?,
        now,
    };
    listed.show(printer)
}

pub fn find(text: &str, printer: &Printer) -> Result<Exit, CliError> {
    let effort_session = EffortSession::open()?;
    let text = Some(text.to_string()).filter(|text| !text.is_empty());
    let filter = EffortFilter { project: Some(effort_session.caller.project.clone()), text, ..EffortFilter::default() };
    let efforts = effort_session.store.efforts(&filter)?;
    if efforts.is_empty() {
        return Err(CliError::not_found("no effort of this project is called that").hint("taut effort list --all"));
    }
    let (active, names) = (active_tasks(&effort_session)?, effort_session.store.agent_names()?);
    Listed { efforts, notes: Vec::new(), seen: Vec::new(), active, names, now: host::clock::now() }.show(printer)
}

/// A task never finishes: it is active while one of its efforts is, else dormant.
fn task_state(effort: &Effort, active: &HashSet<(String, String)>) -> &'static str {
    if active.contains(&(effort.project.clone(), effort.task.clone())) { "active" } else { "dormant" }
}

fn active_tasks(effort_session: &EffortSession) -> Result<HashSet<(String, String)>, CliError> {
    let filter = EffortFilter { only_active: true, ..EffortFilter::default() };
    Ok(effort_session.store.efforts(&filter)?.into_iter().map(|effort| (effort.project, effort.task)).collect())
}

/// What is listed, and when each active one was last heard of.
struct Listed {
    efforts: Vec<Effort>,
    notes: Vec<UnfinishedWork>,
    seen: Vec<(String, Ms)>,
    /// Projects and tasks with an active effort.
    active: HashSet<(String, String)>,
    names: AgentNames,
    now: Ms,
}

impl Listed {
    fn show(&self, printer: &Printer) -> Result<Exit, CliError> {
        if printer.json() {
            self.efforts.iter().for_each(|effort| printer.object(&self.object(effort)));
            self.notes.iter().for_each(|note| printer.object(&self.note(note)));
            return Ok(Exit::Ok);
        }
        if self.efforts.is_empty() && self.notes.is_empty() {
            printer.note("nothing is unfinished here; `taut effort list --all` shows what has ended");
            return Ok(Exit::Ok);
        }
        let efforts = self.efforts.iter().map(|effort| {
            let age = age(self.now, self.seen(effort));
            let dormant = if task_state(effort, &self.active) == "dormant" { " (dormant)" } else { "" };
            let task = format!("{}{dormant}", effort.task);
            [self.short(&effort.id), about(effort), state(effort), age, task, self.names.of(&effort.agent).into()]
        });
        let notes = self.notes.iter().map(|note| {
            let age = age(self.now, note.seen);
            [
                self.short(&note.id),
                note.title.clone(),
                "note".into(),
                age,
                String::new(),
                self.names.of(&note.agent).into(),
            ]
        });
        let rows: Vec<Vec<Text>> = efforts.chain(notes).map(|row| row.map(Text::from).into()).collect();
        printer.table(&["ID", "TITLE", "STATE", "AGE", "TASK", "AGENT"], &rows);
        Ok(Exit::Ok)
    }

    /// When it was last heard of, or ended.
    fn seen(&self, effort: &Effort) -> Ms {
        let known = self.seen.iter().find(|(id, _)| *id == effort.id).map(|(_, seen)| *seen);
        effort.finished_at.or(known).unwrap_or(effort.started_at)
    }

    /// What `taut continue` and its like take.
    fn short(&self, id: &str) -> String {
        let efforts = self.efforts.iter().map(|effort| effort.id.as_str());
        short_id(id, efforts.chain(self.notes.iter().map(|note| note.id.as_str()))).to_string()
    }

    fn object(&self, effort: &Effort) -> Value {
        let mut value = object(effort);
        value["short_id"] = json!(self.short(&effort.id));
        value["task_state"] = json!(task_state(effort, &self.active));
        value["seen_at"] = json!(self.seen(effort).rfc3339());
        value
    }

    fn note(&self, note: &UnfinishedWork) -> Value {
        json!({
            "kind": "note", "id": note.id, "short_id": self.short(&note.id), "title": note.title,
            "agent": note.agent, "lifecycle": "noted", "seen_at": note.seen.rfc3339(),
        })
    }
}

fn about(effort: &Effort) -> String {
    match &effort.title {
        Some(title) => format!("{}: {title}", effort.skill),
        None => effort.skill.clone(),
    }
}

/// The phase of an active one, else how it ended.
fn state(effort: &Effort) -> String {
    match (&effort.phase, effort.active()) {
        (Some(phase), true) => phase.clone(),
        (None, true) => "loading".into(),
        (_, false) => effort.end.map_or("finished", EffortEnd::name).into(),
    }
}

/// The effort that is named, or the one this agent works on.
fn named(effort_session: &EffortSession, what: Option<&str>) -> Result<Option<Effort>, CliError> {
    let TaskCaller { agent, project, .. } = &effort_session.caller;
    let filter = EffortFilter { agent: Some(agent.clone()), only_active: true, ..EffortFilter::default() };
    Ok(match what {
        Some(what) => effort_session.store.effort_named(project, what)?,
        None => effort_session.store.efforts(&filter)?.into_iter().next(),
    })
}

fn no_such_id(what: Option<&str>) -> CliError {
    let said = match what {
        Some(what) => format!("there is no such id or task as `{what}` here, or more than one ends so"),
        None => "no effort is active".to_string(),
    };
    CliError::not_found(said).hint("taut effort list --all")
}

/// What a command about one's own work says where nobody works; `None` where an effort is meant all the same.
pub fn of_nobody(what: Option<&str>, printer: &Printer) -> Result<Option<Exit>, CliError> {
    let effort_session = EffortSession::open()?;
    if effort_session.caller.session.is_some() || named(&effort_session, None)?.is_some() {
        return Ok(None);
    }
    let Some(what) = what else {
        list(&EffortListArgs { all: false, agent: None }, printer)?;
        printer.note(
            "an agent takes one up with `taut continue <id>`; for you: `taut effort show <id>` shows it, `taut \
            effort finish <id>` ends an effort, `taut continue --no <id>` ends either",
        );
        return Ok(Some(Exit::NotFound));
    };
    let project = &effort_session.caller.project;
    if effort_session.store.effort_named(project, what)?.is_some() {
        return Ok(None);
    }
    match effort_session.store.note_named(project, what)? {
        Some(_) => Err(CliError::not_found(format!(
            "`{what}` is a note, which nobody finishes; `taut continue --no {what}` ends it"
        ))),
        None => Err(no_such_id(Some(what))),
    }
}

/// The hand-over note as the next session will be shown it, but whole.
pub fn note(what: Option<&str>, printer: &Printer) -> Result<Exit, CliError> {
    let effort_session = EffortSession::open()?;
    let store = &effort_session.store;
    let effort = named(&effort_session, what)?;
    let stored = match (&effort, what) {
        (Some(effort), Some(_)) => store.hand_over_of(effort)?,
        (None, Some(what)) => {
            let note = store.note_named(&effort_session.caller.project, what)?;
            Some(note.ok_or_else(|| no_such_id(Some(what)))?)
        }
        (_, None) => store.hand_over(&effort_session.caller.agent, &effort_session.caller.project)?,
    };
    let missing = || CliError::not_found("there is no hand-over note of that").hint("taut effort list --all");
    show_note(&stored.ok_or_else(missing)?, printer);
    Ok(Exit::Ok)
}

fn show_note(stored: &StoredHandOver, printer: &Printer) {
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
        printer.line(Text::lines(hand_over::shown(stored, host::clock::now(), usize::MAX)));
    }
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
    let note = match (&found, what) {
        (None, Some(what)) => effort_session.store.note_named(&effort_session.caller.project, what)?,
        _ => None,
    };
    if let Some(note) = note {
        show_note(&note, printer);
        return Ok(Exit::Ok);
    }
    let effort = found.ok_or_else(|| no_such_id(what))?;
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
        value["task_state"] = json!(task_state(&effort, &active_tasks(&effort_session)?));
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
    if let Some(title) = &effort.title {
        row("title", title);
    }
    row("task", &format!("{} (effort {})", effort.task, effort.ordinal));
    row("agent", &effort.agent);
    row("phase", effort.phase.as_deref().unwrap_or("loading"));
    if let Some(end) = effort.end {
        row("ended", end.name());
    }
    row("folder", &effort.folder);
    for step in &phases {
        let why = step.approved.as_ref().map(|why| format!(" (jumped: {why})")).unwrap_or_default();
        row("", &format!("{} {}{why}", host::clock::shown(step.at), step.label));
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
    let TaskCaller { agent, project, .. } = &effort_session.caller;
    let waiting = effort_session.store.hand_over(agent, project)?.is_some();
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
        "kind": "effort",
        "id": effort.id,
        "title": effort.title,
        "end_reason": effort.end.map(EffortEnd::name),
        "skill": effort.skill,
        "ordinal": effort.ordinal,
        "task": effort.task,
        "keywords": effort.keywords(),
        "project": effort.project,
        "agent": effort.agent,
        "phase": effort.phase,
        "lifecycle": if effort.active() { "active" } else { "finished" },
        "folder": effort.folder,
        "started_at": effort.started_at.rfc3339(),
        "finished_at": effort.finished_at.map(model::Ms::rfc3339),
    })
}
