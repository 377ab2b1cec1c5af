//! One small process per user that answers hooks and RPC over a local socket, and its client.
//!
//! It decides nothing: a [`Service`] does, given by whoever calls [`run`]. It owns the protocol, the loop, and the
//! life of the process: that there is one and not two, that it ends by itself, and that a client which cannot reach
//! it learns so quickly and for the right reason.

mod build;
pub mod client;
mod folder;
mod frame;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
pub mod log;
mod peer;
mod periodic;
pub mod protocol;
mod pulse;
mod run;
mod serve;
mod server;
mod service;
mod spawn;
mod start;
mod watch;
mod watcher;

pub use build::Build;
pub use client::{CallFailure, Client};
pub use folder::{FolderError, socket_path};
pub use periodic::{Next, PeriodicTask, Wake};
pub use protocol::{DaemonStatus, request_text};
pub use run::{DaemonEnd, DaemonOptions, RunError, Signals, run};
pub use server::PeerLimits;
pub use service::{RpcFault, Service};
pub use spawn::start_in_background;
pub use start::{DaemonLaunch, StartError, Started, StopResult, start, stop};
pub use watch::{Watch, WatchResult};
