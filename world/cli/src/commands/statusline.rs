//! `taut statusline`: one line for the client's status bar. What the client
//! says of its context on stdin is kept for the session on the way. It never
//! fails and never waits long: a line without what is stored is better than none.

use crate::exit::Exit;
use crate::printer::Printer;
use crate::stdin;
use agents::StatusLineInput;
use engine::context::{self, ContextSettings, Evidence};
use model::session::Session;
use model::task::TaskStatus;
use model::{AgentProfile, Environment};
use pipeline::{ContextReading, Pipeline, PipelineSetup, PolicyCache};
use policy::Trust;
use policy::config::CHANGED_SINCE_TRUSTED;
use std::sync::mpsc;
use std::time::Duration;
use store::{EffortFilter, Error, TaskFilter};

/// The client draws without us after a while; the database gets less than that.
const PATIENCE: Duration = Duration::from_millis(100);
const LIMIT: Duration = Duration::from_millis(250);

pub fn run(printer: &Printer) -> Exit {
    let agent = crate::person::agent_around();
    let said = agent.status_line.map(|read| read(&stdin::read().bytes)).unwrap_or_default();
    let setting = PipelineSetup { patience: PATIENCE, ..service::setting(&host::origin::places()) };
    let (send, receive) = mpsc::channel();
    let reading = said.clone();
    std::thread::spawn(move || {
        let notice = notice(&reading, &setting);
        let _ =
            send.send(context::StatusLine { notice, ..known(agent.profile, &reading, setting).unwrap_or_default() });
    });
    let mut line = receive.recv_timeout(LIMIT).unwrap_or_default();
    line.model = said.model_name.clone().or_else(|| said.model.clone());
    line.cost_usd = said.cost_usd;
    line.percent = line.percent.or_else(|| percent(agent.profile, &said));
    printer.line(line.text());
    Exit::Ok
}

/// An edit after `taut trust` switches off what needs trust, and nobody would notice.
fn notice(said: &StatusLineInput, setting: &PipelineSetup) -> Option<String> {
    let mut cache = PolicyCache::new(setting.user_config.clone(), setting.state.clone());
    let project_policy = cache.of(said.cwd.as_deref()?, &setting.home);
    (project_policy.policy.trust == Trust::Changed).then(|| format!("configuration {CHANGED_SINCE_TRUSTED}"))
}

/// What is stored of the session, with what the client just said of it.
fn known(
    agent: &'static AgentProfile,
    said: &StatusLineInput,
    setting: PipelineSetup,
) -> Result<context::StatusLine, Error> {
    if said.session.is_empty() || !setting.state.join(store::DATABASE).exists() {
        return Ok(context::StatusLine::default());
    }
    let mut pipeline = Pipeline::new(setting);
    let Some(session) = pipeline.note(&reading(agent, said), &environment())? else {
        return Ok(context::StatusLine::default());
    };
    let mut line = context::StatusLine {
        agent: Some(session.agent.clone()),
        percent: session.context_percent(),
        ..context::StatusLine::default()
    };
    work(&mut pipeline, &session, &mut line)?;
    Ok(line)
}

fn work(pipeline: &mut Pipeline, session: &Session, line: &mut context::StatusLine) -> Result<(), Error> {
    let store = pipeline.store()?;
    let filter = EffortFilter { agent: Some(session.agent.clone()), only_active: true, ..EffortFilter::default() };
    let effort = store.efforts(&filter)?.into_iter().find(|effort| effort.session.as_ref() == Some(&session.id));
    if let Some(effort) = effort {
        line.skill = Some(effort.skill);
        line.phase = effort.phase;
    }
    let held =
        TaskFilter { statuses: vec![TaskStatus::Active], agent: Some(session.agent.clone()), ..TaskFilter::default() };
    line.tasks = store.tasks(&session.project, &held)?.into_iter().map(|task| task.plan.slug).collect();
    Ok(())
}

fn reading(agent: &'static AgentProfile, said: &StatusLineInput) -> ContextReading {
    ContextReading {
        agent,
        host_session: said.session.clone(),
        cwd: said.cwd.clone().unwrap_or_else(|| "/".to_string()),
        model: said.model.clone(),
        window: said.window,
        tokens: said.tokens,
        cost_usd: said.cost_usd,
    }
}

/// As the client alone tells it.
fn percent(agent: &AgentProfile, said: &StatusLineInput) -> Option<f64> {
    let tokens = said.tokens?;
    let evidence = Evidence { told: said.window, model: said.model.as_deref(), tokens, known: agent.windows };
    let room = context::room(&ContextSettings::default(), evidence)?;
    Some(tokens as f64 * 100.0 / room.limit as f64)
}

fn environment() -> Environment {
    let all =
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    Environment(all.filter(|(name, _)| agents::is_allowed(name)).collect())
}
