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
mod injections;
mod lock;
mod messages;
mod meta;
mod migrate;
mod notices;
mod open;
mod place;
#[cfg(test)]
mod plans;
mod projects;
mod prune;
mod repair;
mod runs;
mod salvage;
mod sessions;
mod spool;
mod store;
mod strikes;
mod tasks;
mod timeline;
mod tx;
mod wakes;

pub use agents::Focus;
pub use check::Report;
pub use checkpoint::Log;
pub use efforts::{Asked, Collected, EffortFilter, Whose};
pub use error::Error;
pub use events::EventFilter;
pub use fleet::{Glance, Member, Running, TaskTotals};
pub use messages::{Letter, MessageFilter};
pub use migrate::SCHEMA;
pub use open::OLDEST_SQLITE;
pub use place::{DATABASE, Standing};
pub use projects::Project;
pub use prune::{Pruned, Retention};
pub use repair::{Repair, repair};
pub use salvage::Salvaged;
pub use sessions::SessionFilter;
pub use spool::{Ingested, SPOOL, spool, spool_line, spool_text};
pub use store::{Durability, Store};
pub use tasks::{Dependency, Edit, Lapsed, OpenClient, TaskFilter, Waiting};
pub use timeline::Point;
pub use tx::Tx;
pub use wakes::Sleeper;
