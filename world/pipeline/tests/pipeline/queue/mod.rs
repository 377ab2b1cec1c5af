//! The queue as a machine: any schedule of claims, results, crashes and clock
//! jumps, on a real database, with what must always hold checked after each step.

mod clock;
mod groups;
mod links;
mod machine;
mod proof;
mod schedule;
