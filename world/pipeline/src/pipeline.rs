//! The way itself, and what it needs to be open.

use crate::late_results::LateResults;
use crate::own_hooks::OwnHooksCache;
use crate::policy_cache::{PolicyCache, ProjectPolicy};
use crate::prepare::{Caches, Prepared, PreparedCall, prepare};
use crate::reading_cache::ReadingCache;
use crate::{commit, degraded};
use agents::{Dialect, Dialects};
use engine::CheckpointWish;
use model::effect::After;
use model::row::Event;
use model::{AgentProfile, Answer, Call};
use policy::OnFailure;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::Duration;
use store::{Error, Repair, Store, StoreHandle};

/// Where a way leads.
#[derive(Debug, Clone)]
pub struct PipelineSetup {
    /// The folder of the database.
    pub state: PathBuf,
    pub home: PathBuf,
    pub user_config: PathBuf,
    /// How long a blocked database is waited for.
    pub patience: Duration,
    /// The agents that are understood.
    pub dialects: Dialects,
}

impl PipelineSetup {
    /// The dialect a call is made in; a caller that names no agent means the usual one.
    pub(crate) fn dialect(&self, call: &Call) -> Option<&'static Dialect> {
        if call.agent.is_empty() { Some(agents::DEFAULT) } else { self.dialects.find(&call.agent) }
    }

    /// The agent that makes a call. Where none is known of that name nothing is decided for it.
    pub(crate) fn agent(&self, call: &Call) -> &'static AgentProfile {
        self.dialect(call).unwrap_or(agents::DEFAULT).profile
    }

    /// What a blocked database may cost a hook.
    pub const HOOK_PATIENCE: Duration = Duration::from_millis(300);
}

/// What came of a call.
#[derive(Debug, Clone, Default)]
pub struct Response {
    pub answer: Answer,
    /// What was stored of it; `None` for a call that had been answered before.
    pub event: Option<Event>,
    pub after: Vec<After>,
    /// What went wrong on the way, for the log. The answer stands all the same.
    pub troubles: Vec<String>,
    /// To be made before the answer is given, by the process that the agent waits for.
    pub checkpoint: Option<CheckpointWish>,
    /// Nothing was decided or stored: the caller has to serve the call, since a checkpoint must be made for it.
    pub handed_back: bool,
    /// What was decided besides, for who called the hook as a method.
    pub report: Option<Box<engine::memory::RpcReport>>,
}

/// An open way. Holds the database and the compiled policy between calls.
pub struct Pipeline {
    pub(crate) setting: PipelineSetup,
    pub(crate) caches: Caches,
    pub(crate) late: LateResults,
    store: StoreHandle,
}

impl Pipeline {
    /// Nothing is opened yet: a call is judged before the database is touched.
    pub fn new(setting: PipelineSetup) -> Self {
        Self {
            caches: Caches {
                policies: PolicyCache::new(setting.user_config.clone(), setting.state.clone()),
                readings: ReadingCache::default(),
                own_hooks: OwnHooksCache::default(),
            },
            setting,
            late: LateResults::default(),
            store: StoreHandle::default(),
        }
    }

    pub fn handle(&mut self, call: Call) -> Response {
        self.handle_all(vec![call]).pop().unwrap_or_default()
    }

    /// Like `handle`, and shows what would be answered and kept if nothing could
    /// be stored as soon as that is known.
    pub fn handle_with(&mut self, call: Call, early: impl FnOnce(Response)) -> Response {
        let prepared = self.prepare_safely(call);
        early(degraded::served(&prepared));
        self.finish_after_results(vec![prepared]).pop().unwrap_or_default()
    }

    /// Several calls that arrived together share one transaction.
    pub fn handle_all(&mut self, calls: Vec<Call>) -> Vec<Response> {
        let prepared = calls.into_iter().map(|call| self.prepare_safely(call)).collect();
        self.finish_after_results(prepared)
    }

    /// The same for a process that makes no checkpoints: calls that need one are handed back.
    pub fn handle_or_hand_back(&mut self, calls: Vec<Call>) -> Vec<Response> {
        let mut prepared: Vec<Prepared> = calls.into_iter().map(|call| self.prepare_safely(call)).collect();
        prepared.iter_mut().for_each(|one| one.hands_back = true);
        self.finish_after_results(prepared)
    }

