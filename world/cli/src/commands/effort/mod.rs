//! `taut effort`, `taut session`, `taut log`, `taut status`: an agent's words
//! about its own work. What the hook that saw the line has done is found done.

mod shown;

use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, Text};
use crate::{person, stdin};
use grammar::{AgentArgs, AgentCommand, AgentLine, ContinueArgs, EffortVerb, SessionVerb, WorkArgs};
use host::paths::PathVariables;
use model::Environment;
use model::effort::Refused;
use pipeline::queue::{TaskCaller, caller};
use pipeline::{CliCommand, CliCommandError, found_done};
use serde_json::json;
use std::path::PathBuf;
use std::time::Duration;
use store::Store;

/// How long a command waits for a locked database.
const PATIENCE: Duration = Duration::from_secs(5);

pub fn run(args: WorkArgs, printer: &Printer) -> Result<Exit, CliError> {
    if let Some(exit) = of_nobody(&args, printer)? {
        return Ok(exit);
    }
    match &args {
        WorkArgs::Remember(_) | WorkArgs::Forget(_) | WorkArgs::Facts => super::facts::run(args, printer),
        WorkArgs::Effort { verb: EffortVerb::Show { what, note: true } } => shown::note(what.as_deref(), printer),
        WorkArgs::Effort { verb: EffortVerb::Show { what, note: false } } => shown::effort(what.as_deref(), printer),
        WorkArgs::Effort { verb: EffortVerb::List(args) } => shown::list(args, printer),
        WorkArgs::Session { verb: SessionVerb::Find { text } } => shown::find(&text.join(" "), printer),
        WorkArgs::Session { verb: SessionVerb::Status } => shown::status(printer),
        WorkArgs::Status(_) => match typed(&AgentArgs::Work(args)) {
            AgentLine { command: None, .. } => super::overview::run(printer),
            line => Ok(say(carried(&line)?, printer)),
        },
        _ => Ok(say(carried(&typed(&AgentArgs::Work(args)))?, printer)),
    }
}

/// At a person's own terminal there is no agent whose work could be meant: what there is, is listed.
fn of_nobody(args: &WorkArgs, printer: &Printer) -> Result<Option<Exit>, CliError> {
    let named = match args {
        WorkArgs::Continue(ContinueArgs { what: None, .. }) => None,
        WorkArgs::Session { verb: SessionVerb::Continue { what: None, .. } } => None,
        WorkArgs::Effort { verb: EffortVerb::Finish(args) } => args.text.first(),
        _ => return Ok(None),
    };
    match person::outside_agents("continue") {
        Ok(()) => shown::of_nobody(named.map(String::as_str), printer),
        Err(_) => Ok(None),
    }
}

/// The line as it was typed, done by the hook that saw it or done now.
pub(super) fn typed(args: &AgentArgs) -> AgentLine {
    let stdin = if args.reads_stdin() { stdin::waiting() } else { None };
    AgentLine::typed(args, std::env::args().skip(1).collect(), stdin)
}

pub(super) fn carried(line: &AgentLine) -> Result<pipeline::Executed, CliError> {
    match EffortSession::open() {
        Ok(effort_session) => effort_session.carry_out(line),
        Err(error) => found_only(line, error),
    }
}

pub(super) fn say(carried: pipeline::Executed, printer: &Printer) -> Exit {
    for trouble in &carried.troubles {
        printer.note(format!("warning: {trouble}"));
    }
    if printer.json() {
        printer.object(&json!({"said": carried.output}));
    } else {
        printer.line(Text::lines(carried.output));
    }
    Exit::Ok
}

/// What an agent that reads its own messages is told.
pub(super) struct OwnInbox {
    pub agent: String,
    pub output: String,
}

/// What waits for the agent that runs this, read so that it is told; `None`
/// where no agent runs it.
pub(super) fn own_inbox() -> Result<Option<OwnInbox>, CliError> {
    let line = AgentLine::new(vec!["inbox".to_string()], None);
    let read = |agent: String, said: String| OwnInbox { agent, output: said };
    match EffortSession::open() {
        Ok(effort_session) if effort_session.caller.session.is_some() => {
            let agent = effort_session.caller.agent.clone();
            Ok(Some(read(agent, effort_session.carry_out(&line)?.output)))
        }
        // A sandbox hides the client and its session, and the hook's answer tells of both.
        Ok(mut effort_session) => {
            let done = found_done(&mut effort_session.store, &effort_session.caller, &line.key(), host::clock::now())?;
            Ok(done.transpose()?.map(|carried| read(effort_session.caller.agent, carried.output)))
        }
        Err(error) => Ok(found_only(&line, error).ok().map(|carried| read("this agent".to_string(), carried.output))),
    }
}

