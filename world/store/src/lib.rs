//! The memory of Taut: the only opener of the database. Verbs over the words of
//! `model`; no SQL leaves this crate.

mod agent_names;
mod agents;
mod allowances;
mod calls;
mod cards;
mod check;
mod checkpoint;
mod efforts;
mod error;
mod event_search;
mod event_sums;
mod events;
#[cfg(feature = "fill")]
pub mod fill;
mod fleet;
mod fleet_runs;
mod folder;
mod forget;
mod handle;
mod helper_sessions;
mod ingest;
mod injections;
mod load;
mod lock;
mod messages;
mod meta;
mod migrate;
mod notices;
mod open;
mod outbox;
mod pending;
#[cfg(test)]
mod plans;
mod policy_log;
mod projects;
mod prune;
pub mod recall;
mod repair;
mod reserve;
mod retention_clock;
mod retention_day;
mod run_list;
mod run_tasks;
mod runs;
mod salvage;
mod session_facts;
mod session_list;
mod session_look_back;
mod sessions;
mod shared_holds;
mod spool;
mod spool_line;
mod store;
mod strikes;
mod task_branches;
mod task_server;
mod tasks;
mod timeline;
mod tx;
mod unstored;
mod untold_calls;
mod wakes;

pub use agent_names::Renamed;
pub use agents::Focus;
pub use calls::CallRows;
pub use cards::CardFilter;
pub use check::CheckReport;
pub use checkpoint::CheckpointResult;
pub use efforts::{Collected, EffortFilter, PreExecutedKey};
pub use error::Error;
pub use event_search::FoundEvents;
pub use event_sums::{DayOf, EventSum, EventSums, SessionSum, SumKind, SumProgress};
pub use events::{EventFilter, SameCalls, ToldOnce};
pub use fleet::{Fleet, FleetRow, RunningTool, TaskTotals};
pub use fleet_runs::FleetRun;
pub use folder::{ConnectionState, DATABASE};
pub use forget::{ForgetCount, ForgetScope};
pub use handle::StoreHandle;
pub use ingest::{Ingested, UNREADABLE};
pub use messages::{MessageFilter, MessageRow};
pub use migrate::SCHEMA;
pub use open::OLDEST_SQLITE;
pub use outbox::{OutboxStanding, OwedTurn, RefusedTurn};
pub use pending::Pending;
pub use policy_log::{PolicyLogEntry, PolicyLogKind};
pub use projects::ProjectRow;
pub use prune::{Pruned, Retention};
pub use repair::{Repair, repair};
pub use reserve::RESERVE;
pub use retention_clock::{ClockJump, Clocks};
pub use run_list::RunFilter;
pub use salvage::{Aside, Salvaged};
pub use session_list::{
    ListedSession, RelatedSession, SessionChoices, SessionOrder, SessionPage, SessionQuery, SessionStanding,
};
pub use session_look_back::LookBack;
pub use sessions::SessionFilter;
pub use shared_holds::{BootMoment, ClaimCopy, SharedHold};
pub use spool::{SPOOL, spool, spool_text};
pub use spool_line::{PENDING, write as spool_line};
pub use store::{Durability, Store};
pub use task_server::{
    AttemptKey, ClaimWish, HeldThere, LeaseNeed, PlanRows, QueuePlace, Renewal, ServerClaim, ServerError, ServerTurn,
    TaskServer, TaskStanding, TurnAnswer,
};
pub use tasks::{ClientSpan, Dependency, Lapsed, OpenClient, QueueLook, TaskEdit, TaskFilter, WaitingTasks};
pub use timeline::{EventsAround, Point, TimelinePosition};
pub use tx::Tx;
pub use unstored::{SpoolFailure, Unstored, note_unstored, unstored, warning};
pub use wakes::WakeCandidate;