    /// What is answered when the call could not be looked into in time: its words are judged alone, and that is
    /// no reason to let it pass. Nothing is opened but the user's own configuration.
    pub fn judge_unseen(call: Call, setting: &PipelineSetup, why: &str) -> Response {
        degraded::served(&Prepared::unseen(call, setting, why))
    }

    /// The same where not even that could be had in time.
    pub fn undecided(call: Call, setting: &PipelineSetup, why: &str) -> Response {
        degraded::served(&Prepared::undecided(call, setting, why, OnFailure::default()))
    }

    /// A defect of ours must not stop the agent, and must not open the guard.
    pub(crate) fn prepare_safely(&mut self, call: Call) -> Prepared {
        let spare = call.clone();
        let prepared = catch_unwind(AssertUnwindSafe(|| prepare(call, &self.setting, &mut self.caches)));
        prepared.unwrap_or_else(|_| {
            const WHY: &str = "Taut failed while reading it";
            let on_failure = ProjectPolicy::of_user(&self.setting.user_config, &spare.cwd).policy.on_failure;
            Prepared::undecided(spare, &self.setting, WHY, on_failure)
        })
    }

    fn finish_after_results(&mut self, prepared: Vec<Prepared>) -> Vec<Response> {
        self.results_before(&prepared);
        self.finish(prepared)
    }

    pub(crate) fn finish(&mut self, mut prepared: Vec<Prepared>) -> Vec<Response> {
        let mut served: Vec<Option<Response>> = prepared.iter().map(|_| None).collect();
        let mut trouble = self.store_all(&mut prepared, &mut served);
        if trouble.is_some() && prepared.len() > 1 {
            // One call may have spoilt it for the others: each on its own, then.
            for (one, done) in prepared.iter_mut().zip(&mut served) {
                trouble = self.store_all(std::slice::from_mut(one), std::slice::from_mut(done)).or(trouble);
            }
        }
        let why = trouble.unwrap_or_default();
        let state = &self.setting.state;
        let rest = prepared.iter().zip(served);
        let served = rest.map(|(one, done)| {
            done.map(|done| written(one, done)).unwrap_or_else(|| degraded::serve(one, state, &why))
        });
        served.collect()
    }

    /// `None` when all went well.
    fn store_all(&mut self, prepared: &mut [Prepared], served: &mut [Option<Response>]) -> Option<String> {
        let mut trouble = match self.try_to_store(prepared, served) {
            Ok(()) => return None,
            Err(trouble) => trouble,
        };
        self.store.close();
        if trouble.is_corrupt() && self.repair() {
            match self.try_to_store(prepared, served) {
                Ok(()) => return None,
                Err(second) => trouble = second,
            }
            self.store.close();
        }
        Some(trouble.to_string())
    }

    fn try_to_store(&mut self, prepared: &mut [Prepared], served: &mut [Option<Response>]) -> Result<(), Error> {
        catch_unwind(AssertUnwindSafe(|| commit::commit(self.store()?, prepared, served)))
            .unwrap_or_else(|_| Err(Error::Refused("Taut failed while storing this call".to_string())))
    }

    /// A damaged file is moved aside so that the work goes on in a fresh one;
    /// `taut db check` brings back what is readable.
    fn repair(&self) -> bool {
        let now = host::clock::now();
        let repaired = store::repair(&self.setting.state, now, self.setting.patience);
        matches!(repaired, Ok(Repair::MovedAside(_) | Repair::Sound))
    }

    /// Keeps the log short where no daemon does. Called when the answer is out.
    pub fn settle(&mut self) {
        if let Some(store) = self.store.current() {
            let _ = store.settle();
        }
    }

    pub fn store(&mut self) -> Result<&mut Store, Error> {
        self.store.get(|| Store::open(&self.setting.state, self.setting.patience))
    }
}

/// The files that follow from what was committed.
fn written(prepared: &Prepared, mut served: Response) -> Response {
    if let PreparedCall::Event(event) = &prepared.parsed_call
        && !served.after.is_empty()
    {
        served.troubles.extend(host::artifacts::write(&served.after, &event.roots()));
    }
    served
}
