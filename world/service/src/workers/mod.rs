//! The background workers of the daemon. Each reads the store anew and acts on what is there: none of them is needed
//! for an answer, and what one missed it finds at its next look.

mod client_watch;
mod context_monitor;
pub mod notifier;
pub mod pane_painter;
mod reaper;
mod recall_indexer;
mod session_facts;
pub mod shared;
mod store_maintenance;
pub mod telemetry;
mod waker;

pub(crate) use client_watch::follow as follow_clients;
pub use pane_painter::Switched;

use daemon::PeriodicTask;
use pipeline::PipelineSetup;
use shared::SharedWorker;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use store::{Error, Store, StoreHandle};

/// Those who carry news of the fleet on, and who follows clients beside their hooks: they are woken when a status
/// changes or a message is sent.
pub(crate) fn woken(setting: &PipelineSetup, switched: &Switched) -> Vec<PeriodicTask> {
    let mut tasks = vec![notifier::task(setting), pane_painter::task(setting, switched), waker::task(setting)];
    let told = tasks.iter().map(|task| task.wake.clone()).collect();
    tasks.push(client_watch::task(setting, told));
    tasks
}

/// Those who only look after the time.
pub(crate) fn alone(setting: &PipelineSetup, shared: SharedWorker) -> Vec<PeriodicTask> {
    let mut tasks = vec![
        store_maintenance::task(setting.clone()),
        reaper::task(setting, shared),
        context_monitor::task(setting.clone()),
        recall_indexer::task(setting),
        session_facts::task(setting),
    ];
    tasks.extend(telemetry::task(setting));
    tasks
}

/// The connection of a worker, which is of the file that stands there now.
struct WorkerStore {
    worker: &'static str,
    state: PathBuf,
    handle: StoreHandle,
}

impl WorkerStore {
    fn new(worker: &'static str, state: &Path) -> Self {
        Self { worker, state: state.to_path_buf(), handle: StoreHandle::default() }
    }

    fn with<T, E: From<Error> + Display>(&mut self, work: impl FnOnce(&mut Store) -> Result<T, E>) -> Result<T, E> {
        let open = || Store::open_and_migrate(&self.state, PipelineSetup::HOOK_PATIENCE);
        let done = self.handle.get(open).map_err(E::from).and_then(work);
        if let Err(error) = &done {
            tracing::warn!("{}: {error}", self.worker);
            // A connection that failed is not kept: the file may be damaged or gone.
            self.handle.close();
        }
        done
    }
}
