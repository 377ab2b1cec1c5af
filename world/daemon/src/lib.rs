//! The switchboard: one small process per user that answers hooks and RPC over a local socket, and its client.
//!
//! It decides nothing: a [`Service`] does, given by whoever calls [`run`]. It owns the protocol, the loop, and the
//! life of the process: that there is one and not two, that it ends by itself, and that a client which cannot reach
//! it learns so quickly and for the right reason.

pub mod client;
mod folder;
mod frame;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod log;
mod peer;
pub mod protocol;
mod pulse;
mod run;
mod serve;
mod server;
mod service;
mod signals;
mod socket;
mod spawn;
mod stamp;
mod start;
mod tick;
mod watch;
mod watcher;

pub use client::{Client, Failure};
pub use folder::{FolderError, socket_path};
pub use log::log_line;
pub use protocol::{Status, request_text};
pub use run::{Ended, Options, RunError, Signals, run};
pub use server::Limits;
pub use service::{Fault, Service};
pub use spawn::start_in_background;
pub use stamp::Build;
pub use start::{Launch, StartError, Started, Stopped, start, stop};
pub use tick::{Next, Nudge, Tick};
pub use watch::{Heard, Watch};
