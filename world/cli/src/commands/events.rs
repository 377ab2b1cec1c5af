//! `taut events`: what happened, what was said to it, and why.

use super::allow::{code_of, digest, let_pass_by};
use super::{effort, stored};
use crate::args::{EventsArgs, EventsOf};
use crate::error::CliError;
use crate::exit::Exit;
use crate::person;
use crate::printer::{Printer, Text, text};
use host::paths::PathVariables;
use model::Level;
use model::row::Event;
use pipeline::queue::TaskCaller;
use serde_json::{Value, json};
use std::time::Duration;
use store::{EventFilter, Store, StoreHandle};

/// How often a follower looks. The daemon is not needed for it.
const LOOK_EVERY: Duration = Duration::from_millis(150);

pub fn run(args: &EventsArgs, printer: &Printer) -> Result<Exit, CliError> {
    let mut store = StoreHandle::default();
    store.renew(stored)?;
    let mut filter = EventFilter {
        agent: args.agent.clone(),
        session: args.session.clone(),
        only_denied: args.denied,
        limit: args.limit,
        ..EventFilter::default()
    };
    if let Some(store) = store.current() {
        let caller = effort::who(store, &PathVariables::from_process())?;
        if let Some(whose) = args.of {
            narrow(&mut filter, whose, &caller)?;
        }
        if person::outside_agents("events").is_err() {
            keep_to_own(&mut filter, store, caller)?;
        }
    }
    let events = match store.current() {
        Some(store) => store.events(&filter)?,
        None => Vec::new(),
    };
    if events.is_empty() && !args.follow && !printer.json() {
        printer.note("nothing has happened yet; `taut init` installs the hooks that tell of it");
    }
    let used = match store.current().zip(events.first()) {
        Some((store, first)) => store.let_pass_since(first.at)?,
        None => Vec::new(),
    };
    let mut last = show(&events, &used, printer);
    if !args.follow {
        return Ok(Exit::Ok);
    }
    filter.limit = 0;
    loop {
        std::thread::sleep(LOOK_EVERY);
        // What cannot be opened now may be in a moment.
        if store.renew(stored).is_err() {
            continue;
        }
        let Some(store) = store.current() else { continue };
        filter.since_key.clone_from(&last);
        last = show(&store.events(&filter)?, &[], printer).or(last);
    }
}

/// To whoever runs this, found as for any of its commands.
fn narrow(filter: &mut EventFilter, whose: EventsOf, caller: &TaskCaller) -> Result<(), CliError> {
    match (whose, &caller.session) {
        (EventsOf::Session, Some(session)) => filter.session = Some(session.clone()),
        (EventsOf::Session, None) => {
            return Err(
                CliError::not_found("this runs in no session that Taut knows of").hint("taut events --of project")
            );
        }
        (EventsOf::Agent, _) => filter.agent = Some(caller.agent.clone()),
        (EventsOf::Project, _) => filter.project = Some(caller.project.clone()),
    }
    Ok(())
}

/// What was said to the agents of a project is nothing for those of another. One that belongs to no project sees what is
/// its own, and so does one that bears a name and whose session is not known.
fn keep_to_own(filter: &mut EventFilter, store: &Store, caller: TaskCaller) -> Result<(), CliError> {
    // Variables can say anything; the processes above are what they are.
    let known = match caller.session {
        Some(id) => Some(id),
        None => effort::by_processes(store, &PathVariables::from_process())?.session,
    };
    let session = known.map(|id| store.session(&id)).transpose()?.flatten();
    match session {
        Some(session) if !session.project.is_empty() => filter.project = Some(session.project),
        Some(session) => filter.agent = Some(session.agent),
        None if person::is_marked() => filter.agent = Some(caller.agent),
        None => {}
    }
    Ok(())
}

/// Shows them in order and gives the key of the last. The code of a call that was let through since then is used up.
fn show(events: &[Event], let_pass: &[Event], printer: &Printer) -> Option<String> {
    let today = host::clock::now().date();
    for event in events {
        let passed = |later: &&Event| later.at > event.at && digest(later) == digest(event);
        let used = code_of(event).is_some() && let_pass.iter().any(|later| passed(&later));
        if printer.json() {
            printer.object(&object(event, used));
        } else {
            printer.line(line(event, used, &today, printer));
        }
    }
    events.last().map(|event| event.key.clone())
}

/// A time of day alone is one of today.
fn line(event: &Event, used: bool, today: &str, printer: &Printer) -> Text {
    let verdict = format!("{:<4}", event.verdict.name());
    let verdict = match event.verdict {
        Level::Pass => printer.dim(verdict),
        Level::Warn | Level::Ask => printer.yellow(verdict),
        Level::Deny => printer.red(verdict),
    };
    let time = event.at.rfc3339().get(11..19).unwrap_or_default().to_string();
    let date = event.at.date();
    let time = if date == today { time } else { format!("{date} {time}") };
    let said = |path: &str| event.detail.pointer(path).and_then(Value::as_str).map(first_line);
    let about = ["/prompt", "/input/command", "/input/file_path"].into_iter().find_map(said);
    let about = event.tool.iter().cloned().chain(about).collect::<Vec<_>>().join("  ");
    let rules = if event.rules.is_empty() { String::new() } else { format!("  [{}]", event.rules.join(", ")) };
    let late = if is_delivered(event) { "" } else { "  (not delivered)" };
    let spent = if used { " (used)" } else { "" };
    let code = code_of(event).map(|code| format!("  code {code}{spent}")).unwrap_or_default();
    let allowed = let_pass_by(event).map(|by| format!("  ({by})")).unwrap_or_default();
    let line = text!(
        "{}  {}  {:<16}  {:<18}  {}{}{}{}{}",
        printer.dim(time),
        verdict,
        event.agent,
        event.event,
        about,
        rules,
        code,
        allowed,
        late
    );
    line.trimmed()
}

/// A verdict that came too late for whoever asked was not answered.
fn is_delivered(event: &Event) -> bool {
    event.detail.get("delivered") != Some(&Value::Bool(false))
}

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let mut short: String = line.chars().take(72).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

fn object(event: &Event, used: bool) -> Value {
    let mut value = json!({
        "id": event.id,
        "at": event.at.rfc3339(),
        "agent": event.agent,
        "session": event.session,
        "event": event.event,
        "verdict": event.verdict.name(),
        "rules": event.rules,
        "ms": event.micros as f64 / 1000.0,
    });
    if let Some(fields) = value.as_object_mut() {
        fields.extend(event.tool.as_ref().map(|tool| ("tool".to_string(), json!(tool))));
        fields.extend(event.reason.as_ref().map(|reason| ("reason".to_string(), json!(reason))));
        fields.extend(code_of(event).map(|code| ("code".to_string(), json!(code))));
        fields.extend(event.sub_agent.as_ref().map(|id| ("sub_agent".to_string(), json!(id))));
        if used {
            fields.insert("code_used".into(), json!(true));
        }
        if !is_delivered(event) {
            fields.insert("delivered".into(), json!(false));
        }
        fields.insert("host_session_id".into(), json!(event.host_session));
        fields.insert("detail".into(), event.detail.clone());
    }
    value
}
