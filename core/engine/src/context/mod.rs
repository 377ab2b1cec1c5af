//! What to tell the model, and how full its context is: files for a new
//! session, warnings, reminders, all of it within one budget per event.

pub mod budget;
mod files;
pub(crate) mod observe;
pub mod runtime;
mod settings;
mod status_line;
pub mod warning;
mod window;

pub use budget::{ContextBudget, Fitted, Rank, ShownFile, beginning, size};
pub(crate) use files::{add_to, inherited, wanted};
pub(crate) use observe::observe;
pub use observe::{measured, sized};
pub use settings::{ContextSettings, CoreFile};
pub use status_line::StatusLine;
pub use window::{CompactionPoint, Evidence, room};

#[cfg(test)]
pub(crate) mod tests;
