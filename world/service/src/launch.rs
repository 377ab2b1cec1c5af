//! How a daemon is started, by a command or by a hook, and how it is told of what a command wrote.

use crate::daemon_service::{FLEET_CHANGED, FLEET_VIEWED, TMUX_SWITCHED};
use daemon::{Build, DaemonLaunch};
use host::paths::PathVariables;
use model::effect::After;
use pipeline::PipelineSetup;
use serde_json::Value;
use std::ffi::OsString;
use std::time::Duration;

const RUN: [&str; 2] = ["daemon", "run"];

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

pub fn launch(places: &PathVariables) -> std::io::Result<DaemonLaunch> {
    Ok(DaemonLaunch {
        folder: places.state(),
        build: build(),
        program: std::env::current_exe()?,
        args: line(&RUN, places),
        env: host::environment::of_daemon(places),
        patience: Duration::from_secs(5),
    })
}

/// The line of a process that goes on without us: it is told where things are kept, because its environment may be
/// one that a repository has touched.
fn line(words: &[&str], places: &PathVariables) -> Vec<OsString> {
    let mut line: Vec<OsString> = words.iter().map(OsString::from).collect();
    let told = [("--state", places.state()), ("--home", places.home()), ("--config", places.user_config())];
    for (name, path) in told {
        line.extend([OsString::from(name), path.into_os_string()]);
    }
    line
}

/// A command wrote what the workers and views of a daemon may want to know of.
/// They find it by themselves, only later: so nothing depends on this.
pub fn tell_daemon(places: &PathVariables) {
    call_daemon(places, FLEET_CHANGED);
}

/// The same of a tmux server that was switched on.
pub fn tell_daemon_of_a_switch(places: &PathVariables) {
    call_daemon(places, TMUX_SWITCHED);
}

fn call_daemon(places: &PathVariables, method: &str) {
    const PATIENCE: Duration = Duration::from_millis(100);
    if !without_daemon() {
        let _ = daemon::Client::new(&places.state(), PATIENCE).rpc(method, &Value::Null);
    }
}

/// This daemon is stuck and about to end: another begins with the same line.
pub fn start_again() {
    let line: Vec<OsString> = std::env::args_os().skip(1).collect();
    start(&line, &PathVariables::from_process());
}

/// Never waited for: the next hook will find it, or not.
fn start(line: &[OsString], places: &PathVariables) {
    if let Ok(program) = std::env::current_exe() {
        let env = host::environment::of_daemon(places);
        let _ = daemon::start_in_background(&places.state(), &program, line, env);
    }
}

/// The user wants no daemon to be talked to or started.
pub fn without_daemon() -> bool {
    std::env::var_os("TAUT_NO_DAEMON").is_some_and(|value| !value.is_empty() && value != "0")
}

/// Somebody is to be told of what was served: a process of its own sees to it,
/// since there is no daemon. Called when the answer is out, and not waited for.
pub fn tell_in_background(places: &PathVariables) {
    start(&line(&["notify", "deliver"], places), places);
}

/// Something waits to be said to the server that is configured, and no daemon says it: a process of its own does, and is
/// not waited for.
pub fn sync_in_background(places: &PathVariables) {
    start(&line(&["shared", "deliver"], places), places);
}

/// For a view that stays open: without a daemon nobody else follows what clients say of themselves, and a daemon that is told
/// of it asks for the agents of other machines sooner for a while.
pub fn follow_clients(places: &PathVariables) {
    const PATIENCE: Duration = Duration::from_millis(100);
    let (setting, state) = (setting(places), places.state());
    // One that is older knows of no views; it answers all the same, and so it serves.
    let is_served = move || daemon::Client::new(&state, PATIENCE).rpc(FLEET_VIEWED, &Value::Null).is_ok();
    std::thread::spawn(move || crate::workers::follow_clients(&setting, is_served));
}

/// For a command that goes on for long: a daemon looks after what it leaves. Nothing depends on it.
pub fn ensure_daemon(places: &PathVariables) {
    const PATIENCE: Duration = Duration::from_millis(100);
    if !without_daemon() && daemon::Client::new(&places.state(), PATIENCE).status().is_err() {
        start(&line(&RUN, places), places);
    }
}

/// What follows an answer given without a daemon.
pub fn after_in_process(after: &[After], places: &PathVariables) {
    if !without_daemon() && after.contains(&After::EnsureDaemon) {
        start(&line(&RUN, places), places);
    }
    if after.contains(&After::Owed) {
        sync_in_background(places);
    }
}
