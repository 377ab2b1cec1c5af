//! What the daemon does: it answers calls through the pipeline, and its background workers act on what was stored.

mod daemon_service;
mod launch;
pub mod log;
mod project_queue;
pub mod shared_sync;
pub mod shared_target;
pub mod webhooks;
pub mod workers;

pub use daemon_service::{DaemonService, WokenWorkers};
pub use launch::{
    after_in_process, build, ensure_daemon, follow_clients, launch, setting, start_again, sync_in_background,
    tell_daemon, tell_daemon_of_a_switch, tell_in_background, without_daemon,
};
pub use project_queue::{ProjectQueue, machine};

use daemon::{DaemonEnd, DaemonOptions, RunError};
use pipeline::PipelineSetup;
use workers::Switched;

/// Serves as the daemon of `setting`, with all its background workers, until it is not wanted any more.
///
/// # Errors
/// As those of [`daemon::run`].
pub fn run(setting: &PipelineSetup) -> Result<DaemonEnd, RunError> {
    host::programs::are_of(&setting.home);
    let switched = Switched::default();
    let woken = workers::woken(setting, &switched);
    let mut wakes: Vec<_> = woken.iter().map(|task| task.wake.clone()).collect();
    let nudge = workers::shared::Nudge::default();
    let shared = workers::shared::SharedWorker::new(setting, nudge.clone(), wakes.clone());
    wakes.push(nudge.wake());
    let mut options = DaemonOptions::new(&setting.state, build());
    options.log = log::options();
    options.ticks = workers::alone(setting, shared);
    options.ticks.extend(woken);
    let setting = setting.clone();
    let woken = WokenWorkers { wakes, switched, shared: nudge };
    daemon::run(options, move || DaemonService::new(setting.clone(), woken.clone()))
}
