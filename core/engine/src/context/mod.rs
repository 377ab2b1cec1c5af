//! What to tell the model, and how full its context is: files for a new
//! session, warnings, reminders, all of it within one budget per event.

pub mod budget;
mod files;
pub(crate) mod frontmatter;
mod observe;
pub mod runtime;
mod settings;
mod status_line;
pub mod warning;
mod window;

pub use budget::{ContextBudget, Fitted, Rank, ShownFile};
pub use files::{Ground, gathered, tell};
pub use observe::{measured, observe, sized};
pub use settings::{ContextSettings, CoreFile};
pub use status_line::StatusLine;
pub use window::{CompactionPoint, Evidence, room};

use model::fact::Probe;

/// What must still be asked of the world before the event is decided. Asked in
/// rounds until it is empty: a role's file names others, and a transcript may
/// end in lines that say nothing.
pub fn further(ground: &Ground<'_>) -> Vec<Probe> {
    let mut asks = files::wanted(ground);
    asks.extend(observe::wanted(ground.envelope, || ContextSettings::of(ground.policy), ground.facts));
    asks
}

/// As many rounds as can be of use.
pub const MOST_ROUNDS: usize = 4;

#[cfg(test)]
pub(crate) mod tests;
