//! Stops what an agent does now, as Esc at its terminal does.

use crate::{ActionError, FleetPlace, Person, record, target, typing};
use serde_json::json;
use store::Store;

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interrupted {
    /// The client says that it is at rest.
    Stopped,
    /// Esc was pressed; the client has not said yet that it stopped.
    Pressed,
}

/// Asks nobody: whoever calls it has asked.
pub fn interrupt(
    store: &mut Store,
    place: &FleetPlace,
    person: &Person,
    agent: &str,
) -> Result<Interrupted, ActionError> {
    let target = target::find(store, agent)?;
    let done = typing::press_escape(place, &target).map_err(|why| ActionError::Refused(why.to_string()))?;
    record::store(store, record::event(person, &target.agent, "interrupt", json!({}), host::clock::now()))?;
    Ok(done)
}
