//! What every queue command needs: the database, who calls, and the clock.

use crate::commands::open_and_take_in;
use crate::error::CliError;
use engine::queue::{Actor, Speaker};
use host::paths::PathVariables;
use model::Environment;
use model::task::Task;
use pipeline::queue::{Queue, TaskCaller, caller};
use service::ProjectQueue;
use std::time::Duration;
use store::{Store, TaskFilter};

use super::args::ActorArgs;

/// Many workers claim at once, each waits for the one before it.
const PATIENCE: Duration = Duration::from_secs(30);

/// So many tasks are looked through for the one that was meant.
const MOST_NEAR: usize = 2_000;

pub struct StoreSession {
    store: Store,
    pub caller: TaskCaller,
    /// Where the queue of the project is on a server.
    server: Option<ProjectQueue>,
}

impl StoreSession {
    pub fn open() -> Result<Self, CliError> {
        let places = PathVariables::from_process();
        let mut store = open_and_take_in(&places, PATIENCE)?;
        let env = sys::environment::text_variables().filter(|(name, _)| agents::is_allowed(name)).collect();
        let cwd = std::env::current_dir()?.to_string_lossy().into_owned();
        let call = TaskCaller::call(cwd, Environment(env), Some(std::os::unix::process::parent_id()));
        let host_session = crate::person::host_session();
        let mut caller = caller(&store, &call, &host_session, &places.home())?;
        // Who gave itself no name is whom it runs within.
        if let (false, Speaker::Agents(names)) = (caller.named, &caller.speaker)
            && let Some(name) = names.first().filter(|_| !names.contains(&caller.agent))
        {
            caller.agent = name.clone();
        }
        let server = crate::shared_queue::of_project(&caller.project, &places, &mut store)?;
        Ok(Self { store, caller, server })
    }

    pub fn queue(&mut self) -> Queue<'_> {
        let queue: Queue<'_> = Queue::new(&mut self.store, host::clock_reading::moment);
        match &mut self.server {
            Some(server) => queue.on(server),
            None => queue,
        }
    }

    /// The database, the project, and its queue on a server where it has one.
    pub fn into_parts(self) -> (Store, String, Option<ProjectQueue>) {
        (self.store, self.caller.project, self.server)
    }

    pub fn store(&self) -> &Store {
        &self.store
    }

    pub fn project(&self) -> String {
        self.caller.project.clone()
    }

    /// For commands that only read: recovery is a by-product, and its failure no matter.
    pub fn reap(&mut self) {
        let _ = self.queue().reap();
    }

    pub fn actor(&self, args: &ActorArgs) -> Actor {
        let agent = args.agent.clone().unwrap_or_else(|| self.caller.agent.clone());
        Actor { agent, attempt: args.attempt, token: args.token.clone(), speaker: self.speaker() }
    }

    pub fn speaker(&self) -> Speaker {
        self.caller.speaker.clone()
    }

    /// Who plans. A command that proves a task is run by the loop, outside any sandbox: whoever names one must not
    /// have an agent above, whatever its environment says.
    pub fn planner(&self, names_verify: bool) -> Speaker {
        match &self.caller.speaker {
            Speaker::Person if names_verify && crate::person::outside_agents("task").is_err() => {
                Speaker::agent(&self.caller.agent)
            }
            speaker => speaker.clone(),
        }
    }

    /// Refuses where an agent speaks for another; the wish is said in words.
    pub fn may_act_for(&self, agent: &str, wish: &str) -> Result<(), CliError> {
        let speaker = &self.caller.speaker;
        if speaker.may_act_for(agent) {
            return Ok(());
        }
        let from = speaker.shown();
        Err(CliError::not_found(format!("this comes from {from}, which may not {wish} agent {agent}")))
    }

    pub fn task(&mut self, id: &str) -> Result<Task, CliError> {
        let project = self.project();
        let task = self.queue().task(&project, id)?;
        task.ok_or_else(|| CliError::no_task(id))
    }

    /// By priority, then age.
    pub fn tasks(&mut self, filter: &TaskFilter) -> Result<Vec<Task>, CliError> {
        let project = self.project();
        Ok(self.queue().tasks(&project, filter)?)
    }

    /// An error that names a task there is none of names the nearest one too.
    pub fn with_nearest(&mut self, error: CliError) -> CliError {
        let Some(missing) = error.missing_task() else { return error };
        let filter = TaskFilter { limit: MOST_NEAR, ..TaskFilter::default() };
        let project = self.project();
        let tasks = self.queue().tasks(&project, &filter).unwrap_or_default();
        let slugs: Vec<&str> = tasks.iter().map(|task| task.queued.slug.as_str()).collect();
        match policy::config::nearest(missing, &slugs) {
            Some(near) => error.hint(format!("did you mean `{near}`? `taut task list --all` names them all")),
            None => error,
        }
    }

    /// Without a daemon nobody else keeps the log short.
    pub fn close(self) {
        let _ = self.store.settle();
    }
}
