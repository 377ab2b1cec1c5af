//! The memory of Taut: the only opener of the database. Verbs over the words of
//! `model`; no SQL leaves this crate.

mod agents;
mod check;
mod checkpoint;
mod efforts;
mod error;
mod events;
#[cfg(feature = "fill")]
pub mod fill;
mod fleet;
mod ingest;
mod injections;
mod lock;
mod messages;
mod meta;
mod migrate;
mod notices;
mod open;
mod pending;
mod place;
#[cfg(test)]
mod plans;
mod projects;
mod prune;
mod repair;
mod reserve;
mod runs;
mod salvage;
mod sessions;
mod spool;
mod spool_line;
mod store;
mod strikes;
mod tasks;
mod timeline;
mod tx;
mod unstored;
mod wakes;

pub use agents::Focus;
pub use check::Report;
pub use checkpoint::Log;
pub use efforts::{Asked, Collected, EffortFilter, Whose};
pub use error::Error;
pub use events::EventFilter;
pub use fleet::{Glance, Member, Running, TaskTotals};
pub use ingest::{Ingested, UNREADABLE};
pub use messages::{Letter, MessageFilter};
pub use migrate::SCHEMA;
pub use open::OLDEST_SQLITE;
pub use pending::Pending;
pub use place::{DATABASE, Standing};
pub use projects::Project;
pub use prune::{Pruned, Retention};
pub use repair::{Repair, repair};
pub use reserve::RESERVE;
pub use salvage::Salvaged;
pub use sessions::SessionFilter;
pub use spool::{SPOOL, spool};
pub use spool_line::PENDING;
pub use store::{Durability, Store};
pub use tasks::{Edit, Lapsed, TaskFilter, Waiting};
pub use timeline::Point;
pub use tx::Tx;
pub use unstored::{Unstored, Why, note_unstored, unstored};
pub use wakes::Sleeper;
