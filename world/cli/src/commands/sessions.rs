//! `taut sessions`: who works on what, and since when.

use super::{ago, stored};
use crate::args::SessionsArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, Text};
use dash::session_view::SessionRow;
use model::Ms;
use model::effort::{Effort, SubSession};
use model::session::Session;
use serde_json::Value;
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
        sessions.iter().for_each(|shown| printer.object(&shown.object()));
        return Ok(Exit::Ok);
    }
    if sessions.is_empty() {
        return none(printer);
    }
    let now = host::clock::now();
    let rows: Vec<Vec<Text>> = sessions.iter().map(|shown| row(shown, now)).collect();
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

fn row(shown: &Shown<'_>, now: Ms) -> Vec<Text> {
    let session = &shown.session;
    let effort =
        shown.effort.map(|effort| format!("{} {}", effort.skill, effort.phase.as_deref().unwrap_or("loading")));
    vec![
        session.state.name().into(),
        session.agent.as_str().into(),
        session.logical_id.chars().take(8).collect::<String>().into(),
        session.context_percent().map_or_else(|| "?".to_string(), |percent| format!("{percent:.0}%")).into(),
        effort.or_else(|| session.status_text.clone()).unwrap_or_else(|| "-".to_string()).into(),
        session.project.as_str().into(),
        ago(now.since(session.last_seen_at)).into(),
        ago(now.since(session.started_at)).into(),
    ]
}

impl Shown<'_> {
    fn object(&self) -> Value {
        SessionRow { session: &self.session, effort: self.effort, sub_agents: &self.helpers }.object()
    }
}
