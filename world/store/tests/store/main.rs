//! The memory, from outside: one test binary.

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
mod spool;
mod upkeep;
