//! The fleet on a real database: what agents' statuses are, event by event.

mod changes;
mod clients;
mod facts;
mod messages;
mod notify;
mod status;
mod workers;
