//! The memory, from outside: one test binary.

mod rows;
mod way;
