//! The product under the real Claude Code, offline. Needs the feature `real-client`, npm or a filled cache, and tmux.

mod guard;
mod stage;
mod talk;
mod work;
