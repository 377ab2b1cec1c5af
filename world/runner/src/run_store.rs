//! The run's place in the database: its row, its worker, its leases.

use crate::RunnerError;
use crate::claimable::NothingFits;
use crate::job::Job;
use engine::queue::{Actor, CONTEXT_LIMIT, Claimant, SESSION_ENDED, SESSION_EXITED, Speaker};
use model::run::{Iteration, Run, RunWish};
use model::task::{LEASE_MS, Task, TaskPlan, TaskProposal, TaskStatus};
use model::task_branch::TaskBranch;
use model::{ClientProcess, Ms};
use pipeline::queue::{Queue, QueueError, SharedRound, TaskChange};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use store::{QueueLook, SessionFilter, StoppedFor, Store, TaskEdit, TaskServer};

const PATIENCE: Duration = Duration::from_secs(10);

/// How the queue of a project is reached where it is on a server.
#[derive(Clone, Default)]
pub struct QueueServer(Option<Arc<OpenServer>>);

type OpenServer = dyn Fn(&mut Store) -> Result<Box<dyn TaskServer + Send>, store::Error> + Send + Sync;

impl QueueServer {
    pub fn new(
        open: impl Fn(&mut Store) -> Result<Box<dyn TaskServer + Send>, store::Error> + Send + Sync + 'static,
    ) -> Self {
        Self(Some(Arc::new(open)))
    }

    pub(crate) fn is_there(&self) -> bool {
        self.0.is_some()
    }
}

impl std::fmt::Debug for QueueServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "on a server" } else { "here" })
    }
}

pub(crate) struct RunStore {
    server: Option<Box<dyn TaskServer + Send>>,
    store: Store,
    /// Agents of loops that were killed.
    gone: Vec<String>,
    /// Why the server of the queue is not reached, while it is not.
    away: Option<String>,
    /// What is to be said of that.
    news: Vec<String>,
    /// Of these it was said that they are queued here, too.
    queued_here: BTreeSet<String>,
    /// A mark of how the queue stood when it was last seen.
    seen: u64,
    /// What can be claimed was searched, and none of it was for here.
    pub nothing_fits: NothingFits,
}

impl RunStore {
    pub(crate) fn open(state: &Path) -> Result<Self, RunnerError> {
        let store = Store::open_and_migrate(state, PATIENCE)?;
        Ok(Self {
            server: None,
            store,
            gone: Vec::new(),
            away: None,
            news: Vec::new(),
            queued_here: BTreeSet::new(),
            seen: 0,
            nothing_fits: NothingFits::default(),
        })
    }

    /// With the queue of the job's project, wherever that is.
    pub(crate) fn of(job: &Job) -> Result<Self, RunnerError> {
        Self::with_server(&job.state, &job.queue_server)
    }

    pub(crate) fn with_server(state: &Path, server: &QueueServer) -> Result<Self, RunnerError> {
        let mut run_store = Self::open(state)?;
        if let Some(open) = &server.0 {
            run_store.server = Some(open(&mut run_store.store)?);
        }
        Ok(run_store)
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    pub(crate) fn queue(&mut self) -> Queue<'_> {
        let queue: Queue<'_> = Queue::new(&mut self.store, host::clock_reading::moment);
        match &mut self.server {
            Some(server) => queue.on(server.as_mut()),
            None => queue,
        }
    }

    /// How the queue stands now. What was let go of while its server was away is said first: it would be waited for until
    /// its lease ends.
    pub(crate) fn look(&mut self, project: &str) -> Result<QueueLook, QueueError> {
        let look = self.queue().look(project)?;
        if self.away.is_none() {
            return Ok(look);
        }
        // Where that does not get through, a daemon says it.
        let _ = self.queue().say_owed(&mut SharedRound::default());
        self.queue().look(project)
    }

    /// The queue was seen, and stood like this.
    pub(crate) fn saw(&mut self, mark: u64) {
        self.seen = mark;
        if self.away.take().is_some() {
            self.news.push("the server of the queue is reached again".to_string());
        }
    }

    /// Its server could not be asked: nothing is known of the queue, and it counts as it last stood. Said once.
    pub(crate) fn missed(&mut self, why: &QueueError) -> u64 {
        if self.away.replace(why.to_string()).is_none() {
            self.news.push(format!("{why}; the loop waits for it, and counts nothing"));
        }
        self.seen
    }

    /// Tasks of a shared queue that nobody here is given, because this machine's own queue has unfinished ones of their names.
    pub(crate) fn queued_here(&self, project: &str) -> Result<Vec<String>, RunnerError> {
        Ok(if self.server.is_some() { self.store.own_unfinished(project)? } else { Vec::new() })
    }

