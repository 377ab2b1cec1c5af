//! The way of an event, walked in process on a real database in a throw-away home.

mod corpus;
mod mutation;
mod once;
mod place;
mod secrets;
mod session;
mod stage;
mod state;
mod twins;
