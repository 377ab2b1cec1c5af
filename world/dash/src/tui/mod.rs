//! `taut top`: the fleet in a terminal. What is shown is a pure function of
//! what came in; the terminal, the clock and the database stand around it.

mod canvas;
mod columns;
mod cursor;
mod detail;
mod draw;
mod draw_fleet;
mod draw_lists;
mod draw_timeline;
mod entry;
mod fleet;
mod help;
mod jump;
mod keys;
mod layout;
mod look;
mod picture;
mod reader;
mod run;
mod signals;
mod state;
mod terminal;
mod text;
mod timeline;

pub use draw::draw;
pub use entry::{LineMark, TimelineLine};
pub use fleet::{Sort, View};
pub use jump::PaneJump;
pub use look::ColorMode;
pub use picture::picture;
pub use reader::{FleetSource, snapshot};
pub use run::{Setup, ViewEnd, ViewError, run, width};
pub use state::{Chunk, ClockTick, FleetSnapshot, Key, ViewEffect, ViewInput, ViewState};
