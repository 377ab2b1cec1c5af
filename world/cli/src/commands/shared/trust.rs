//! `taut shared trust`: whose people may answer what agents of this machine ask. A server proves nobody, so a person compares
//! the key, once.

use super::key;
use super::{not_connected, tell};
use crate::commands::{PATIENCE, ago, open_and_take_in, stored};
use crate::error::CliError;
use crate::exit::Exit;
use crate::person;
use crate::printer::{Printer, text};
use crate::shared_queue;
use actions::remote_answer::fingerprint;
use clap::Args;
use host::machine_key;
use host::paths::PathVariables;
use model::text::line;
use serde_json::json;
use shared_store::{FleetServer, KnownMachine};
use store::{Store, TrustedMachine};

#[derive(Debug, Args)]
pub struct TrustMachineArgs {
    /// The machine: what it is called, or its id or the end of it; without it, those that are trusted are listed
    pub machine: Option<String>,
    /// Its people's answers count here no more
    #[arg(long, requires = "machine")]
    pub forget: bool,
}

/// A shorter end of an id is nobody's.
const SHORTEST: usize = 8;

pub fn run(args: &TrustMachineArgs, printer: &Printer) -> Result<Exit, CliError> {
    match (&args.machine, args.forget) {
        (None, _) => list(printer),
        (Some(typed), true) => forget(typed, printer),
        (Some(typed), false) => trust(typed, printer),
    }
}

fn list(printer: &Printer) -> Result<Exit, CliError> {
    let trusted = stored()?.map(|store| store.trusted_machines()).transpose()?.unwrap_or_default();
    for one in &trusted {
        let (shown, at) = (fingerprint(&one.key), host::clock::shown(one.at));
        if printer.json() {
            printer
                .object(&json!({"machine": one.label, "machine_id": one.machine, "fingerprint": shown, "by": one.user,
                "at": one.at.rfc3339()}));
        } else {
            printer.line(text!(
                "{} ({})  key {}  trusted by {}, {}",
                one.label.as_str(),
                one.machine.as_str(),
                shown,
                one.user.as_str(),
                at
            ));
        }
    }
    if trusted.is_empty() && !printer.json() {
        printer
            .note("no machine is trusted: what agents here ask is answered here alone; `taut shared trust <machine>`");
    }
    Ok(Exit::Ok)
}

fn forget(typed: &str, printer: &Printer) -> Result<Exit, CliError> {
    person::outside_agents("shared trust")?;
    let mut store = open_and_take_in(&PathVariables::from_process(), PATIENCE)?;
    let trusted = store.trusted_machines()?;
    let found: Vec<&TrustedMachine> = trusted.iter().filter(|one| is_meant(typed, &one.label, &one.machine)).collect();
    let [one] = found.as_slice() else {
        let why = format!("{} machines that are trusted are called `{}`", found.len(), line(typed, 80));
        return Err(CliError::not_found(why).hint("`taut shared trust` lists them; the end of an id names one"));
    };
    store.distrust_machine(&one.machine)?;
    tell(printer, text!("answers from {} count here no more", one.label.as_str()));
    Ok(Exit::Ok)
}

fn trust(typed: &str, printer: &Printer) -> Result<Exit, CliError> {
    person::required("shared trust")?;
    let places = PathVariables::from_process();
    let server = shared_queue::server(&places)?.ok_or_else(not_connected)?;
    let mut store = open_and_take_in(&places, PATIENCE)?;
    let own = service::machine(server.label.as_deref(), &mut store)?;
    let (mut connection, schema) = shared_queue::connect_within(&server, &places, key::OF_A_PERSON)?;
    let all = FleetServer::new(&mut connection, &schema).machines();
    let all = all.map_err(|error| CliError::failed(error.to_string()).hint("taut shared status --check"))?;
    drop(connection);
    let machine = meant(typed, all, &own.id)?;
    let label = line(&machine.label, 64);
    let key = machine.key.filter(|key| machine_key::is_public(key)).ok_or_else(|| {
        CliError::failed(format!("{label} has shown no key yet")).hint(format!("on {label}: `taut shared key`"))
    })?;
    tell(printer, text!("machine  {} ({}), heard of {} ago", &*label, line(&machine.id, 64), ago(machine.silent_ms)));
    tell(printer, text!("key      {}", fingerprint(&key)));
    if let Some(before) = known(&store, &machine.id)?.filter(|before| before.key != key) {
        let was = fingerprint(&before.key);
        let words = format!("it is another key than {} trusted: that was {was}", line(&before.user, 80));
        printer.note(printer.yellow(words));
    }
    tell(printer, format!("A person on {label} can then answer what agents of this machine ask, until `--forget`."));
    if !person::agrees(&format!("Does `taut shared key` on {label} show exactly this key?"))? {
        printer.note("nothing was changed");
        return Ok(Exit::Failed);
    }
    let (user, at) = (person::name(), host::clock::now());
    store.trust_machine(&TrustedMachine { machine: machine.id, label: label.clone(), key, user, at })?;
    tell(printer, format!("{label} is trusted"));
    Ok(Exit::Ok)
}

fn known(store: &Store, machine: &str) -> Result<Option<TrustedMachine>, CliError> {
    Ok(store.trusted_machines()?.into_iter().find(|one| one.machine == machine))
}

/// The one machine that is meant; never this one.
fn meant(typed: &str, all: Vec<KnownMachine>, own: &str) -> Result<KnownMachine, CliError> {
    let others: Vec<KnownMachine> = all.into_iter().filter(|one| one.id != own).collect();
    let named = |one: &KnownMachine| format!("{} ({})", line(&one.label, 64), line(&one.id, 64));
    let found: Vec<&KnownMachine> = others.iter().filter(|one| is_meant(typed, &one.label, &one.id)).collect();
    match found.as_slice() {
        [one] => Ok((*one).clone()),
        [] => {
            let known: Vec<String> = others.iter().take(8).map(named).collect();
            let known = if known.is_empty() { "no other machine".to_string() } else { known.join(", ") };
            let why = format!("the server knows no machine `{}`; it knows {known}", line(typed, 80));
            Err(CliError::not_found(why).hint("`taut shared key` on that machine shows what it is called"))
        }
        several => {
            let several: Vec<String> = several.iter().map(|one| named(one)).collect();
            Err(CliError::not_found(format!("`{}` may be any of {}", line(typed, 80), several.join(", ")))
                .hint("name one by its id"))
        }
    }
}

fn is_meant(typed: &str, label: &str, id: &str) -> bool {
    label.eq_ignore_ascii_case(typed) || id == typed || (typed.len() >= SHORTEST && id.ends_with(typed))
}