    /// They could be claimed, were they not queued here. Said once.
    pub(crate) fn found_queued_here(&mut self, slugs: &[&str]) {
        let new: Vec<&str> =
            slugs.iter().copied().filter(|slug| self.queued_here.insert((*slug).to_string())).collect();
        if !new.is_empty() {
            self.news.push(format!(
                "nobody here is given {} of the shared queue: this machine's own queue of the project has unfinished tasks of \
                 the same name; `taut shared import` moves them to the server",
                model::text::line(&new.join(", "), 200)
            ));
        }
    }

    /// What is to be said since this was last asked.
    pub(crate) fn take_news(&mut self) -> Vec<String> {
        std::mem::take(&mut self.news)
    }

    pub(crate) fn register(&mut self, project: &str, runner: ClientProcess) -> Result<String, RunnerError> {
        Ok(self.queue().register(project, runner, &pipeline::queue::hostname())?.id)
    }

    /// An agent whose loop was killed. What it started may outlive it for a moment, and claim once more in its name.
    pub(crate) fn gave_up(&mut self, agent: &str) {
        self.gone.push(agent.to_string());
    }

    /// What was claimed in the name of an agent that is gone goes back, and need not wait for its lease.
    pub(crate) fn take_back(&mut self) {
        for agent in self.gone.clone() {
            // A database that is busy now is asked again with the next look.
            let _ = self.release(&agent);
        }
    }

    /// What the agent did not finish goes back; nothing where its hook had done so.
    pub(crate) fn release(&mut self, agent: &str) -> Result<Vec<String>, RunnerError> {
        Ok(self.queue().release_all(agent, SESSION_EXITED)?)
    }

    pub(crate) fn keep(&mut self, agent: &str, leader: ClientProcess) -> Result<usize, RunnerError> {
        Ok(self.queue().keep_all(agent, leader)?)
    }

    pub(crate) fn deregister(&mut self, agent: &str) -> Result<(), RunnerError> {
        self.queue().deregister(agent)?;
        Ok(())
    }

    pub(crate) fn save(&mut self, run: &Run) -> Result<(), RunnerError> {
        Ok(self.store.save_run(run)?)
    }

    pub(crate) fn save_iteration(&mut self, iteration: &Iteration) -> Result<(), RunnerError> {
        Ok(self.store.save_iteration(iteration)?)
    }

    /// A wish that nobody heard was of a run that is over, not of the one that goes on.
    pub(crate) fn drop_wish(&mut self, run: &str) -> Result<(), RunnerError> {
        self.store.take_wish(run)?;
        Ok(())
    }

    /// The agent asked for a fresh context, or ran out of it.
    pub(crate) fn wants_restart(&self, agent: &str, since: Ms) -> bool {
        self.store.restart_asked(agent, since).unwrap_or(false)
    }

    /// Its context was full, and its session ended for that.
    pub(crate) fn ran_full(&self, agent: &str, since: Ms) -> bool {
        let last = SessionFilter { agent: Some(agent.to_string()), project: None, only_open: false, limit: 3 };
        let full = |session: &model::session::Session| {
            session.end_reason.as_deref() == Some(CONTEXT_LIMIT) && session.ended_at.is_some_and(|at| at >= since)
        };
        self.store.released_for(agent, CONTEXT_LIMIT, since).unwrap_or(false)
            || self.store.sessions(&last).is_ok_and(|sessions| sessions.iter().any(full))
    }

    pub(crate) fn claim_one(&mut self, project: &str, slug: &str, agent: &str, ms: i64) -> Result<Task, RunnerError> {
        Ok(self.queue().claim_one(project, slug, &Claimant::agent(agent, ms))?.task)
    }

    pub(crate) fn renew(&mut self, project: &str, slug: &str, agent: &str) -> Result<(), RunnerError> {
        self.queue().renew(project, slug, &actor(agent), LEASE_MS)?;
        Ok(())
    }

    /// What an agent holds goes back with this reason.
    pub(crate) fn release_for(&mut self, agent: &str, reason: &str) -> Result<Vec<String>, RunnerError> {
        Ok(self.queue().release_all(agent, reason)?)
    }

    /// What an agent holds goes back, and nothing is counted against it, nor what it let go of since then.
    pub(crate) fn hand_back(
        &mut self,
        agent: &str,
        reason: &str,
        since: Option<Ms>,
    ) -> Result<Vec<String>, RunnerError> {
        Ok(self.queue().hand_back_all(agent, reason, since)?)
    }

    pub(crate) fn fail(&mut self, project: &str, slug: &str, agent: &str, why: &str) -> Result<(), RunnerError> {
        self.queue().fail(project, slug, &actor(agent), why)?;
        Ok(())
    }

    /// A branch is merged: its task is done, also where its proposal lapsed before and it is held alone.
    pub(crate) fn confirm_task(&mut self, project: &str, slug: &str, agent: &str) -> Result<(), RunnerError> {
        if self.queue().confirm(project, slug, agent).is_err() {
            self.queue().done(project, slug, &actor(agent), serde_json::Value::Null)?;
        }
        Ok(())
    }

