//! `taut top`: the fleet in a terminal. What is shown is a pure function of
//! what came in; the terminal, the clock and the database stand around it.

mod acts;
mod canvas;
mod card_panel;
mod columns;
mod cursor;
mod detail;
mod draw;
mod draw_fleet;
mod draw_lists;
mod draw_timeline;
mod ended;
mod entry;
mod fleet;
mod help;
mod keys;
mod layout;
mod look;
mod mouse;
mod picture;
mod reader;
pub mod replay_keys;
mod run;
mod signals;
mod state;
mod terminal;
mod text;
mod timeline;

pub use acts::TopAct;
pub use draw::draw;
pub use ended::EndedRow;
pub use entry::{LineMark, TimelineLine};
pub use fleet::{Sort, View};
pub use look::ColorMode;
pub use picture::picture;
pub use reader::{FleetSource, snapshot};
pub use run::{Setup, TopActions, ViewEnd, ViewError, run, width};
pub use state::{Chunk, ClickPlace, ClockTick, FleetSnapshot, Key, ViewEffect, ViewInput, ViewState};
