//! `taut shared disconnect`: this machine takes part no more. What is owed is said first where the server is there; what is
//! not said stays here, and is said when somebody connects to the same server again.

use super::import::Here;
use super::reach::{self, owed_words};
use super::sync::{self, SaidThere};
use super::{AgreeArgs, export, secret_file, tell, tell_diff};
use crate::commands::{counted, open_and_take_in};
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, text};
use crate::user_config::{self, ConfigChange};
use host::paths::PathVariables;
use pipeline::SharedServer;
use serde_json::json;
use service::shared_target::around_command;
use shared_store::FleetServer;
use store::Store;

pub fn run(agree: AgreeArgs, printer: &Printer) -> Result<Exit, CliError> {
    agree.person("shared disconnect")?;
    let places = PathVariables::from_process();
    let change = user_config::plan(|config| {
        config.remove("shared");
        Ok(())
    })?;
    if change.diff().is_empty() {
        if printer.json() {
            printer.object(&json!({"changed": false}));
        } else {
            printer.line("this machine shares nothing; nothing to change");
        }
        return Ok(Exit::Ok);
    }
    let mut store = open_and_take_in(&places, crate::commands::PATIENCE)?;
    // A section that names no server has nobody to be told anything.
    let server = configured(&places)?;
    let told = match &server {
        Some(server) if !agree.dry_run => said_first(server, &places, &mut store)?,
        _ => SaidThere::default(),
    };
    show(&told, &store, printer)?;
    if !agree.yes && !agree.dry_run && told.away.is_none() && server.is_some() {
        offer_copy(agree, printer)?;
    }
    tell_diff(printer, &change.diff());
    if agree.dry_run {
        return Ok(Exit::Ok);
    }
    if !agree.agrees(&format!("Change {} as shown above?", change.file.display()))? {
        printer.note("nothing was changed");
        return Ok(Exit::Failed);
    }
    if let Some(server) = server.as_ref().filter(|_| told.away.is_none()) {
        gone(server, &places, &store);
    }
    change.write()?;
    store.forget_shared_state()?;
    done(&change, &store, &places, printer)
}

/// As the user's own file says it: what the environment names is not disconnected from by a change of that file.
fn configured(places: &PathVariables) -> Result<Option<SharedServer>, CliError> {
    let section = crate::commands::judge_here(None)?.project_policy().policy.sections.shared.clone();
    Ok(pipeline::shared_server(&section, &places.user_config(), &|_| None))
}

/// What is owed, said now. Who is away is told later, or never: that is said, and no reason to stay.
fn said_first(server: &SharedServer, places: &PathVariables, store: &mut Store) -> Result<SaidThere, CliError> {
    sync::round(server, places, store)
        .or_else(|error| Ok(SaidThere { away: Some(error.what().to_string()), ..SaidThere::default() }))
}

fn show(told: &SaidThere, store: &Store, printer: &Printer) -> Result<(), CliError> {
    if let Some(why) = &told.away {
        tell(printer, text!("the server cannot be told anything now: {}", why));
    }
    if told.said > 0 {
        tell(printer, format!("{} said to the server", counted(told.said as u64, "word")));
    }
    let owed = store.outbox_standing()?;
    if owed.turns + owed.messages > 0 {
        let waiting = owed_words(owed.turns, owed.messages);
        tell(printer, format!("owed: {waiting}; kept here until this machine connects to that server again"));
    }
    let held = store.shared_hold_count()?;
    if held > 0 {
        let words = counted(held.unsigned_abs(), "task");
        tell(
            printer,
            format!(
                "held: {words} of that queue, by agents here; nobody renews them, so others get them in some minutes"
            ),
        );
    }
    let (events, _) = store.unshipped()?;
    if events > 0 {
        tell(printer, format!("unsent: {}, which stay here", counted(events, "event")));
    }
    Ok(())
}

/// The project's tasks, for going on alone. Where it has none there, nobody is asked.
fn offer_copy(agree: AgreeArgs, printer: &Printer) -> Result<(), CliError> {
    let mut here = Here::open()?;
    if here.server.is_some() {
        export::copied(&mut here, agree, printer)?;
    }
    Ok(())
}

/// Others see no agents of this machine any more. Where that does not get through, they see it fall silent.
fn gone(server: &SharedServer, places: &PathVariables, store: &Store) {
    let leave = || -> Option<()> {
        let machine = store.known_machine().ok()??;
        let mut reached = reach::reach(server, &around_command(places)).ok()?;
        let schema = reached.schema.clone();
        FleetServer::new(&mut reached.connection, &schema).leave(&machine).ok()
    };
    let _ = leave();
}

fn done(change: &ConfigChange, store: &Store, places: &PathVariables, printer: &Printer) -> Result<Exit, CliError> {
    let owed = store.outbox_standing()?;
    let secret = places.user_config().with_file_name(secret_file::NAME);
    if printer.json() {
        printer.object(&json!({
            "file": change.file, "changed": true, "waiting": owed.turns, "messages_waiting": owed.messages,
        }));
        return Ok(Exit::Ok);
    }
    printer.line(text!("written to {}; each project has its own queue on this machine again", change.file.display()));
    if secret.symlink_metadata().is_ok() {
        printer.note(text!("hint: the password is still in {}", secret.display()));
    }
    Ok(Exit::Ok)
}
