//! The memory, from outside: one test binary.

mod agent_names;
mod cards;
mod crash;
mod damage;
mod death;
mod fleet;
mod fleet_runs;
mod full_disk;
mod notices;
mod opening;
mod pipeline;
mod retention;
mod rows;
mod session_facts;
mod session_list;
mod spool;
mod upkeep;
