//! The fleet on a real database: what agents' statuses are, event by event.

#[path = "../pipeline/stage.rs"]
#[expect(dead_code, reason = "the stage serves the other tests too")]
mod stage;

mod changes;
mod messages;
mod notify;
mod status;
mod workers;
