//! The window: a fleet as people look at it, in a terminal or a browser. What a person does
//! there is done by `actions`.

pub mod agent_place;
pub mod card_view;
mod feed;
pub mod metrics;
pub mod remote_row;
pub mod run_view;
pub mod session_export;
pub mod session_facts_view;
mod session_markdown;
pub mod session_view;
pub mod stats;
pub mod timeline;
pub mod timeline_page;
pub mod tui;
pub mod view_model;
pub mod web;

pub use feed::{Feed, News};
