//! The way of an event: the one place that knows the order in which an event is
//! decoded, looked into, judged, stored and answered. The daemon, the hook that
//! finds no daemon, RPC and the corpus tests all go this way.

mod by_hand;
mod commit;
mod degraded;
mod explain;
mod law;
mod measure;
mod memory;
mod orphans;
mod prepare;
pub mod queue;
mod replay;
mod rpc;
mod scene;
mod settings;
mod stamp;
mod way;

pub use by_hand::{Carried, Hand, HandError, found_done};
pub use explain::Judge;
pub use law::{Law, Laws};
pub use measure::Reading;
pub use replay::{TakenIn, take_in};
pub use rpc::{Caller, RpcError, methods, rpc};
pub use way::{Served, Setting, Way};
