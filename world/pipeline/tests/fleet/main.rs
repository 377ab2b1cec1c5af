//! The fleet on a real database: what agents' statuses are, event by event.

#[path = "../way/stage.rs"]
#[expect(dead_code, reason = "the stage serves the other tests too")]
mod stage;

mod changes;
mod messages;
mod notify;
mod status;
mod workers;
