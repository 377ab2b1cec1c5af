//! The real Claude Code in tmux, with permissions asked: what its pane shows, and how it is woken. Needs the feature `real-client`.

mod notify;
pub mod pane;
mod says;
mod statuses;
mod wakes;
