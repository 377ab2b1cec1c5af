//! The shared store: queue, fleet, messages and record on PostgreSQL, for several machines. The only opener of a
//! server; no SQL leaves this crate, and no hook enters it.

mod connection;
mod statement;

pub use connection::{Connection, Rows};
pub use statement::Statement;
