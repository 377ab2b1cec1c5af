//! What to tell the model, and how full its context is: files for a new
//! session, warnings, reminders, all of it within one budget per event.

pub mod budget;
mod files;
mod frontmatter;
mod settings;
mod usage;
mod window;

pub use budget::{Budget, File, Fitted, Rank};
pub use settings::{CoreFile, Settings};
pub use usage::{Found, Tokens, Usage};
pub use window::{Evidence, Room, room};
