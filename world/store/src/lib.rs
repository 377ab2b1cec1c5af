//! The memory of Taut: the only opener of the database. Verbs over the words of
//! `model`; no SQL leaves this crate.

mod agents;
mod error;
mod events;
mod injections;
mod lock;
mod migrate;
mod open;
mod place;
mod projects;
mod sessions;
mod store;
mod strikes;
mod tx;

pub use error::Error;
pub use events::EventFilter;
pub use migrate::SCHEMA;
pub use open::OLDEST_SQLITE;
pub use place::{DATABASE, Standing};
pub use projects::Project;
pub use sessions::SessionFilter;
pub use store::{Durability, Store};
pub use tx::Tx;
