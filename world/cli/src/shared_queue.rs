//! Whether anything is on a server, for a command: by the user's file, or by what the user's environment says to this very
//! command. Never by a repository, which only names its queue.

use crate::error::CliError;
use crate::printer::{Printer, text};
use host::paths::PathVariables;
use pipeline::{SettingsSource, SharedServer, SharedSettings};
use service::ProjectQueue;
use service::shared_sync::{SyncWish, sync};
use service::shared_target::{around_command, shared_target};
use shared_store::{Connection, Patience, Schema};
use std::path::Path;
use std::time::Duration;
use store::{OutboxStanding, Store};

/// So long a process that has ended its work stays for its last words.
const LAST_WORDS: Duration = Duration::from_secs(10);

/// A larger configuration is none.
const LARGEST: u64 = 1024 * 1024;

/// Nothing is connected to; `None` where nothing is shared, which is usual.
pub fn of_project(project: &str, places: &PathVariables, store: &mut Store) -> Result<Option<ProjectQueue>, CliError> {
    let Some(shared) = settings(project, places)? else { return Ok(None) };
    // Remembered for when another branch is checked out; a store that takes no writes now forgets nothing by that.
    let _ = store.keep_queue_of(project, &shared.queue);
    Ok(Some(ProjectQueue::new(&shared, &around_command(places), store)?))
}

pub fn settings(project: &str, places: &PathVariables) -> Result<Option<SharedSettings>, CliError> {
    if !may_be_shared(places) {
        return Ok(None);
    }
    let judge = crate::commands::judge_here(Some(Path::new(project)))?;
    let section = &judge.project_policy().policy.sections.shared;
    Ok(pipeline::shared_settings(section, &places.user_config(), &host::origin::said_to_command))
}

/// The server that the user's file or environment names, whatever project this is.
pub fn server(places: &PathVariables) -> Result<Option<SharedServer>, CliError> {
    if !may_be_shared(places) {
        return Ok(None);
    }
    let judge = crate::commands::judge_here(None)?;
    let section = &judge.project_policy().policy.sections.shared;
    Ok(pipeline::shared_server(section, &places.user_config(), &host::origin::said_to_command))
}

/// What a person is told where the repository names a queue that this machine takes no part in, or names none any more: else two
/// queues would grow apart and nobody would know.
pub fn left_out(project: &str, places: &PathVariables, store: &Store) -> Result<Option<String>, CliError> {
    if !may_be_shared(places) {
        return Ok(None);
    }
    let judge = crate::commands::judge_here(Some(Path::new(project)))?;
    let section = &judge.project_policy().policy.sections.shared;
    let (file, said) = (places.user_config(), &host::origin::said_to_command);
    let Some(server) = pipeline::shared_server(section, &file, said) else { return Ok(None) };
    if section.project.is_none() {
        let before = store.queue_of(project)?.filter(|queue| server.projects.contains(queue));
        return Ok(before.map(|queue| {
            format!(
                "note: this repository's queue was {queue}, and what is checked out now names none; this is the machine's own queue. \
                 `[shared] project = \"{queue}\"` in .taut/config.toml names it"
            )
        }));
    }
    let is_asked = pipeline::shared_settings(section, &file, said).is_none();
    Ok(section.project.as_ref().filter(|_| is_asked).map(|queue| {
        format!(
            "note: this repository's queue is {queue}, in which this machine takes no part; this is the machine's own queue. \
             `taut shared connect --project {queue}` takes part"
        )
    }))
}

/// What whoever claims is told where only this command knows of the server: no daemon renews the lease.
pub fn unrenewed(project: &str, places: &PathVariables) -> Result<Option<String>, CliError> {
    let shared = settings(project, places)?.filter(|shared| shared.server.from == SettingsSource::Environment);
    Ok(shared.map(|shared| {
        format!(
            "note: only this command's environment names the server of {}: but for a loop nothing renews the lease of this claim. \
             `taut shared connect` lets the daemon do it; else `taut shared sync` does, or a longer `--lease`",
            shared.queue
        )
    }))
}

/// A connection for what is asked once, and the schema to ask it of.
pub fn connect_within(
    server: &SharedServer,
    places: &PathVariables,
    patience: Patience,
) -> Result<(Connection, Schema), CliError> {
    let said = |error: store::ServerError| CliError::failed(error.to_string());
    let target = shared_target(server, &around_command(places)).map_err(said)?;
    let schema = Schema::named(&server.schema).map_err(said)?;
    Ok((Connection::open(&target, patience).map_err(said)?, schema))
}

/// The last step of what goes away, such as the loop of a CI runner: what is owed to a server is said before its machine is
/// gone. Where it cannot be, that is said, and the leases end by themselves.
pub fn say_what_is_owed(places: &PathVariables, printer: &Printer) {
    if !may_be_shared(places) {
        return;
    }
    let Ok(report) = sync(places, SyncWish::Wait(LAST_WORDS)) else { return };
    let OutboxStanding { turns, messages, .. } = report.owed.standing;
    if report.is_shared && turns + messages > 0 {
        let why = report.done.error.map(|error| format!(" ({error})")).unwrap_or_default();
        printer.note(text!(
            "{} not said to the server yet{}; `taut shared sync --wait 1m` says it, and so does the daemon",
            crate::commands::shared::owed_words(turns, messages),
            why
        ));
    }
}

/// A look that costs next to nothing: the word stands in the user's file, or the environment names a server.
fn may_be_shared(places: &PathVariables) -> bool {
    let named = ["TAUT_DATABASE_URL", "RALPH_DB_URL"].into_iter().any(|name| std::env::var_os(name).is_some());
    let said = || sys::outside::read_text(&places.user_config(), &sys::outside::Rules::up_to(LARGEST));
    named || said().is_ok_and(|text| text.contains("shared"))
}
