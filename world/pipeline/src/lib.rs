//! The way of an event: the one place that knows the order in which an event is
//! decoded, looked into, judged, stored and answered. The daemon, the hook that
//! finds no daemon, RPC and the corpus tests all go this way.

mod commit;
mod degraded;
mod explain;
mod law;
mod memory;
mod prepare;
pub mod queue;
mod rpc;
mod scene;
mod settings;
mod stamp;
mod way;

pub use explain::Judge;
pub use law::{Law, Laws};
pub use rpc::{Caller, RpcError, methods, rpc};
pub use way::{Served, Setting, Way};
