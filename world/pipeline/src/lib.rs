//! The way of an event: the one place that knows the order in which an event is
//! decoded, looked into, judged, stored and answered. The daemon, the hook that
//! finds no daemon, RPC and the corpus tests all go this way.

mod call_history;
mod cli_command;
mod client_watch;
mod commit;
mod degraded;
mod explain;
mod file_rounds;
mod held_call;
mod helper_sessions;
mod judge_context;
mod late_results;
mod measure;
mod orphans;
mod own_hooks;
mod pipeline;
mod policy_cache;
mod prepare;
pub mod queue;
mod reading_cache;
mod recall;
mod recall_facts;
mod replay;
mod rpc;
mod settings;
mod shared_settings;
mod stale;
mod stamp;

pub use call_history::{CallHistory, PastCall};
pub use cli_command::{CliCommand, CliCommandError, Executed, found_done};
pub use client_watch::{ClientWatch, WatchRound};
pub use explain::Judge;
pub use held_call::HeldCall;
pub use measure::ContextReading;
pub use own_hooks::sha256;
pub use pipeline::{Pipeline, PipelineSetup, Response};
pub use policy_cache::{PolicyCache, ProjectPolicy};
pub use recall::{MemorySwitches, catch_up, recall};
pub use replay::{TakenIn, take_in};
pub use rpc::{RpcCaller, RpcError, methods, rpc, with_caller};
pub use shared_settings::{
    ServerAddress, SettingsSource, SharedServer, SharedSettings, Variables, shared_server, shared_settings,
};
pub use stale::{end_all_stale, end_stale};
