//! The daemon's worker for the server: machines with homes of their own, on a real one.

mod alone;
mod answers;
mod environment;
mod fleet;
mod hostile;
mod identity;
mod machine;
mod messages;
mod owner;
mod record;
mod swapped;
mod sync;
mod tasks;
mod worker;
