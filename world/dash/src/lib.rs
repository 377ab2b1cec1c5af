//! The window: a fleet as people look at it, in a terminal or a browser. Reads,
//! never decides, never writes.

mod feed;
pub mod run_view;
pub mod session_view;
pub mod tui;
pub mod view_model;
pub mod web;

pub use feed::{Feed, News};
