//! The way of an event, walked in process on a real database in a throw-away home.

mod agents;
mod allow_once;
mod cards;
mod context;
mod corpus;
mod entries;
mod fleet;
mod friction;
mod home;
mod late_results;
mod memory;
mod mutation;
mod names;
mod once;
mod place;
mod queue;
mod run_files;
mod secrets;
mod session;
mod shared;
mod sleeper;
mod state;
mod twins;
