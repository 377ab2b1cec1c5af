//! What the daemon serves, and what follows an answer, in the daemon or out of it.

use crate::painter::Switched;
use daemon::{Build, DaemonLaunch, DaemonOptions, PeerLimits, PeriodicTask, RpcFault, Service, Signals, Wake};
use host::paths::PathVariables;
use model::effect::After;
use model::{Answer, Call};
use pipeline::{Pipeline, PipelineSetup, RpcError};
use serde_json::Value;
use std::ffi::OsString;
use std::time::Duration;

/// Ends by itself after so long without work.
const IDLE_EXIT: Duration = Duration::from_secs(30 * 60);

pub fn setting(places: &PathVariables) -> PipelineSetup {
    PipelineSetup {
        state: places.state(),
        home: places.home(),
        user_config: places.user_config(),
        patience: PipelineSetup::HOOK_PATIENCE,
        dialects: agents::ALL,
    }
}

pub fn build() -> Build {
    Build::of_this(u32::try_from(store::SCHEMA).unwrap_or_default())
}

/// Those who carry news of the fleet on: they are woken when a status changes
/// or a message is sent, read the store and act on what is there.
pub fn workers(setting: &PipelineSetup, switched: &Switched) -> Vec<PeriodicTask> {
    vec![crate::notifier::tick(setting), crate::painter::tick(setting, switched), crate::waker::tick(setting)]
}

pub fn options(setting: &PipelineSetup, workers: Vec<PeriodicTask>) -> DaemonOptions {
    let state = &setting.state;
    let mut ticks =
        vec![crate::keeper::tick(setting.clone()), crate::reaper::tick(state), crate::monitor::tick(setting.clone())];
    ticks.extend(workers);
    DaemonOptions {
        folder: state.clone(),
        build: build(),
        idle_exit: IDLE_EXIT,
        look_every: Duration::from_secs(5),
        signals: Signals::Drain,
        limits: PeerLimits::default(),
        ticks,
    }
}

pub fn launch(places: &PathVariables) -> std::io::Result<DaemonLaunch> {
    Ok(DaemonLaunch {
        folder: places.state(),
        build: build(),
        program: std::env::current_exe()?,
        args: run_line(places),
        env: host::environment::of_daemon(places),
        patience: Duration::from_secs(5),
    })
}

/// How a daemon is started: it is told where things are kept, because its
/// environment may be one that a repository has touched.
fn run_line(places: &PathVariables) -> Vec<OsString> {
    let mut line: Vec<OsString> = ["daemon", "run"].map(OsString::from).to_vec();
    let told = [("--state", places.state()), ("--home", places.home()), ("--config", places.user_config())];
    for (name, path) in told {
        line.extend([OsString::from(name), path.into_os_string()]);
    }
    line
}

/// The way, behind a socket.
pub struct DaemonService {
    pipeline: Pipeline,
    workers: Vec<Wake>,
    switched: Switched,
    /// The batch that was served last has news for them.
    news: bool,
    /// The keys of what was stored of that batch, by its places.
    stored: Vec<Option<String>>,
}

impl DaemonService {
    pub fn new(setting: PipelineSetup, workers: Vec<Wake>, switched: Switched) -> Self {
        Self { pipeline: Pipeline::new(setting), workers, switched, news: false, stored: Vec::new() }
    }
}

impl Service for DaemonService {
    fn hook_batch(&mut self, calls: Vec<Call>) -> Vec<Answer> {
        let served = self.pipeline.handle_all(calls);
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
        // Where this cannot be stored, what the client keeps of its own answer corrects it.
        let _ = self.pipeline.store().and_then(|store| store.undelivered(&keys));
    }

    fn after_answers(&mut self) {
        if std::mem::take(&mut self.news) {
            self.workers.iter().for_each(Wake::now);
        }
    }

    /// Leases are reaped here even where nobody claims.
    fn is_needed(&mut self) -> bool {
        self.pipeline.store().and_then(|store| store.holders()).is_ok_and(|holders| !holders.is_empty())
    }
}

/// Says that a command, and not a hook, has changed something.
const FLEET_CHANGED: &str = "fleet.changed";

/// Says that a tmux server was switched on: the painter may still take it for off.
const TMUX_SWITCHED: &str = "tmux.switched";

/// A command wrote what the workers and views of a daemon may want to know of.
/// They find it by themselves, only later: so nothing depends on this.
pub fn tell_daemon(places: &PathVariables) {
    tell(places, FLEET_CHANGED);
}

/// The same of a tmux server that was switched on.
pub fn tell_daemon_of_a_switch(places: &PathVariables) {
    tell(places, TMUX_SWITCHED);
}

fn tell(places: &PathVariables, method: &str) {
    const PATIENCE: Duration = Duration::from_millis(100);
    if !without_daemon() {
        let _ = daemon::Client::new(&places.state(), PATIENCE).rpc(method, &Value::Null);
    }
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

/// This daemon is stuck and about to end: another begins with the same line.
pub fn start_again() {
    if let Ok(program) = std::env::current_exe() {
        let line: Vec<OsString> = std::env::args_os().skip(1).collect();
        let env = host::environment::of_daemon(&PathVariables::from_process());
        let _ = daemon::start_in_background(&program, &line, env);
    }
}

/// The user wants no daemon to be talked to or started.
pub fn without_daemon() -> bool {
    std::env::var_os("TAUT_NO_DAEMON").is_some_and(|value| !value.is_empty() && value != "0")
}

/// Somebody is to be told of what was served: a process of its own sees to it,
/// since there is no daemon. Called when the answer is out, and not waited for.
pub fn tell_in_background(places: &PathVariables) {
    if let Ok(program) = std::env::current_exe() {
        let _ = daemon::start_in_background(
            &program,
            &crate::notifier::line(&setting(places)),
            host::environment::of_daemon(places),
        );
    }
}

/// What follows an answer given without a daemon.
pub fn after_in_process(after: &[After], places: &PathVariables) {
    if without_daemon() || !after.contains(&After::EnsureDaemon) {
        return;
    }
    if let Ok(program) = std::env::current_exe() {
        // Never waited for: the next hook will find it, or not.
        let _ = daemon::start_in_background(&program, &run_line(places), host::environment::of_daemon(places));
    }
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
