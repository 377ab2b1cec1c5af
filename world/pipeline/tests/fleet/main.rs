//! The fleet on a real database: what agents' statuses are, event by event.

#[path = "../way/stage.rs"]
#[expect(dead_code, reason = "each binary plays a part of it")]
mod stage;

mod changes;
