//! `taut shared key`: by which this machine's people are known where another machine trusts it. It shows what is compared,
//! and tells the server the public half.

use super::{not_connected, tell};
use crate::commands::{PATIENCE, open_and_take_in};
use crate::error::CliError;
use crate::exit::Exit;
use crate::person;
use crate::printer::{Printer, text};
use crate::shared_queue;
use actions::remote_answer::fingerprint;
use host::machine_key::MachineKey;
use host::paths::PathVariables;
use serde_json::json;
use shared_store::{FleetServer, Patience};
use std::time::Duration;

/// A person waits for this.
pub const OF_A_PERSON: Patience = Patience { connect: Duration::from_secs(5), flight: Duration::from_secs(10) };

pub fn run(printer: &Printer) -> Result<Exit, CliError> {
    person::outside_agents("shared key")?;
    let places = PathVariables::from_process();
    let server = shared_queue::server(&places)?.ok_or_else(not_connected)?;
    let mut store = open_and_take_in(&places, PATIENCE)?;
    let machine = service::machine(server.label.as_deref(), &mut store)?;
    let own = MachineKey::open_or_draw(&places.state()).and_then(|key| key.public());
    let key = own.map_err(|error| CliError::failed("this machine has no key that it could show").because(&error))?;
    let shown = fingerprint(&key);
    tell(printer, text!("machine  {} ({})", machine.label.as_str(), machine.id.as_str()));
    tell(printer, text!("key      {}", shown.as_str()));
    let (mut connection, schema) = shared_queue::connect_within(&server, &places, OF_A_PERSON)?;
    let known = FleetServer::new(&mut connection, &schema)
        .key_put(&machine.id, &key)
        .map_err(|error| CliError::failed(error.to_string()).hint("taut shared status --check"))?;
    if !known {
        return Err(CliError::failed("the server does not know this machine yet, so nobody there can trust it")
            .hint("`taut shared sync` makes it known; then `taut shared key` again"));
    }
    if printer.json() {
        printer.object(&json!({"machine": machine.label, "machine_id": machine.id, "key": key, "fingerprint": shown}));
    } else {
        printer.note(format!(
            "the server tells it on; on a machine whose agents you want to answer from here, say `taut shared trust {}`, \
             and compare",
            machine.label
        ));
    }
    Ok(Exit::Ok)
}
