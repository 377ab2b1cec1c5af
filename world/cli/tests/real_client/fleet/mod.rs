//! The real Claude Code in tmux, with permissions asked: what its pane shows, and how it is woken. Needs the feature `real-client`.

mod notify;
mod pane;
mod statuses;
mod wakes;
