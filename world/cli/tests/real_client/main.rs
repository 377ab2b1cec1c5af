//! The product under the real Claude Code, offline. Needs the feature `real-client`, npm or a filled cache, and tmux.

mod answer_kinds;
mod answers;
mod context;
mod fleet;
mod guard;
mod loops;
mod mcp;
mod memory;
mod memory_day;
mod overnight;
mod plain_events;
mod queue;
mod recorded;
mod talk;
mod work;
