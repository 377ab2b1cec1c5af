//! The shared store: queue, fleet, messages and record on PostgreSQL, for several machines. The only opener of a
//! server; no SQL leaves this crate, and no hook enters it.

#[cfg(not(feature = "postgres"))]
mod absent;
#[cfg(feature = "postgres")]
mod connection;
#[cfg(feature = "postgres")]
mod credentials;
#[cfg(feature = "postgres")]
mod dial;
mod fleet_server;
mod flight;
mod link;
mod messages;
mod migrate;
mod presence;
mod queue;
mod record;
mod server_error;
#[cfg(feature = "postgres")]
mod service;
mod statement;
#[cfg(feature = "postgres")]
mod target;
mod target_wish;
#[cfg(feature = "postgres")]
mod tls;
#[cfg(feature = "postgres")]
mod tls_stream;
#[cfg(feature = "postgres")]
mod url;
#[cfg(feature = "postgres")]
mod wire;

#[cfg(not(feature = "postgres"))]
pub use absent::{Connection, ServerTarget, Transaction};
#[cfg(feature = "postgres")]
pub use connection::{Connection, Transaction};
pub use fleet_server::FleetServer;
pub use flight::{InTransaction, Patience, Rows};
pub use link::{Link, LocalClock};
pub use messages::WaitingMessage;
pub use migrate::{Migrated, SPEAKS, Schema, ServerVersion, grant_record, migrate, version};
pub use presence::{AgentPresence, FleetAgent, Heartbeat, Seen};
pub use queue::{Machine, PgQueue, queue_statement};
pub use record::{MOST_BYTES, MOST_EVENTS, RecordQuery, RecordSum, RecordedEvent, SentEvent};
pub use server_error::FlightError;
pub use statement::Statement;
#[cfg(feature = "postgres")]
pub use target::ServerTarget;
pub use target_wish::{ServerEnvironment, TargetWish, UrlPlace};
// Shorter where nothing else is a target.
pub use ServerEnvironment as Surroundings;
pub use ServerTarget as Target;