    pub(crate) fn refute_task(&mut self, project: &str, slug: &str, agent: &str, why: &str) -> Result<(), RunnerError> {
        Ok(self.queue().refute(project, slug, agent, why)?)
    }

    /// Out of the queue, until a person says otherwise.
    pub(crate) fn quarantine(&mut self, project: &str, slug: &str) -> Result<(), RunnerError> {
        let change = TaskChange { status: Some(TaskStatus::Quarantined), ..TaskChange::default() };
        Ok(self.queue().update(project, slug, &change, &Speaker::Person)?)
    }

    pub(crate) fn create(&mut self, project: &str, plan: &TaskPlan) -> Result<(), RunnerError> {
        Ok(self.queue().create(project, plan, &Speaker::Person)?)
    }

    pub(crate) fn describe(&mut self, project: &str, slug: &str, text: Option<String>) -> Result<(), RunnerError> {
        let edit = TaskEdit { description: text, ..TaskEdit::default() };
        let change = TaskChange { edit, ..TaskChange::default() };
        Ok(self.queue().update(project, slug, &change, &Speaker::Person)?)
    }

    /// The names that a process registered and nobody took off the list.
    pub(crate) fn registered_by(&self, process: ClientProcess) -> Result<Vec<String>, RunnerError> {
        let alive = self.store.workers_alive()?.into_iter();
        Ok(alive.filter(|worker| worker.process == process).map(|worker| worker.id).collect())
    }

    pub(crate) fn save_branch(&mut self, branch: &TaskBranch) -> Result<(), RunnerError> {
        Ok(self.store.save_branch(branch)?)
    }

    pub(crate) fn drop_branch(&mut self, task: i64) -> Result<(), RunnerError> {
        Ok(self.store.drop_branch(task)?)
    }

    pub(crate) fn wish(&mut self, run: &str, wish: RunWish) -> Result<bool, RunnerError> {
        Ok(self.store.wish_of_run(run, wish)?)
    }

    pub(crate) fn settle(&self) {
        let _ = self.store.settle();
    }

    /// What somebody asked of this run; nothing where the database is busy.
    pub(crate) fn take_wish(&mut self, run: &str) -> Option<RunWish> {
        self.store.take_wish(run).unwrap_or_default()
    }

    /// The newest task that this agent worked on since then.
    pub(crate) fn last_task(&self, project: &str, agent: &str, since: Ms) -> Option<String> {
        self.store.last_task_of(project, agent, since).unwrap_or_default()
    }

    /// A hook let go of what the agent held, because it ended.
    pub(crate) fn left_unsettled(&self, agent: &str, since: Ms) -> bool {
        self.store.released_for(agent, SESSION_ENDED, since).unwrap_or(false)
    }

    /// In words, that the agent was stopped since then, because the lease of its task was over or unsure.
    pub(crate) fn stopped_for_lease(&self, agent: &str, since: Ms) -> Option<String> {
        let StoppedFor { slug, queue, is_lost } = self.store.stopped_for(agent, since).unwrap_or_default()?;
        Some(if is_lost {
            format!(
                "agent {agent} was stopped: its lease of task {slug} is over on the server of the queue {queue}, and another \
                 has the task or may be given it"
            )
        } else {
            format!(
                "agent {agent} was stopped: the server of the queue {queue} was not reached for so long that another may \
                 have task {slug} by now"
            )
        })
    }

    pub(crate) fn any_task_is_verified(&self, project: &str) -> bool {
        self.store.any_task_is_verified(project).unwrap_or(false)
    }

    pub(crate) fn proposals(&mut self, agent: &str) -> Result<Vec<TaskProposal>, RunnerError> {
        Ok(self.queue().proposals(agent)?)
    }

    pub(crate) fn confirm(&mut self, proposal: &TaskProposal) -> Result<(), RunnerError> {
        Ok(self.queue().confirm(&proposal.project, &proposal.slug, &proposal.agent)?)
    }

    pub(crate) fn mark_proven(&mut self, proposal: &TaskProposal) -> Result<(), RunnerError> {
        Ok(self.queue().proposal_proven(&proposal.project, &proposal.slug, &proposal.agent)?)
    }

    pub(crate) fn refute(&mut self, proposal: &TaskProposal, reason: &str) -> Result<(), RunnerError> {
        Ok(self.queue().refute(&proposal.project, &proposal.slug, &proposal.agent, reason)?)
    }
}

/// The loop acts for its own workers.
fn actor(agent: &str) -> Actor {
    Actor { agent: agent.to_string(), attempt: None, token: None, speaker: Speaker::agent(agent) }
}
