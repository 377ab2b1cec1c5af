//! The judge: from an event, what is stored and what is known of the world to
//! what is answered and written. Pure and total: nothing here can fail.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

mod asks;
pub mod call_results;
pub mod cards;
mod checkpoints;
pub mod client_turn;
pub mod context;
mod decide;
mod event_context;
pub mod fleet;
mod frontmatter;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod gates;
pub mod helper_sessions;
mod identity;
mod leases;
pub mod leaving;
pub mod loops;
pub mod memory;
mod needs;
pub mod orphans;
mod own_folder;
mod plan;
pub mod queue;
mod record;
pub mod redact;
mod reply;
mod rule_text;
mod run_files;
mod session;
mod session_note;
mod state;
mod status;
pub mod stops;
mod strikes;
pub mod telemetry;
mod trial;
pub mod undecided;

pub use checkpoints::CheckpointWish;
pub use decide::{Outcome, decide};
pub use event_context::{EventContext, Ids, Places};
pub use identity::{folder, project_mark, run_name, session_name, who};
pub use needs::{must_last, needs, raised};
pub use plan::{MOST_FILE_ROUNDS, MOST_ROUNDS, Plan, further, plan, plan_with};
pub use record::{key, key_without_id, unreadable};
pub use redact::redact;
pub use rule_text::{RuleText, rule_text};
pub use run_files::weigh;
pub use trial::{is_trial, would_do};
