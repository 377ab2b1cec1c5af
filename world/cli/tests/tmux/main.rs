//! F2 in real tmux servers: what is painted, when, and that all of it can be taken back.

mod display;
mod pane_input;
mod servers;
mod setup;
mod stage;
mod waking;
