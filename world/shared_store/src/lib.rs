//! The shared store: queue, fleet, messages and record on PostgreSQL, for several machines. The only opener of a
//! server; no SQL leaves this crate, and no hook enters it.

#[cfg(not(feature = "postgres"))]
mod absent;
#[cfg(feature = "postgres")]
mod connection;
#[cfg_attr(not(feature = "postgres"), expect(dead_code, reason = "the rest is asked by a connection"))]
mod credentials;
#[cfg(feature = "postgres")]
mod dial;
mod fleet_server;
mod flight;
mod given_url;
mod known_roles;
mod link;
mod machine_keys;
mod messages;
mod migrate;
mod owner;
mod presence;
mod queue;
mod record;
mod record_query;
mod server_error;
mod server_look;
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
mod url;
#[cfg(feature = "postgres")]
mod wire;

#[cfg(not(feature = "postgres"))]
pub use absent::{
    AbsentConnection as Connection, AbsentServerTarget as ServerTarget, AbsentTransaction as Transaction,
};
#[cfg(feature = "postgres")]
pub use connection::{Connection, Transaction};
pub use fleet_server::FleetServer;
pub use flight::{InTransaction, Patience, Rows};
pub use given_url::GivenUrl;
pub use known_roles::{KnownRole, known_roles};
pub use link::{LocalClock, ServerLink};
pub use machine_keys::KnownMachine;
pub use messages::WaitingMessage;
pub use migrate::{
    Migrated, MigrationFile, SPEAKS, Schema, ServerVersion, administrator_sql, migrate, migrate_with, refuse_too_old,
    version,
};
pub use owner::{
    KEEP_EVENTS_DAYS, OlderMachine, grant_record, keep_events, may_raise_oldest, older_machines, raise_oldest,
};
pub use presence::{AgentPresence, FleetAgent, MachineHeartbeat, Seen};
pub use queue::{MachineIdentity, PgQueue, queue_statement};
pub use record::{MOST_BYTES, MOST_EVENTS, SentEvent};
pub use record_query::{RecordFound, RecordProject, RecordQuery, RecordSum, RecordSums, RecordedEvent};
pub use server_error::{FlightError, NO_PASSWORD, own_words, what_helps};
pub use server_look::{ServerLook, look};
pub use statement::Statement;
#[cfg(feature = "postgres")]
pub use target::ServerTarget;
pub use target_wish::{Protection, ServerEnvironment, TargetWish, UrlPlace};
// Shorter where nothing else is a target.
pub use ServerEnvironment as Surroundings;
pub use ServerTarget as Target;
