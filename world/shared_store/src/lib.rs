//! The shared store: queue, fleet, messages and record on PostgreSQL, for several machines. The only opener of a
//! server; no SQL leaves this crate, and no hook enters it.

mod connection;
mod credentials;
mod dial;
mod fleet_server;
mod link;
mod messages;
mod migrate;
mod presence;
mod queue;
mod record;
mod record_query;
mod server_error;
mod service;
mod statement;
mod target;
mod tls;
mod tls_stream;
mod url;
mod wire;

pub use connection::{Connection, InTransaction, Patience, Rows, Transaction};
pub use fleet_server::FleetServer;
pub use link::{Link, LocalClock};
pub use messages::WaitingMessage;
pub use migrate::{Migrated, SPEAKS, Schema, ServerVersion, grant_record, migrate, version};
pub use presence::{AgentPresence, FleetAgent, Heartbeat, Seen};
pub use queue::{Machine, PgQueue, queue_statement};
pub use record::{MOST_BYTES, MOST_EVENTS, SentEvent};
pub use record_query::{RecordFound, RecordProject, RecordQuery, RecordSum, RecordSums, RecordedEvent};
pub use server_error::FlightError;
pub use statement::Statement;
pub use target::{ServerEnvironment, ServerTarget, TargetWish, UrlPlace};
// Shorter where nothing else is a target.
pub use target::{ServerEnvironment as Surroundings, ServerTarget as Target};