/// Where nothing can be written, as in a client's sandbox, what the hook did can still be read.
fn found_only(line: &AgentLine, error: CliError) -> Result<pipeline::Executed, CliError> {
    let places = PathVariables::from_process();
    let Ok(mut store) = Store::open_existing_read_only(&places.state()) else { return Err(error) };
    let Ok(caller) = who(&store, &places) else { return Err(error) };
    let caller = TaskCaller { session: None, ..caller };
    match found_done(&mut store, &caller, &line.key(), host::clock::now()) {
        Ok(Some(found)) => found.map_err(CliError::from),
        _ => Err(error),
    }
}

/// The database, and who stands before it.
pub(super) struct EffortSession {
    pub store: Store,
    pub caller: TaskCaller,
    places: PathVariables,
}

impl EffortSession {
    pub fn open() -> Result<Self, CliError> {
        let places = PathVariables::from_process();
        let store = super::open_and_take_in(&places, PATIENCE)?;
        let caller = who(&store, &places)?;
        Ok(Self { store, caller, places })
    }

    fn carry_out(mut self, line: &AgentLine) -> Result<pipeline::Executed, CliError> {
        let about_facts =
            matches!(&line.command, Some(Ok(AgentCommand::Remember { .. } | AgentCommand::Forget { .. })));
        let elsewhere = if about_facts { own_project(&self.store, &self.caller)? } else { None };
        let folder = elsewhere.map_or_else(std::env::current_dir, Ok)?;
        let judge = super::judge_here(Some(&folder))?;
        let setting = service::setting(&self.places);
        let hand = CliCommand {
            store: &mut self.store,
            setting: &setting,
            project_policy: judge.project_policy(),
            caller: &self.caller,
            env: environment(),
            cwd: folder.to_string_lossy().into_owned(),
            now: host::clock::now(),
        };
        let carried = hand.execute(line)?;
        let _ = self.store.settle();
        Ok(carried)
    }
}

/// The project of the agent's session, where it stands in another one.
pub(super) fn own_project(store: &Store, caller: &TaskCaller) -> Result<Option<PathBuf>, CliError> {
    let session = caller.session.as_deref().map(|id| store.session(id)).transpose()?.flatten();
    let project = session.map(|session| session.project).filter(|project| !project.is_empty());
    Ok(project.filter(|project| *project != caller.project).map(PathBuf::from))
}

fn environment() -> Environment {
    Environment(sys::environment::text_variables().filter(|(name, _)| agents::is_allowed(name)).collect())
}

pub(super) fn who(store: &Store, places: &PathVariables) -> Result<TaskCaller, CliError> {
    let cwd = std::env::current_dir()?.to_string_lossy().into_owned();
    let call = TaskCaller::call(cwd, environment(), Some(std::os::unix::process::parent_id()));
    let host_session = crate::person::host_session();
    Ok(caller(store, &call, &host_session, &places.home())?)
}

/// The same by the processes above alone.
pub(super) fn by_processes(store: &Store, places: &PathVariables) -> Result<TaskCaller, CliError> {
    let cwd = std::env::current_dir()?.to_string_lossy().into_owned();
    let call = TaskCaller::call(cwd, Environment::default(), Some(std::os::unix::process::parent_id()));
    Ok(caller(store, &call, &crate::person::host_session(), &places.home())?)
}

impl From<CliCommandError> for CliError {
    fn from(error: CliCommandError) -> Self {
        match error {
            CliCommandError::Store(cause) => cause.into(),
            CliCommandError::Refused(Refused::Failed(why)) => Self::failed(why),
            CliCommandError::Refused(Refused::NotFound(why)) => Self::not_found(why),
            CliCommandError::Unknown => Self::not_found(error.to_string()),
        }
    }
}
