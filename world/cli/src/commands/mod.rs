//! One file per command, named as users type it.

pub mod agent;
mod agent_names;
pub mod agents;
pub mod allow;
pub mod answer;
pub mod complete;
pub mod completions;
pub mod config;
pub mod daemon;
pub mod db;
pub mod db_check;
pub mod demo;
pub mod diff;
pub mod doctor;
pub mod effort;
pub mod events;
pub mod explain;
pub mod facts;
mod fleet_record;
pub mod guard;
pub mod inbox;
pub mod init;
pub mod init_loop;
pub mod installed_hooks;
pub mod r#loop;
pub mod man;
pub mod mcp;
pub mod memory;
pub mod memory_switch;
pub mod metrics;
pub mod notify;
pub mod overview;
pub mod pause;
mod pending_forget;
pub mod policy;
mod reach;
pub mod recall;
pub mod replay;
pub mod rpc;
pub mod run;
pub mod say;
pub mod scan;
pub mod self_info;
pub mod send;
pub mod sessions;
pub mod shared;
pub mod stats;
pub mod statusline;
pub mod task;
pub mod telemetry;
pub mod tmux;
pub mod top;
pub mod trust;
pub mod ui;
pub mod undo;
pub mod uninstall;
pub mod version;

use crate::error::CliError;
use host::paths::PathVariables;
use model::Environment;
use pipeline::{Judge, RpcCaller};
use std::path::Path;
use std::time::Duration;
use store::Store;

/// How long a command waits for a locked database; a person can wait longer than a hook.
const PATIENCE: Duration = Duration::from_secs(5);

/// The database for reading. `None` when there is none yet: nothing has happened.
fn stored() -> Result<Option<Store>, CliError> {
    if !is_anything_kept(&PathVariables::from_process().state()) {
        return Ok(None);
    }
    open_and_take_in(&PathVariables::from_process(), PATIENCE).map(Some).map_err(CliError::from)
}

/// Whether something has happened: in the database, or kept aside because there was none to take it. A link that leads
/// nowhere is a database that cannot be reached, not one that never was.
fn is_anything_kept(state: &Path) -> bool {
    let files = [store::DATABASE, store::SPOOL, store::RESERVE];
    files.iter().any(|file| state.join(file).symlink_metadata().is_ok())
}

/// The database, with what was put by in bad times: events, and what they were to do.
fn open_and_take_in(places: &PathVariables, patience: Duration) -> Result<Store, store::Error> {
    let mut store = Store::open_and_migrate(&places.state(), patience)?;
    // What cannot be taken in now is kept for later, and `taut doctor` says so.
    let _ = pipeline::take_in(&mut store, &service::setting(places));
    Ok(store)
}

/// The database after a look at what clients say of themselves, so that a status is true though no daemon follows them.
fn seen(mut store: Store) -> Store {
    // Who cannot write shows what hooks have told.
    let _ = pipeline::ClientWatch::new(::agents::ALL).round(&mut store, host::clock::now());
    store
}

/// Nothing was recorded yet: because nothing was started, or because nobody would tell.
fn nothing_yet(what: &str) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    match installed_hooks::installed(&PathVariables::from_process(), &here).is_empty() {
        true => format!("no {what} yet; `taut init` installs the hooks that tell of them"),
        false => format!("no {what} yet: the hooks are there; start your agent, and it appears here"),
    }
}

/// How long ago, as a person says it.
fn ago(millis: i64) -> String {
    match millis / 1000 {
        seconds @ ..60 => format!("{seconds}s"),
        seconds @ 60..3600 => format!("{}m", seconds / 60),
        seconds @ 3600..86_400 => format!("{}h", seconds / 3600),
        seconds => format!("{}d", seconds / 86_400),
    }
}

/// So many of something: `1 event`, `2 entries`.
fn counted(count: u64, one: &str) -> String {
    match one.strip_suffix('y') {
        _ if count == 1 => format!("1 {one}"),
        Some(stem) => format!("{count} {stem}ies"),
        None => format!("{count} {one}s"),
    }
}

/// The policy of this folder, or of another.
pub(crate) fn judge_here(folder: Option<&Path>) -> Result<Judge, CliError> {
    let cwd = match folder {
        Some(folder) => std::path::absolute(folder)?,
        None => std::env::current_dir()?,
    };
    let caller = RpcCaller { cwd: cwd.to_string_lossy().into_owned(), env: Environment::default(), parent: None };
    Ok(Judge::new(service::setting(&PathVariables::from_process()), caller))
}
