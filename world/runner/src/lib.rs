//! The runner: carries out what the loop's machine decides, and supervises an
//! agent in the foreground. One thread decides; the others only report to it.

mod agent;
mod child;
mod desk;
mod dispatch;
mod error;
mod fleet;
mod hook;
mod job;
mod log;
mod look;
mod prompt;
mod recover;
mod said;
mod signals;
mod supervise;
mod templates;
mod terminal;

pub use dispatch::{Summary, run};
pub use error::RunnerError;
pub use fleet::{Branch, Fleet, workers};
pub use job::{Asked, Job, Resume};
pub use log::write_log;
pub use said::{Said, Status, Tell};
pub use supervise::{Supervised, supervise};
pub use templates::{Template, templates};
