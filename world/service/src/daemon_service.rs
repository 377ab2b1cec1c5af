//! What the daemon answers: calls through the pipeline, and methods.

use crate::workers::Switched;
use daemon::{RpcFault, Service, Wake};
use model::effect::After;
use model::{Answer, Call};
use pipeline::{Pipeline, PipelineSetup, Response, RpcError};
use serde_json::Value;
use tracing::Level;

/// Says that a command, and not a hook, has changed something.
pub(crate) const FLEET_CHANGED: &str = "fleet.changed";

/// Says that a tmux server was switched on: the painter may still take it for off.
pub(crate) const TMUX_SWITCHED: &str = "tmux.switched";

/// The pipeline, behind a socket.
pub struct DaemonService {
    pipeline: Pipeline,
    workers: Vec<Wake>,
    switched: Switched,
    /// The batch that was served last has news for them.
    news: bool,
    /// The keys of what was stored of that batch, by its places.
    stored: Vec<Option<String>>,
    /// What is to be logged of it, once its answers are out.
    notes: Vec<(Level, String)>,
}

impl DaemonService {
    pub fn new(setting: PipelineSetup, workers: Vec<Wake>, switched: Switched) -> Self {
        let pipeline = Pipeline::new(setting);
        Self { pipeline, workers, switched, news: false, stored: Vec::new(), notes: Vec::new() }
    }
}

impl Service for DaemonService {
    fn hook_batch(&mut self, calls: Vec<Call>) -> Vec<Answer> {
        let served = self.pipeline.handle_all(calls);
        self.notes.extend(served.iter().flat_map(notes));
        self.news |= served.iter().any(|served| served.after.iter().any(is_news));
        self.stored = served.iter().map(|served| served.event.as_ref().map(|event| event.key.clone())).collect();
        served.into_iter().map(|served| served.answer).collect()
    }

    fn rpc(&mut self, method: &str, params: Value) -> Result<Value, RpcFault> {
        if method == TMUX_SWITCHED {
            self.switched.now();
        }
        // Whatever is called may have written something; a wake for nothing costs a look.
        self.workers.iter().for_each(Wake::now);
        if matches!(method, FLEET_CHANGED | TMUX_SWITCHED) {
            return Ok(Value::Null);
        }
        let caller = pipeline::RpcCaller { cwd: "/".into(), ..pipeline::RpcCaller::default() };
        pipeline::rpc(&mut self.pipeline, method, params, caller).map_err(|error| fault(&error))
    }

    /// Who asked has given up, and decides without us: what was stored of it was not answered.
    fn undelivered(&mut self, places: &[usize]) {
        let keys = places.iter().filter_map(|place| self.stored.get(*place).cloned().flatten());
        let keys: Vec<String> = keys.collect();
        if let Err(error) = self.pipeline.store().and_then(|store| store.undelivered(&keys)) {
            // What the client keeps of its own answer corrects it.
            tracing::warn!("that an answer came too late could not be stored: {error}");
        }
    }

    fn after_answers(&mut self) {
        for (level, note) in self.notes.drain(..) {
            match level {
                Level::WARN => tracing::warn!("{note}"),
                _ => tracing::debug!("{note}"),
            }
        }
        if std::mem::take(&mut self.news) {
            self.workers.iter().for_each(Wake::now);
        }
    }

    /// Leases are reaped here even where nobody claims.
    fn is_needed(&mut self) -> bool {
        self.pipeline.store().and_then(|store| store.holders()).is_ok_and(|holders| !holders.is_empty())
    }
}

/// What went wrong with a call, and for who wants to know all of it, what came of it.
fn notes(served: &Response) -> Vec<(Level, String)> {
    let agent = served.event.as_ref().map_or("an agent", |event| &event.agent);
    let troubles = served.troubles.iter().map(|trouble| (Level::WARN, format!("a call from {agent}: {trouble}")));
    let event = served.event.as_ref().filter(|_| tracing::enabled!(Level::DEBUG)).map(|event| {
        let tool = event.tool.as_deref().unwrap_or_default();
        (Level::DEBUG, format!("{} {tool} of {agent}: {} {:?}", event.event, event.verdict.name(), event.rules))
    });
    troubles.chain(event).collect()
}

fn is_news(after: &After) -> bool {
    matches!(after, After::StatusChanged { .. } | After::Sent { .. })
}

fn fault(error: &RpcError) -> RpcFault {
    let code = match error {
        RpcError::UnknownMethod(_) => "unknown_method",
        RpcError::NotAnObject(_) => "validation_error",
    };
    RpcFault::new(code, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::queue::Claimant;
    use model::task::TaskPlan;
    use pipeline::queue::Queue;
    use std::path::Path;

    fn daemon_service(state: &Path) -> DaemonService {
        let (home, user_config) = (state.to_path_buf(), state.join("config"));
        let setting = PipelineSetup {
            state: state.to_path_buf(),
            home,
            user_config,
            patience: PipelineSetup::HOOK_PATIENCE,
            dialects: agents::ALL,
        };
        DaemonService::new(setting, Vec::new(), Switched::default())
    }

    #[test]
    fn q4_a_daemon_is_needed_as_long_as_somebody_holds_a_task() {
        let home = tempfile::tempdir().unwrap();
        let mut service = daemon_service(home.path());
        assert!(!service.is_needed());
        let store = service.pipeline.store().unwrap();
        let mut queue = Queue::new(store, host::clock_reading::moment);
        let plan = TaskPlan { slug: "t/01".into(), title: "work".into(), ..TaskPlan::default() };
        queue.create("/p", &plan).unwrap();
        let claimant = Claimant { agent: "alpha".into(), session: None, lease_ms: 600_000 };
        queue.claim_one("/p", "t/01", &claimant).unwrap();
        assert!(service.is_needed());
    }
}
