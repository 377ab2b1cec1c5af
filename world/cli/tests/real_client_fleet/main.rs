//! The real Claude Code in tmux, with permissions asked: what its pane shows, and how it is woken. Needs the feature `real-client`.

#[expect(dead_code, reason = "the stage serves the other tests too")]
#[path = "../real_client/stage.rs"]
mod stage;

mod notify;
mod pane;
mod statuses;
mod wakes;
